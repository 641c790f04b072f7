"use strict";
// Other prices: decisions and costs are computed anew, here, from the probabilities of test samples.

prepare.set("whatif", ({ y, start, prices, rows }) => {
  const given = Array.isArray(prices) ? prices : matrixOf(prices);
  const [from, to, slider, field] = ["true", "called", "factor", "number"].map((id) => element(`whatif-${id}`));
  const classes = data.names.map((name, index) => [index, name]);
  choose(
    element("whatif-row"),
    rows.map((row, place) => [place, row.label]),
  );
  choose(from, [["", "any class"], ...classes], start);
  choose(to, [["", "any other"], ...classes]);
  const changes = new Map(); // "true>called" → a factor on what is given; of a single pair its new price
  const state = { y, given, changes, from, to, slider, field };
  const draw = () => {
    if (!state.models) state.models = rows.map((row) => modelOf(row, given)); // takes a moment: when it is first seen
    drawWhatIf(state);
  };
  for (const select of [from, to]) select.addEventListener("input", () => (showChange(state), draw()));
  slider.addEventListener("input", () => (takeFactor(state, 2 ** Number(slider.value)), draw()));
  field.addEventListener("input", () => (takeNumber(state), draw()));
  element("whatif-reset").addEventListener("click", () => (changes.clear(), showChange(state), draw()));
  whenChanged(["whatif-row"], draw);
  showChange(state);
  whenSeen("whatif", draw);
});

function modelOf(row, given) {
  const chances = matrixOf(row.probabilities);
  return { label: row.label, chances, likeliest: chances.map(likeliestOf), before: cheapest(chances, given) };
}

const keyOf = ({ from, to }) => `${from.value}>${to.value}`;
const isPair = ({ from, to }) => from.value !== "" && to.value !== "";

function takeFactor(state, factor) {
  const { given, from, to, changes } = state;
  changes.set(keyOf(state), isPair(state) ? factor * given[from.value][to.value] : factor);
  showChange(state, true);
}

function takeNumber(state) {
  const number = state.field.valueAsNumber;
  if (!(number >= 0)) return; // an empty field, or a price that nobody is asked
  state.changes.set(keyOf(state), number);
  showChange(state, false, true);
}

// Shows the change of the chosen classes in both fields, but not in the one that is being used.
function showChange(state, sliding = false, typing = false) {
  const { given, from, to, slider, field, changes } = state;
  const pair = isPair(state);
  const right = pair && from.value === to.value;
  const base = pair ? given[from.value][to.value] : 1;
  const value = changes.has(keyOf(state)) ? changes.get(keyOf(state)) : base;
  const factor = base > 0 ? value / base : 1;
  slider.disabled = right || !(base > 0);
  field.disabled = right; // being right is free
  if (!sliding) slider.value = Math.max(-4, Math.min(4, Math.log2(factor || 2 ** -4)));
  const words = right ? "right" : `× ${brief(factor)}`;
  element("whatif-factor-value").textContent = words;
  slider.setAttribute("aria-valuetext", words);
  element("whatif-number-label").textContent = pair ? "price" : "times";
  if (!typing) field.value = Number(value.toPrecision(4));
}

function pricesNow({ given, changes }) {
  const found = given.map((row) => [...row]);
  for (const [key, value] of changes) {
    const [i, j] = key.split(">");
    if (i !== "" && j !== "") continue;
    found.forEach((row, a) =>
      row.forEach((_, b) => {
        if ((i === "" || Number(i) === a) && (j === "" || Number(j) === b)) row[b] *= value;
      }),
    );
  }
  for (const [key, value] of changes) {
    const [i, j] = key.split(">");
    if (i !== "" && j !== "") found[i][j] = value; // a price that was named is that, whatever else changes
  }
  return found;
}

function likeliestOf(chances) {
  return chances.reduce((best, value, k) => (value > chances[best] ? k : best), 0);
}

// The class of least expected cost, of each sample.
function cheapest(chances, prices) {
  return chances.map((row) => {
    const expected = new Float64Array(row.length);
    row.forEach((chance, i) => {
      if (chance > 0) for (let j = 0; j < row.length; j += 1) expected[j] += chance * prices[i][j];
    });
    return expected.reduce((best, value, k) => (value < expected[best] - 1e-12 ? k : best), 0);
  });
}

function meanCost(called, y, prices) {
  return called.reduce((sum, k, n) => sum + prices[y[n]][k], 0) / y.length;
}

function brief(value) {
  if (value === 0) return "0";
  const digits = Math.max(0, Math.min(4, 2 - Math.floor(Math.log10(Math.abs(value)))));
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function drawWhatIf(state) {
  const { y, given, models, changes } = state;
  const prices = pricesNow(state);
  const found = models.map((model) => {
    const now = changes.size ? cheapest(model.chances, prices) : model.before;
    return {
      label: model.label,
      now,
      changed: now.filter((k, n) => k !== model.before[n]).length,
      argmax: meanCost(model.likeliest, y, prices),
      kept: meanCost(model.before, y, prices),
      cost: meanCost(now, y, prices),
      start: meanCost(model.before, y, given),
    };
  });
  const body = element("whatif-costs").tBodies[0];
  body.replaceChildren(...found.map((model) => costLine(model, y.length)));
  const place = Number(element("whatif-row").value) || 0;
  const model = found[place];
  element("whatif-summary").textContent =
    `${model.label}: ${brief(model.cost)} per sample, ${brief(10000 * model.cost)} per 10,000 samples` +
    (changes.size ? `, instead of ${brief(10000 * model.kept)} if decisions stayed as they are.` : ", as priced.");
  element("whatif-changes").textContent = changes.size ? `Changed: ${said(state)}.` : "Nothing is changed yet.";
  show(element("figure-whatif"), callsFigure(y, models[place].before, model.now, palette()));
}

function costLine(model, count) {
  const line = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = model.label;
  const share = `${model.changed} (${brief((100 * model.changed) / count)} %)`;
  const texts = [model.start, model.argmax, model.kept, model.cost].map(brief);
  const cells = [...texts, share].map((text) => {
    const cell = document.createElement("td");
    cell.textContent = text;
    return cell;
  });
  line.append(head, ...cells);
  return line;
}

function said({ changes }) {
  const name = (index, other) => (index === "" ? other : data.names[index]);
  return Array.from(changes, ([key, value]) => {
    const [i, j] = key.split(">");
    const sign = i !== "" && j !== "" ? "costs" : "×";
    return `${name(i, "any class")} called ${name(j, "any other")} ${sign} ${brief(value)}`;
  }).join("; ");
}

// How often each class comes, was called and is called now; of many classes those that are called most.
function callsFigure(y, before, now, palette) {
  const shares = [y, before, now].map((list) => {
    const counts = data.names.map(() => 0);
    for (const k of list) counts[k] += 1;
    return counts.map((count) => count / list.length);
  });
  const most = (k) => Math.max(...shares.map((share) => share[k]));
  const order = classOrder();
  const shown = order.length <= 30 ? order : [...order].sort((a, b) => most(b) - most(a)).slice(0, 30);
  const names = shown.map((k) => plain(data.names[k]));
  const looks = [
    ["true", palette.faint],
    ["called, prices as given", palette.soft],
    ["called now", palette.accent],
  ];
  const traces = looks.map(([name, color], place) => ({
    type: "bar",
    name,
    x: shown.map((_, at) => at),
    y: shown.map((k) => shares[place][k]),
    marker: { color },
    customdata: names,
    hovertemplate: `<b>%{customdata}</b><br>${name}: %{y:.1%}<extra></extra>`,
  }));
  const ticks = shown.map((k) => plain(shortened(data.names[k], 14)));
  const layout = baseLayout(palette, {
    height: 300,
    bargap: 0.25,
    dragmode: false,
    showlegend: true,
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, font: { color: palette.ink, size: 12 } },
    margin: { l: 48, r: 12, t: 34, b: 30 },
    xaxis: axis(palette, "", { tickvals: shown.map((_, at) => at), ticktext: ticks, showgrid: false, zeroline: false, fixedrange: true }),
    yaxis: axis(palette, "share of samples", { tickformat: ".1~%", rangemode: "tozero", fixedrange: true }),
  });
  return { traces, layout };
}

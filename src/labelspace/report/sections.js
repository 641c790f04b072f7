"use strict";
// The folded sections: each has its choices, and a function that draws what is chosen.

const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const drawers = new Map(); // section → function that draws its figures
const NO_BRANCHES = { x: [], y: [] }; // leaves the place of a tree empty
const unpacked = new Map(); // packed matrix → its numbers

function matrixOf(packed) {
  if (!unpacked.has(packed)) unpacked.set(packed, unpack(packed));
  return unpacked.get(packed);
}

function palette() {
  const style = getComputedStyle(document.documentElement);
  const colours = {};
  for (const name of ["ground", "card", "ink", "soft", "faint", "line", "accent", "good", "bad"]) {
    colours[name] = style.getPropertyValue(`--${name}`).trim();
  }
  return { ...colours, touch: matchMedia("(pointer: coarse)").matches };
}

function show(target, figure) {
  const options = {
    responsive: true,
    displaylogo: false,
    displayModeBar: matchMedia("(hover: hover)").matches ? "hover" : false,
    modeBarButtons: [["toImage"]],
    toImageButtonOptions: { format: "svg" },
  };
  Plotly.react(target, figure.traces, figure.layout, options);
}

function choose(select, entries, chosen) {
  for (const [value, text] of entries) select.add(new Option(text, value, false, String(value) === String(chosen)));
  select.closest("label").hidden = entries.length < 2;
}

function whenChanged(ids, draw) {
  for (const id of ids) if (element(id)) element(id).addEventListener("input", draw);
}

function winnerAmong(rows, reference) {
  const others = rows.filter((row) => row.label !== reference);
  return (others.find((row) => row.winner) || others[0] || rows[0] || {}).label;
}

// ---- sections ---------------------------------------------------------------------------------------------------

function prepareChange() {
  const target = element("figure-change");
  drawers.set("first", () => show(target, changeFigure(data.change, palette(), target.clientWidth)));
}

function prepareCurves() {
  const { rows, measures } = data.curves;
  const select = element("curves-measure");
  choose(
    select,
    measures.map((measure) => [measure.key, measure.title]),
  );
  const targets = rows.map(() => newFigure("figures-curves"));
  const reference = rows.find((row) => row.role === "reference");
  const draw = () => {
    const key = select.value;
    // losses of methods differ in kind: only what is measured alike shares a scale
    const range = key.startsWith("validation") ? rangeOf(rows.flatMap((row) => row.seeds[key].flat())) : undefined;
    const other = key.startsWith("validation") ? reference : undefined;
    rows.forEach((row, place) => show(targets[place], curveFigure(row, other, key, range, palette())));
  };
  whenChanged(["curves-measure"], draw);
  drawers.set("curves", draw);
}

function newFigure(grid) {
  const target = document.createElement("div");
  target.className = "figure";
  element(grid).append(target);
  return target;
}

function rangeOf(values) {
  const present = values.filter((value) => value !== null);
  const low = present.reduce((a, b) => Math.min(a, b), Infinity);
  const high = present.reduce((a, b) => Math.max(a, b), -Infinity);
  return low < high ? [low - 0.04 * (high - low), high + 0.04 * (high - low)] : undefined;
}

function prepareStrengths() {
  const { rows, reference } = data.strengths;
  const methods = rows.filter((row) => row.role !== "control");
  const targets = methods.map(() => newFigure("figures-strengths"));
  const range = rangeOf([...rows.flatMap((row) => row.costs), reference.cost]);
  return () =>
    methods.forEach((row, place) => {
      const controls = rows.filter((other) => other.role === "control" && other.of === row.label);
      show(targets[place], strengthFigure(row, controls, reference, range, palette()));
    });
}

function prepareConfusion() {
  const drawStrengths = data.strengths ? prepareStrengths() : () => {};
  if (!data.confusions) return void drawers.set("confusion", drawStrengths);
  const { layout, test, validation, reference } = data.confusions;
  const rows = Object.keys(test).filter((label) => label !== reference);
  const winner = (data.change ? data.change.rows : []).find((row) => row.winner);
  const row = element("confusion-row");
  choose(
    row,
    (rows.length ? rows : [reference]).map((label) => [label, label]),
    winner && winner.label,
  );
  const part = element("confusion-part");
  choose(part, [
    ["test", "test, mean of seeds"],
    ...(validation ? [["validation", "validation, every strength"]] : []),
  ]);
  const slider = element("confusion-strength");
  const foldable = prepareFold("confusion-fold", layout, test[reference]);
  const draw = () => {
    drawStrengths();
    // a row may be called like something that every object has
    const tried = part.value === "validation" && validation && Object.hasOwn(validation.rows, row.value);
    const trials = tried ? validation.rows[row.value] : undefined;
    element("confusion-strength-label").hidden = !trials;
    if (trials) slider.max = trials.length - 1;
    const trial = trials && trials[Math.min(slider.value, trials.length - 1)];
    element("confusion-strength-value").textContent = trial ? trial.value : "";
    drawConfusions(trials ? validation.reference : test[reference], trial ? trial.matrix : test[row.value], {
      folded: foldable(),
      layout,
      reference,
      label: trial ? `${row.value}, strength ${trial.value}` : row.value,
    });
  };
  whenChanged(
    ["confusion-row", "confusion-part", "confusion-strength", "confusion-difference", "confusion-fold"],
    draw,
  );
  drawers.set("confusion", draw);
}

function drawConfusions(base, matrix, { folded, layout, reference, label }) {
  const ends = sides(data.names, layout, folded);
  const [left, right] = [base, matrix].map((part) => matrixOf(folded ? part.folded : part.full));
  const common = { ends, joint: "called", unit: "share" };
  const top = Math.max(largest(left), largest(right), 1e-6);
  const place = element("figure-confusion-reference");
  show(
    place,
    heatFigure({ ...common, z: left, title: plain(reference), scale: [0, top] }, palette(), place.clientWidth),
  );
  const target = element("figure-confusion-row");
  target.hidden = base === matrix;
  if (base === matrix) return;
  const different = element("confusion-difference").checked;
  const z = different ? differenceOf(right, left) : right;
  const edge = different
    ? Math.max(largest(z), largest(z.map((line) => line.map((value) => value && -value))), 1e-6)
    : top;
  const title = plain(label) + (different ? " − " + plain(reference) : "");
  const scale = [different ? -edge : 0, edge];
  show(target, heatFigure({ ...common, z, title, scale, diverging: different }, palette(), target.clientWidth));
}

function largest(matrix) {
  return matrix.reduce((most, line) => line.reduce((a, b) => (b === null ? a : Math.max(a, b)), most), 0);
}

// Shows the box that folds classes into groups where both pictures exist; returns whether groups are wanted.
function prepareFold(id, layout, matrix) {
  const box = element(id);
  box.closest("label").hidden = !(layout.groups.length && matrix.full && matrix.folded);
  return () => Boolean(matrix.folded) && (box.checked || !matrix.full);
}

function prepareSpaces() {
  const select = element("spaces-choice");
  choose(
    select,
    data.spaces.map((space, place) => [place, space.title]),
  );
  const folds = data.spaces.map((space) => prepareFold("spaces-fold", space.layout, space.matrix));
  const target = element("figure-space");
  const draw = () => {
    const space = data.spaces[select.value];
    const folded = folds[select.value]();
    const z = matrixOf(folded ? space.matrix.folded : space.matrix.full);
    const scale = scaleOf(z, folded);
    const joint = space.kind === "cost" ? "called" : space.kind === "relations" ? "→" : "·";
    const branches = folded ? space.layout.groupBranches : space.layout.branches;
    const ends = sides(data.names, space.layout, folded);
    show(target, heatFigure({ z, ends, unit: space.unit, joint, branches, scale }, palette(), target.clientWidth));
    const summed = space.kind === "relations" ? "summed over the columns of a group" : "averaged over pairs";
    element("spaces-meaning").textContent =
      `Colour is ${space.meaning}${folded ? ", " + summed : ""}.` +
      (space.builder ? ` Made by ${space.builder}.` : "") +
      " Of learned spaces this is the first seed’s.";
  };
  whenChanged(["spaces-choice", "spaces-fold"], draw);
  drawers.set("spaces", draw);
}

function prepareTargets() {
  const { rows, start } = data.targets;
  choose(
    element("targets-space"),
    rows.map((space, place) => [place, space.title]),
  );
  choose(
    element("targets-class"),
    data.names.map((name, index) => [index, name]),
  );
  const slider = element("targets-strength");
  slider.value = start;
  const order = data.spaces.length ? data.spaces[0].layout.order : data.names.map((_, index) => index);
  const draw = () => {
    const strength = Number(slider.value);
    element("targets-value").textContent = strength.toFixed(2);
    const space = rows[element("targets-space").value];
    const index = Number(element("targets-class").value);
    show(element("figure-target"), targetFigure(space, index, strength, data.names, order, palette()));
  };
  whenChanged(["targets-space", "targets-class", "targets-strength"], draw);
  drawers.set("targets", draw);
}

function prepareDistances() {
  const select = element("distances-row");
  choose(
    select,
    data.distances.map((row, place) => [place, row.label]),
    Math.min(1, data.distances.length - 1),
  );
  const folds = data.distances.map((row) => prepareFold("distances-fold", row.layout, row.features));
  const draw = () => {
    const row = data.distances[select.value];
    const folded = folds[select.value]();
    const ends = sides(data.names, row.layout, folded);
    const branches = folded ? row.layout.groupBranches : row.layout.branches;
    for (const [id, title, matrix] of [
      ["figure-distances-features", "features (NAA)", row.features],
      ["figure-distances-target", "targets of the loss, in the same order", row.target],
    ]) {
      const target = element(id);
      target.hidden = !matrix;
      if (!matrix) continue;
      const z = matrixOf(folded ? matrix.folded : matrix.full);
      const options = {
        z,
        ends,
        title,
        unit: "distance",
        joint: "to",
        scale: scaleOf(z, folded),
        branches: matrix === row.features ? branches : NO_BRANCHES,
      };
      show(target, heatFigure(options, palette(), target.clientWidth));
    }
    const agreement =
      row.agreement === null
        ? ""
        : ` Mean rank correlation of the two over classes: τ = ${row.agreement.toFixed(2).replace("-", "−")}.`;
    element("distances-note").textContent =
      "Dark is far. Both are in the order of the features’ tree; the first seed’s model." + agreement;
  };
  whenChanged(["distances-row", "distances-fold"], draw);
  drawers.set("distances", draw);
}

function prepareProjections() {
  const { rows, y } = data.projections;
  const reference = rows.find((row) => row.role === "reference");
  const others = rows.filter((row) => row !== reference);
  const select = element("projections-row");
  choose(
    select,
    others.map((row) => [row.label, row.label]),
    winnerAmong(rows, reference && reference.label),
  );
  const order = data.spaces.length ? data.spaces[0].layout.order : data.names.map((_, index) => index);
  const ranks = [];
  order.forEach((index, rank) => (ranks[index] = rank));
  const draw = () => {
    for (const [id, row] of [
      ["figure-projection-reference", reference],
      ["figure-projection-row", others.find((other) => other.label === select.value)],
    ]) {
      const target = element(id);
      target.hidden = !row;
      if (row) show(target, projectionFigure(row, y, data.names, ranks, palette(), target.clientWidth));
    }
  };
  whenChanged(["projections-row"], draw);
  drawers.set("projections", draw);
}

function prepareHonesty() {
  const select = element("honesty-row");
  const chosen = winnerAmong(data.honesty.rows, data.honesty.reference);
  choose(
    select,
    data.honesty.rows.map((row) => [row.label, row.label]),
    chosen,
  );
  const draw = () => {
    for (const [id, build] of [
      ["figure-reliability", reliabilityFigure],
      ["figure-risk", riskFigure],
    ]) {
      show(element(id), build(data.honesty, select.value, palette(), element(id).clientWidth));
    }
  };
  whenChanged(["honesty-row"], draw);
  drawers.set("honesty", draw);
}

"use strict";
// Test samples on a plane.

const CLASS_COLOURS = [
  "#4269d0",
  "#e8890c",
  "#d1495b",
  "#5ab4c4",
  "#3f9f5f",
  "#d96fb8",
  "#9c6b4e",
  "#8a63d2",
  "#7a8290",
  "#b5a220",
];

// from the lowest class to the highest
const RAMP = ["#3d44b8", "#2f86c1", "#2aa198", "#8fb339", "#e0a020"];

prepare.set("projections", ({ rows, y, ranks }) => {
  const reference = rows.find((row) => row.role === "reference");
  const others = rows.filter((row) => row !== reference);
  const select = element("projections-row");
  choose(
    select,
    others.map((row) => [row.label, row.label]),
    winnerAmong(rows, reference && reference.label),
  );
  const colours = classColours(ranks);
  const alone = new Set(); // classes to see without the others
  const draw = () => {
    for (const [id, row] of [
      ["figure-projection-reference", reference],
      ["figure-projection-row", others.find((other) => other.label === select.value)],
    ]) {
      const target = element(id);
      target.hidden = !row;
      if (row) show(target, projectionFigure(row, y, colours, alone, palette(), target.clientWidth));
    }
  };
  const order = ranks ? data.names.map((_, k) => k).sort((a, b) => ranks[a] - ranks[b]) : classOrder();
  element("projections-legend").append(...order.map((k) => chip(k, colours[k], alone, draw)));
  whenChanged(["projections-row"], draw);
  whenSeen("projections", draw);
});

// An order goes along a ramp; else few classes have colours of their own, and of many neighbours have like ones.
function classColours(ranks) {
  const count = data.names.length;
  if (ranks) return ranks.map((rank) => along(RAMP, rank / Math.max(1, count - 1)));
  if (count <= 12) return data.names.map((_, k) => CLASS_COLOURS[k % CLASS_COLOURS.length]);
  const found = [];
  classOrder().forEach((k, place) => (found[k] = `hsl(${Math.round((330 * place) / count)}, 62%, 52%)`));
  return found;
}

function along(ramp, share) {
  const place = Math.min(share * (ramp.length - 1), ramp.length - 1.000001);
  const [a, b] = [ramp[Math.floor(place)], ramp[Math.floor(place) + 1]];
  const part = (text, at) => parseInt(text.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => Math.round(part(a, at) + (place % 1) * (part(b, at) - part(a, at))));
  return `rgb(${mixed.join(",")})`;
}

function chip(k, colour, alone, draw) {
  const button = document.createElement("button");
  const dot = document.createElement("i");
  dot.style.background = colour;
  button.type = "button";
  button.setAttribute("aria-pressed", "false");
  button.append(dot, shortened(data.names[k], 24));
  button.addEventListener("click", () => {
    if (!alone.delete(k)) alone.add(k);
    button.setAttribute("aria-pressed", String(alone.has(k)));
    draw();
  });
  return button;
}

function projectionFigure(row, y, colours, alone, palette, width) {
  const points = unpack(row.points);
  const trace = {
    type: "scatter",
    mode: "markers",
    hovertemplate: "%{text}<extra></extra>",
    x: points.map((point) => point[0]),
    y: points.map((point) => point[1]),
    text: y.map((k) => plain(data.names[k])),
    marker: {
      size: 5,
      color: y.map((k) => colours[k]),
      opacity: y.map((k) => (!alone.size || alone.has(k) ? 0.8 : 0.08)),
    },
  };
  const layout = baseLayout(palette, {
    height: Math.min(width, 480),
    title: caption(plain(row.label), palette),
    margin: { l: 8, r: 8, t: 30, b: 8 },
    xaxis: { visible: false, fixedrange: palette.touch },
    yaxis: { visible: false, fixedrange: palette.touch },
  });
  return { traces: [trace], layout };
}

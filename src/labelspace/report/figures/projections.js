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

prepare.set("projections", ({ rows, y }) => {
  const reference = rows.find((row) => row.role === "reference");
  const others = rows.filter((row) => row !== reference);
  const select = element("projections-row");
  choose(
    select,
    others.map((row) => [row.label, row.label]),
    winnerAmong(rows, reference && reference.label),
  );
  const order = classOrder();
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
  whenSeen("projections", draw);
});

function projectionFigure(row, y, names, ranks, palette, width) {
  const points = unpack(row.points);
  const few = names.length <= 12;
  const base = { type: "scatter", mode: "markers", hovertemplate: "%{text}<extra></extra>" };
  const trace = (indices, marker, name) => ({
    ...base,
    name,
    x: indices.map((i) => points[i][0]),
    y: indices.map((i) => points[i][1]),
    text: indices.map((i) => plain(names[y[i]])),
    marker: { size: 4.5, opacity: 0.75, ...marker },
  });
  const everyone = y.map((_, index) => index);
  const traces = few
    ? names.map((name, k) =>
        trace(
          everyone.filter((i) => y[i] === k),
          { color: CLASS_COLOURS[k % CLASS_COLOURS.length] },
          plain(shortened(name, 16)),
        ),
      )
    : [trace(everyone, { color: everyone.map((i) => wheel(ranks[y[i]] / names.length)) }, "")];
  const layout = baseLayout(palette, {
    height: Math.min(width, 480) + (few ? 60 : 0),
    title: caption(plain(row.label), palette),
    margin: { l: 8, r: 8, t: 30, b: 8 },
    showlegend: few,
    legend: { orientation: "h", y: -0.02, itemsizing: "constant", font: { color: palette.ink, size: 11 } },
    xaxis: { visible: false, fixedrange: palette.touch },
    yaxis: { visible: false, fixedrange: palette.touch },
  });
  return { traces, layout };
}

// A colour of the wheel: classes that are neighbours in the tree get neighbouring colours.
function wheel(turn) {
  return `hsl(${Math.round(330 * turn)}, 62%, 52%)`;
}

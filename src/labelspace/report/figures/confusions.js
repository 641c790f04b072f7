"use strict";
// Who is mistaken for whom: the reference beside another row.

prepare.set("confusions", ({ layout, test, validation, reference }) => {
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
  whenSeen("confusion", draw);
});

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

function differenceOf(matrix, other) {
  return matrix.map((row, i) =>
    row.map((value, j) => (value === null || other[i][j] === null ? null : value - other[i][j])),
  );
}

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
  const [left, right] = [base, matrix].map((part) => sharesOf(matrixOf(folded ? part.folded : part.full)));
  const common = { ends, joint: "called", unit: "share" };
  const scale = scaleOf([...left.shares, ...right.shares], true, true);
  scale[0] = 0;
  const place = element("figure-confusion-reference");
  show(
    place,
    heatFigure({ ...common, ...drawnOf(left), title: plain(reference), scale }, palette(), place.clientWidth),
  );
  const target = element("figure-confusion-row");
  target.hidden = base === matrix;
  if (base === matrix) return;
  const different = element("confusion-difference").checked;
  const drawn = different ? differenceOf(right, left) : drawnOf(right);
  const title = plain(label) + (different ? " − " + plain(reference) : "");
  const colours = different ? { diverging: true, scale: evenScale(drawn.z) } : { scale };
  show(target, heatFigure({ ...common, ...drawn, title, ...colours }, palette(), target.clientWidth));
}

// What share of each true class is called what; a class without samples has none. Being right is no mistake.
function sharesOf(counts) {
  const totals = counts.map((row) => row.reduce((sum, value) => sum + value, 0));
  const all = counts.map((row, i) => row.map((value) => (totals[i] > 0.01 ? value / totals[i] : null)));
  return { counts, all, shares: all.map((row, i) => row.map((value, j) => (i === j ? null : value))) };
}

const counted = (value) => Number(value.toFixed(1)).toLocaleString("en");
const percentOf = (value, sign) => `${sign && value > 0 ? "+" : ""}${(100 * value).toFixed(1)} %`.replace("-", "−");

function drawnOf({ counts, all, shares }) {
  return {
    z: shares,
    diagonal: all.map((row, i) => row[i]),
    texts: counts.map((row, i) => row.map((value, j) => (all[i][j] === null ? "" : counted(value)))),
    notes: counts.map((row, i) =>
      row.map((value, j) => (all[i][j] === null ? "" : `${counted(value)} samples, ${percentOf(all[i][j])} of the class`)),
    ),
  };
}

function differenceOf(right, left) {
  const z = right.all.map((row, i) =>
    row.map((value, j) => (value === null || left.all[i][j] === null ? null : value - left.all[i][j])),
  );
  const signed = (value) => (value > 0.05 ? "+" : "") + counted(value).replace("-", "−");
  const moved = right.counts.map((row, i) => row.map((value, j) => value - left.counts[i][j]));
  return {
    z: z.map((row, i) => row.map((value, j) => (i === j ? null : value))),
    diagonal: z.map((row, i) => row[i]),
    texts: moved.map((row, i) => row.map((value, j) => (z[i][j] === null ? "" : signed(value)))),
    notes: moved.map((row, i) =>
      row.map((value, j) => (z[i][j] === null ? "" : `${signed(value)} samples, ${percentOf(z[i][j], true)} of the class`)),
    ),
  };
}

function evenScale(z) {
  const [low, high] = scaleOf(
    z.map((row) => row.map((value) => value && Math.abs(value))),
    true,
    true,
  );
  return [-Math.max(low, high), Math.max(low, high)];
}

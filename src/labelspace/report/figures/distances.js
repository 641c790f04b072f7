"use strict";
// Class distances of features beside those of targets.

const NO_BRANCHES = { x: [], y: [] }; // leaves the place of a tree empty

prepare.set("distances", (distances) => {
  const select = element("distances-row");
  choose(
    select,
    distances.map((row, place) => [place, row.label]),
    Math.min(1, distances.length - 1),
  );
  const folds = distances.map((row) => prepareFold("distances-fold", row.layout, row.features));
  const draw = () => {
    const row = distances[select.value];
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
        scale: scaleOf(z, folded, true),
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
  whenSeen("distances", draw);
});

"use strict";
// Label spaces as heat maps with their trees.

prepare.set("spaces", (spaces) => {
  const select = element("spaces-choice");
  choose(
    select,
    spaces.map((space, place) => [place, space.title]),
  );
  const folds = spaces.map((space) => prepareFold("spaces-fold", space.layout, space.matrix));
  const target = element("figure-space");
  const draw = () => {
    const space = spaces[select.value];
    const folded = folds[select.value]();
    const z = matrixOf(folded ? space.matrix.folded : space.matrix.full);
    const scale = scaleOf(z, folded, true);
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
  whenSeen("spaces", draw);
});

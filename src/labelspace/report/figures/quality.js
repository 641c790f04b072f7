"use strict";
// Of sequences the measure of every row, with its interval; drawn as changes are.

prepare.set("quality", (quality) => {
  const target = element("figure-quality");
  whenSeen("first", () => show(target, changeFigure(quality, palette(), target.clientWidth)));
});

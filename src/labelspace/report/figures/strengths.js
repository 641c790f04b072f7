"use strict";
// Validation cost over the strengths tried, one figure per method.

prepare.set("strengths", ({ rows, reference }) => {
  const methods = rows.filter((row) => row.role !== "control");
  const targets = methods.map(() => newFigure("figures-strengths"));
  const range = rangeOf([...rows.flatMap((row) => row.costs), reference.cost]);
  whenSeen("confusion", () =>
    methods.forEach((row, place) => {
      const controls = rows.filter((other) => other.role === "control" && other.of === row.label);
      show(targets[place], strengthFigure(row, controls, reference, range, palette()));
    }),
  );
});

// One method, and its controls dotted. Strengths of methods differ in kind, so that each has its own axis.
function strengthFigure(row, controls, reference, range, palette) {
  const top = range ? range[1] : Infinity; // what goes on beyond it is drawn there, as a triangle
  const traces = [...controls, row].map((drawn) => {
    const colour = drawn === row ? palette.accent : palette.faint;
    const symbol = drawn.costs.map((cost) => (cost > top ? "triangle-up" : "circle"));
    return {
      type: "scatter",
      mode: "lines+markers",
      x: drawn.values,
      y: drawn.costs.map((cost) => (cost === null || cost <= top ? cost : top)),
      line: { color: colour, width: drawn === row ? 2.4 : 1.4, dash: drawn === row ? "solid" : "dot" },
      marker: { color: colour, size: drawn.values.map((value) => (value === drawn.chosen ? 11 : 5)), symbol },
      cliponaxis: false,
      customdata: drawn.costs.map((cost) => [plain(drawn.label), plain(drawn.symbol || drawn.name), cost]),
      hovertemplate: "<b>%{customdata[0]}</b><br>%{customdata[1]} %{x}: %{customdata[2]:.4g}<extra></extra>",
    };
  });
  const line = { color: palette.soft, width: 1.2, dash: "dash" };
  const level = { type: "line", xref: "paper", x0: 0, x1: 1, y0: reference.cost, y1: reference.cost, line };
  const layout = baseLayout(palette, {
    height: 210,
    annotations: beyondNote([row, ...controls].flatMap((drawn) => drawn.costs), range, palette),
    shapes: reference.cost === null ? [] : [level],
    title: caption(plain(shortened(row.label, 25)), palette),
    margin: { l: 40, r: 8, t: 28, b: 34 },
    xaxis: axis(palette, plain(row.symbol ? `${row.name} ${row.symbol}` : row.name), { nticks: 5 }),
    yaxis: axis(palette, "", { range, nticks: 5 }),
  });
  return { traces, layout };
}

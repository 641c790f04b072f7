"use strict";
// Learning curves, one figure per row.

prepare.set("curves", ({ rows, measures }) => {
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
  whenSeen("curves", draw);
});

function curveFigure(row, reference, measure, range, palette) {
  const line = (y, colour, width, opacity, extra) => ({
    type: "scatter",
    mode: "lines",
    y,
    opacity,
    line: { color: colour, width, ...extra },
    x: row.epochs,
  });
  const seeds = row.seeds[measure].map((values) => ({ ...line(values, palette.accent, 1, 0.3), hoverinfo: "skip" }));
  const mean = {
    ...line(row.mean[measure], palette.accent, 2.4, 1),
    hovertemplate: "epoch %{x}: %{y:.4g}<extra></extra>",
  };
  const other =
    reference && reference.label !== row.label
      ? [
          {
            ...line(reference.mean[measure], palette.faint, 1.6, 1, { dash: "dash" }),
            x: reference.epochs,
            hoverinfo: "skip",
          },
        ]
      : [];
  const layout = baseLayout(palette, {
    height: 210,
    annotations: beyondNote(row.seeds[measure].flat(), range, palette),
    title: caption(plain(shortened(row.label, 25)), palette),
    margin: { l: 40, r: 8, t: 28, b: 34 },
    xaxis: axis(palette, "epoch", { nticks: 5 }),
    yaxis: axis(palette, "", { range, nticks: 5 }),
  });
  return { traces: [...seeds, ...other, mean], layout };
}

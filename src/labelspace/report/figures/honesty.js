"use strict";
// Reliability and risk–coverage.

prepare.set("honesty", (honesty) => {
  const select = element("honesty-row");
  const chosen = winnerAmong(honesty.rows, honesty.reference);
  choose(
    select,
    honesty.rows.map((row) => [row.label, row.label]),
    chosen,
  );
  const draw = () => {
    for (const [id, build] of [
      ["figure-reliability", reliabilityFigure],
      ["figure-risk", riskFigure],
    ]) {
      show(element(id), build(honesty, select.value, palette(), element(id).clientWidth));
    }
  };
  whenChanged(["honesty-row"], draw);
  whenSeen("honesty", draw);
});

function lineOf(row, chosen, reference, palette) {
  if (row.label === chosen) return { colour: palette.accent, width: 2.8, opacity: 1, dash: "solid" };
  if (row.label === reference) return { colour: palette.ink, width: 2, opacity: 1, dash: "solid" };
  return { colour: palette.faint, width: 1.2, opacity: 0.7, dash: row.role === "control" ? "dot" : "solid" };
}

function reliabilityFigure(honesty, chosen, palette, width) {
  const traces = drawnLast(honesty.rows, chosen, honesty.reference).map((row) => {
    const look = lineOf(row, chosen, honesty.reference, palette);
    const shown = look.opacity === 1;
    return {
      type: "scatter",
      mode: shown ? "lines+markers" : "lines",
      x: row.reliability.confidence,
      y: row.reliability.accuracy,
      opacity: look.opacity,
      line: { color: look.colour, width: look.width, dash: look.dash },
      marker: {
        color: look.colour,
        size: row.reliability.share.map((share) => 4 + 16 * Math.sqrt(share)),
        opacity: 0.85,
      },
      text: row.reliability.confidence.map(() => plain(row.label)),
      hovertemplate: "%{text}<br>confidence %{x:.2f}, accuracy %{y:.2f}<extra></extra>",
    };
  });
  const layout = baseLayout(palette, {
    height: Math.max(Math.min(width, 420), 280),
    title: caption("reliability", palette),
    shapes: [{ type: "line", x0: 0, y0: 0, x1: 1, y1: 1, line: { color: palette.soft, width: 1, dash: "dot" } }],
    xaxis: axis(palette, "confidence", { range: [0, 1.02] }),
    yaxis: axis(palette, "accuracy", { range: [0, 1.04] }),
  });
  return { traces, layout };
}

function riskFigure(honesty, chosen, palette, width) {
  const traces = drawnLast(honesty.rows, chosen, honesty.reference).map((row) => {
    const look = lineOf(row, chosen, honesty.reference, palette);
    return {
      type: "scatter",
      mode: "lines",
      x: row.risk.coverage,
      y: row.risk.risk,
      opacity: look.opacity,
      line: { color: look.colour, width: look.width, dash: look.dash },
      text: row.risk.coverage.map(() => plain(row.label)),
      hovertemplate: "%{text}<br>%{x:.0%} decided: %{y:.4g}<extra></extra>",
    };
  });
  const layout = baseLayout(palette, {
    height: Math.max(Math.min(width, 420), 280),
    title: caption("risk–coverage", palette),
    xaxis: axis(palette, "share of samples decided", { tickformat: ".0%", range: [0, 1.02] }),
    yaxis: axis(palette, honesty.priced ? "cost per decided sample" : "error", { rangemode: "tozero" }),
  });
  return { traces, layout };
}

function drawnLast(rows, chosen, reference) {
  const rank = (row) => (row.label === chosen ? 2 : row.label === reference ? 1 : 0);
  return [...rows].sort((a, b) => rank(a) - rank(b));
}

"use strict";
// Figures of rows and seeds: change, learning, strength, reliability, risk. Functions of data and a palette.

// ---- change against the reference ------------------------------------------------------------------------------------

function changeFigure(change, palette, width) {
  const narrow = width < 520;
  const methods = change.rows.filter((row) => row.role !== "control");
  const controls = change.rows.filter((row) => row.role === "control");
  let place = 0;
  const placed = methods.map((row) => ({ ...row, y: place++ }));
  if (controls.length) place += 0.6;
  controls.forEach((row) => placed.push({ ...row, y: place++ }));
  const colour = (row) => (row.winner ? palette.accent : row.role === "control" ? palette.faint : palette.ink);
  const percent = (share) => (share === null ? null : 100 * share);
  const traces = placed.map((row) => ({
    type: "scatter",
    mode: "markers",
    x: [percent(row.estimate)],
    y: [row.y],
    error_x: {
      type: "data",
      symmetric: false,
      thickness: row.winner ? 2.6 : 1.8,
      width: 0,
      color: colour(row),
      array: [row.high === null ? 0 : percent(row.high - row.estimate)],
      arrayminus: [row.low === null ? 0 : percent(row.estimate - row.low)],
    },
    marker: {
      size: row.winner ? 13 : 10,
      color: row.marked ? colour(row) : palette.card,
      line: { color: colour(row), width: 2 },
    },
    customdata: [[plain(row.label), plain(row.strength), row.text, row.interval]],
    hovertemplate: "<b>%{customdata[0]}</b> %{customdata[1]}<br>%{customdata[2]} %{customdata[3]}<extra></extra>",
  }));
  const label = (row) => {
    const text = plain(shortened(row.label, 30));
    const strength = row.strength === "–" ? "" : ` <span style="color:${palette.soft}">${plain(row.strength)}</span>`;
    return (row.winner ? `<b style="color:${palette.accent}">${text}</b>` : text) + strength;
  };
  const numbers = placed.map((row) => ({
    xref: "paper",
    x: 1,
    xanchor: "left",
    xshift: 8,
    y: row.y,
    showarrow: false,
    align: "left",
    text: narrow ? row.text : `${row.text} <span style="color:${palette.soft}">${row.interval}</span>`,
    font: { color: row.role === "control" ? palette.soft : colour(row), size: 12 },
  }));
  // on a phone the names stand above their lines, which then have the whole width
  const above = narrow
    ? placed.map((row) => ({
        xref: "paper",
        x: 0,
        xanchor: "left",
        xshift: -4,
        y: row.y,
        yshift: 15,
        showarrow: false,
        text: label(row),
        font: { size: 12, color: palette.ink },
        bgcolor: palette.card,
        borderpad: 0,
      }))
    : [];
  const titles =
    controls.length && !narrow
      ? [
          {
            xref: "paper",
            x: 0,
            xanchor: "left",
            y: methods.length - 0.2,
            yanchor: "middle",
            showarrow: false,
            text: "controls",
            font: { color: palette.soft, size: 11 },
          },
        ]
      : [];
  const shapes = [{ type: "line", x0: 0, x1: 0, yref: "paper", y0: 0, y1: 1, line: { color: palette.ink, width: 1 } }];
  if (change.margin) {
    const edge = 100 * change.margin;
    shapes.unshift({
      type: "rect",
      x0: -edge,
      x1: edge,
      yref: "paper",
      y0: 0,
      y1: 1,
      line: { width: 0 },
      fillcolor: palette.line,
      opacity: 0.55,
      layer: "below",
    });
  }
  const layout = baseLayout(palette, {
    height: 92 + (narrow ? 44 : 28) * place,
    margin: { l: 10, r: narrow ? 60 : 138, t: narrow ? 34 : 24, b: 44 },
    shapes,
    annotations: [
      ...numbers,
      ...titles,
      ...above,
      {
        x: 0,
        yref: "paper",
        y: 1,
        yanchor: "bottom",
        showarrow: false,
        text: plain(change.reference),
        font: { color: palette.ink, size: 12 },
      },
    ],
    xaxis: axis(palette, narrow ? "← cheaper" : "change in cost, left is cheaper", {
      ticksuffix: MINUS_PERCENT,
      zeroline: false,
      nticks: narrow ? 5 : 8,
    }),
    yaxis: {
      range: [place - 0.4, -0.6],
      showticklabels: !narrow,
      tickvals: placed.map((row) => row.y),
      ticktext: placed.map(label),
      automargin: true,
      showgrid: false,
      zeroline: false,
      ticks: "",
      tickfont: { size: 13, color: palette.ink },
      fixedrange: true,
    },
  });
  return { traces, layout };
}

// ---- learning curves -------------------------------------------------------------------------------------------------

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
    title: caption(plain(shortened(row.label, 25)), palette),
    margin: { l: 40, r: 8, t: 28, b: 34 },
    xaxis: axis(palette, "epoch", { nticks: 5 }),
    yaxis: axis(palette, "", { range, nticks: 5 }),
  });
  return { traces: [...seeds, ...other, mean], layout };
}

// ---- strengths -------------------------------------------------------------------------------------------------------

// One method, and its controls dotted. Strengths of methods differ in kind, so that each has its own axis.
function strengthFigure(row, controls, reference, range, palette) {
  const traces = [...controls, row].map((drawn) => {
    const colour = drawn === row ? palette.accent : palette.faint;
    return {
      type: "scatter",
      mode: "lines+markers",
      x: drawn.values,
      y: drawn.costs,
      line: { color: colour, width: drawn === row ? 2.4 : 1.4, dash: drawn === row ? "solid" : "dot" },
      marker: { color: colour, size: drawn.values.map((value) => (value === drawn.chosen ? 11 : 5)) },
      customdata: drawn.values.map(() => [plain(drawn.label), plain(drawn.symbol || drawn.name)]),
      hovertemplate: "<b>%{customdata[0]}</b><br>%{customdata[1]} %{x}: %{y:.4g}<extra></extra>",
    };
  });
  const line = { color: palette.soft, width: 1.2, dash: "dash" };
  const level = { type: "line", xref: "paper", x0: 0, x1: 1, y0: reference.cost, y1: reference.cost, line };
  const layout = baseLayout(palette, {
    height: 210,
    shapes: reference.cost === null ? [] : [level],
    title: caption(plain(shortened(row.label, 25)), palette),
    margin: { l: 40, r: 8, t: 28, b: 34 },
    xaxis: axis(palette, plain(row.symbol ? `${row.name} ${row.symbol}` : row.name), { nticks: 5 }),
    yaxis: axis(palette, "", { range, nticks: 5 }),
  });
  return { traces, layout };
}

// ---- reliability and risk–coverage -----------------------------------------------------------------------------------

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

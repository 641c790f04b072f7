"use strict";
// The change of every row against the reference, with its interval: methods, then rivals, then controls.
const GROUPS = [
  ["method", ""],
  ["rival", "rivals"],
  ["control", "controls"],
];
const APART = new Set(["rival", "control"]);

prepare.set("change", (change) => {
  const target = element("figure-change");
  element("change-clipped").hidden = !Number.isFinite(limitOf(change));
  whenSeen("first", () => show(target, changeFigure(change, palette(), target.clientWidth)));
});

// How far the scale reaches to both sides: a row that goes far beyond the others must not squeeze them, and rivals,
// which the question is not about, widen the scale of labels by no more than half.
function limitOf({ rows, margin }) {
  const reach = (row) => Math.max(...[row.estimate, row.low, row.high].map((value) => Math.abs(value || 0)));
  const reached = (some) => some.map(reach).sort((a, b) => a - b);
  const [all, ours] = [reached(rows), reached(rows.filter((row) => row.role !== "rival"))];
  const fence = ours.length < 3 ? Infinity : 4 * ours[Math.floor((ours.length - 1) / 2)];
  const inside = Math.max(2 * (margin || 0), ...ours.filter((value) => value <= fence));
  const limit = Math.max(inside, ...all.filter((value) => value <= 1.5 * inside));
  return !(inside > 0) || all[all.length - 1] <= limit ? Infinity : 1.1 * limit;
}

function changeFigure(change, palette, width) {
  const narrow = width < 520;
  const [placed, heads] = [[], []];
  let place = 0;
  for (const [role, title] of GROUPS) {
    const group = change.rows.filter((row) => role === (APART.has(row.role) ? row.role : "method"));
    if (group.length && placed.length) place += 0.6;
    if (group.length && title) heads.push([title, place]);
    group.forEach((row) => placed.push({ ...row, y: place++ }));
  }
  const colour = (row) => (row.winner ? palette.accent : row.role === "control" ? palette.faint : palette.ink);
  const limit = change.reference ? limitOf(change) : Infinity; // of a measure itself all is shown
  const inside = (value) => (value === null ? null : Math.max(-limit, Math.min(limit, value)));
  const scaled = (value) => (value === null ? null : change.factor * inside(value));
  const traces = placed.map((row) => ({
    type: "scatter",
    mode: "markers",
    x: [scaled(row.estimate)],
    y: [row.y],
    error_x: {
      type: "data",
      symmetric: false,
      thickness: row.winner ? 2.6 : 1.8,
      width: 0,
      color: colour(row),
      array: [row.high === null ? 0 : scaled(row.high) - scaled(row.estimate)],
      arrayminus: [row.low === null ? 0 : scaled(row.estimate) - scaled(row.low)],
    },
    marker: {
      size: row.winner ? 13 : 10,
      color: row.marked ? colour(row) : palette.card,
      line: { color: colour(row), width: 2 },
    },
    customdata: [[plain(row.label), plain(row.strength), row.text, row.interval]],
    hovertemplate: "<b>%{customdata[0]}</b> %{customdata[1]}<br>%{customdata[2]} %{customdata[3]}<extra></extra>",
  }));
  // an arrow where an interval goes on beyond the scale
  const beyond = placed.flatMap((row) =>
    [
      [row.low, -limit, "triangle-left"],
      [row.high, limit, "triangle-right"],
    ].flatMap(([value, edge, symbol]) =>
      value === null || Math.abs(value) <= limit || value * edge < 0 ? [] : [{ row, edge, symbol }],
    ),
  );
  if (beyond.length) {
    traces.push({
      type: "scatter",
      mode: "markers",
      x: beyond.map(({ edge }) => scaled(edge)),
      y: beyond.map(({ row }) => row.y),
      marker: { size: 11, symbol: beyond.map(({ symbol }) => symbol), color: beyond.map(({ row }) => colour(row)) },
      hoverinfo: "skip",
      cliponaxis: false,
    });
  }
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
  // wide intervals have long numbers, which need their room beside the plot
  const letters = placed.map((row) => (narrow ? row.text : `${row.text} ${row.interval}`).length);
  const widest = 7 * Math.max(...letters);
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
  // on a phone a row's own name stands between its line and the head of its group
  const titles = heads.map(([text, y]) => ({
    xref: "paper",
    x: 0,
    xanchor: narrow ? "left" : "right",
    xshift: -4,
    y,
    yshift: narrow ? 32 : 21,
    showarrow: false,
    text,
    font: { color: palette.soft, size: 11 },
  }));
  const zero = { type: "line", x0: 0, x1: 0, yref: "paper", y0: 0, y1: 1, line: { color: palette.ink, width: 1 } };
  const shapes = change.reference ? [zero] : [];
  if (change.margin) {
    const edge = scaled(change.margin);
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
    margin: { l: 10, r: Math.max(narrow ? 60 : 138, 16 + widest), t: narrow ? 34 : 24, b: 44 },
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
    xaxis: axis(palette, narrow ? change.good : plain(change.title), {
      ticksuffix: change.suffix,
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

"use strict";
// Heat maps of classes by classes, or of groups of them, which several figures share.

// One heat map, with the tree above it if there are branches. `joint` stands between two names under the pointer.
// `texts` stand in the cells where they fit, and `notes` under the pointer. A `diagonal` is no part of the scale: it is
// grey. What is not known is a dash.
function heatFigure(options, palette, width) {
  const { z, ends, title, unit, joint, branches, scale, diverging, texts, notes, diagonal } = options;
  const count = ends.length;
  const narrow = width < 520;
  const labelled = count <= (narrow ? 24 : 60);
  const places = ends.map((_, index) => index);
  const customdata = ends.map((row, i) =>
    ends.map((column, j) => [plain(row.full), plain(column.full), notes ? notes[i][j] : ""]),
  );
  const names = `<b>%{customdata[0]}</b> ${joint} <b>%{customdata[1]}</b><br>`;
  // a trace of its own has the diagonal, and writes there alone
  const written = (here) =>
    texts && count <= (narrow ? 10 : 14)
      ? {
          text: texts.map((row, i) => row.map((text, j) => (here(i, j) ? text : ""))),
          texttemplate: "%{text}",
          textfont: { size: narrow ? 9 : 12 },
        }
      : {};
  const known = (value, i, j) => value !== null || Boolean(diagonal && i === j && diagonal[i] !== null);
  const heat = {
    type: "heatmap",
    z,
    x: places,
    y: places,
    customdata,
    xgap: count <= 30 ? 1 : 0,
    ygap: count <= 30 ? 1 : 0,
    zmin: scale[0],
    zmax: scale[1] > scale[0] ? scale[1] : scale[0] + 1,
    colorscale: diverging
      ? divergingScale(palette)
      : [
          [0, palette.ground],
          [1, palette.accent],
        ],
    hoverongaps: false,
    hovertemplate: `${names}${notes ? "%{customdata[2]}" : `${unit} %{z:.3g}`}<extra></extra>`,
    colorbar: {
      thickness: 8,
      len: 0.5,
      y: 0,
      yanchor: "bottom",
      outlinewidth: 0,
      tickfont: { size: 10 },
      nticks: 4,
      title: { text: scale[2] ? `▲ ${scale[2].toPrecision(2)}` : "", font: { size: 10 } },
    },
    showscale: !narrow,
    ...written((i, j) => !diagonal || i !== j),
  };
  const own = diagonal
    ? [
        {
          ...heat,
          z: z.map((row, i) => row.map((_, j) => (i === j ? diagonal[i] : null))),
          zmin: diverging ? -1 : 0,
          zmax: diverging ? 1 : 2.6,
          colorscale: [
            [0, palette.line],
            [1, diverging ? palette.line : palette.soft],
          ],
          showscale: false,
          ...written((i, j) => i === j),
        },
      ]
    : [];
  const missing = z.flatMap((row, i) => row.flatMap((value, j) => (known(value, i, j) ? [] : [[i, j]])));
  const dashes =
    missing.length && missing.length <= 3600
      ? [
          {
            type: "scatter",
            mode: "text",
            x: missing.map(([, j]) => j),
            y: missing.map(([i]) => i),
            text: missing.map(() => "–"),
            textfont: { size: count > 30 ? 8 : 11, color: palette.faint },
            customdata: missing.map(([i, j]) => customdata[i][j]),
            hovertemplate: `${names}not known<extra></extra>`,
          },
        ]
      : [];
  const tree =
    branches && branches.x.length
      ? [
          {
            type: "scatter",
            mode: "lines",
            x: branches.x,
            y: branches.y,
            xaxis: "x",
            yaxis: "y2",
            hoverinfo: "skip",
            line: { color: palette.soft, width: count > 100 ? 0.7 : 1.1 },
          },
        ]
      : [];
  const size = Math.max(Math.min(width, 820), 260);
  const share = branches ? 0.84 : 1;
  const ticks = labelled
    ? { tickvals: places, ticktext: ends.map((end) => plain(end.short)), tickfont: { size: count > 30 ? 9 : 11 } }
    : { showticklabels: false };
  const named = labelled && !narrow ? groupNames(ends, (size * 0.8) / count, palette) : { annotations: [], shapes: [] };
  const layout = baseLayout(palette, {
    ...named,
    height: Math.round(size * (branches ? 1.02 : 0.9)),
    title: title ? caption(title, palette) : undefined,
    margin: { l: 10, r: narrow ? 6 : 20, t: (title ? 30 : 8) + (named.annotations.length ? 16 : 0), b: 10 },
    xaxis: {
      ...ticks,
      range: [-0.5, count - 0.5],
      showgrid: false,
      zeroline: false,
      ticks: "",
      automargin: true,
      tickangle: -90,
      fixedrange: palette.touch,
    },
    yaxis: {
      ...ticks,
      range: [count - 0.5, -0.5],
      showgrid: false,
      zeroline: false,
      ticks: "",
      automargin: true,
      domain: [0, share],
      fixedrange: palette.touch,
    },
    yaxis2: { domain: [share + 0.01, 1], visible: false, fixedrange: true, rangemode: "tozero" },
  });
  return { traces: [heat, ...own, ...dashes, ...tree], layout };
}

// The names of groups whose classes stand side by side, above them, and thin lines between groups.
function groupNames(ends, width, palette) {
  const annotations = [];
  const shapes = [];
  let start = 0;
  ends.forEach((end, place) => {
    const next = ends[place + 1];
    if (next && next.group === end.group) return;
    const fits = Math.floor(((place + 1 - start) * width) / 6);
    if (end.group && place > start && fits > 3) {
      annotations.push({
        text: plain(shortened(end.group, fits)),
        x: (start + place) / 2,
        y: 1,
        yref: "paper",
        yanchor: "bottom",
        showarrow: false,
        font: { size: 10, color: palette.soft },
      });
    }
    if (next && (end.group || next.group)) {
      const line = { type: "line", line: { color: palette.faint, width: 1 }, layer: "above" };
      const at = place + 0.5;
      shapes.push({ ...line, x0: at, x1: at, y0: -0.5, y1: ends.length - 0.5 });
      shapes.push({ ...line, y0: at, y1: at, x0: -0.5, x1: ends.length - 0.5 });
    }
    start = place + 1;
  });
  return { annotations, shapes };
}

// The range of colours: from zero, unless all entries are so much alike that nothing would be seen. Of classes the
// diagonal is not counted: what a class keeps itself would outshine the rest. So would a single outlier where `clip`
// is asked for: it gets the colour of the others' end, and the third number says how far it goes.
function scaleOf(z, folded, clip) {
  const values = z.flatMap((row, i) => row.filter((value, j) => value !== null && (i !== j || folded)));
  values.sort((a, b) => a - b);
  if (!values.length) return [0, 1];
  const low = values[0];
  const most = values[values.length - 1];
  const start = low > 0 && low < 0.4 * most ? 0 : low;
  const present = values.filter((value) => value > 1e-6);
  const usual = present[Math.round(0.95 * (present.length - 1))];
  if (!clip || present.length < 12 || most <= 4 * usual) return [start, most];
  return [start, 2 * usual, most];
}

function divergingScale(palette) {
  return [
    [0, palette.good],
    [0.5, palette.ground],
    [1, palette.bad],
  ];
}

// Shows the box that folds classes into groups where both pictures exist; returns whether groups are wanted.
function prepareFold(id, layout, matrix) {
  const box = element(id);
  box.closest("label").hidden = !(layout.groups.length && matrix.full && matrix.folded);
  return () => Boolean(matrix.folded) && (box.checked || !matrix.full);
}

"use strict";
// Figures of classes: matrices with their trees, samples on a plane, the target of one class.

// ---- matrices --------------------------------------------------------------------------------------------------------

// One heat map, with the tree above it if there are branches. `joint` stands between two names under the pointer.
function heatFigure(options, palette, width) {
  const { z, ends, title, unit, joint, branches, scale, diverging } = options;
  const count = ends.length;
  const narrow = width < 520;
  const labelled = count <= (narrow ? 24 : 60);
  const places = ends.map((_, index) => index);
  const customdata = ends.map((row) => ends.map((column) => [plain(row.full), plain(column.full)]));
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
    hovertemplate: `<b>%{customdata[0]}</b> ${joint} <b>%{customdata[1]}</b><br>${unit} %{z:.3g}<extra></extra>`,
    colorbar: { thickness: 8, len: 0.5, y: 0, yanchor: "bottom", outlinewidth: 0, tickfont: { size: 10 }, nticks: 4 },
    showscale: !narrow,
  };
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
  const layout = baseLayout(palette, {
    height: Math.round(size * (branches ? 1.02 : 0.9)),
    title: title ? caption(title, palette) : undefined,
    margin: { l: 10, r: narrow ? 6 : 20, t: title ? 30 : 8, b: 10 },
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
  return { traces: [heat, ...tree], layout };
}

// The range of colours: from zero, unless all entries are so much alike that nothing would be seen. Of classes the
// diagonal is not counted: what a class keeps itself would outshine the rest.
function scaleOf(z, folded) {
  let low = Infinity;
  let high = -Infinity;
  z.forEach((row, i) =>
    row.forEach((value, j) => {
      if (value === null || (i === j && !folded)) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }),
  );
  if (!(low <= high)) return [0, 1];
  return [low > 0 && low < 0.4 * high ? 0 : low, high];
}

function divergingScale(palette) {
  return [
    [0, palette.good],
    [0.5, palette.ground],
    [1, palette.bad],
  ];
}

function differenceOf(matrix, other) {
  return matrix.map((row, i) =>
    row.map((value, j) => (value === null || other[i][j] === null ? null : value - other[i][j])),
  );
}

// ---- projections -----------------------------------------------------------------------------------------------------

function projectionFigure(row, y, names, ranks, palette, width) {
  const points = unpack(row.points);
  const few = names.length <= 12;
  const base = { type: "scatter", mode: "markers", hovertemplate: "%{text}<extra></extra>" };
  const trace = (indices, marker, name) => ({
    ...base,
    name,
    x: indices.map((i) => points[i][0]),
    y: indices.map((i) => points[i][1]),
    text: indices.map((i) => plain(names[y[i]])),
    marker: { size: 4.5, opacity: 0.75, ...marker },
  });
  const everyone = y.map((_, index) => index);
  const traces = few
    ? names.map((name, k) =>
        trace(
          everyone.filter((i) => y[i] === k),
          { color: CLASS_COLOURS[k % CLASS_COLOURS.length] },
          plain(shortened(name, 16)),
        ),
      )
    : [trace(everyone, { color: everyone.map((i) => wheel(ranks[y[i]] / names.length)) }, "")];
  const layout = baseLayout(palette, {
    height: Math.min(width, 480) + (few ? 60 : 0),
    title: caption(plain(row.label), palette),
    margin: { l: 8, r: 8, t: 30, b: 8 },
    showlegend: few,
    legend: { orientation: "h", y: -0.02, itemsizing: "constant", font: { color: palette.ink, size: 11 } },
    xaxis: { visible: false, fixedrange: palette.touch },
    yaxis: { visible: false, fixedrange: palette.touch },
  });
  return { traces, layout };
}

// A colour of the wheel: classes that are neighbours in the tree get neighbouring colours.
function wheel(turn) {
  return `hsl(${Math.round(330 * turn)}, 62%, 52%)`;
}

// ---- the target of one class -----------------------------------------------------------------------------------------

function targetOf(space, index, strength) {
  const own = 1 - strength + strength * space.own[index];
  const others = space.classes[index]
    .map((other, place) => ({ index: other, value: strength * space.weights[index][place] }))
    .filter((part) => part.index !== index);
  return { own, others, rest: Math.max(0, 1 - own - others.reduce((sum, part) => sum + part.value, 0)) };
}

function targetFigure(space, index, strength, names, order, palette) {
  const target = targetOf(space, index, strength);
  const all = names.length <= 40;
  const parts = [{ index, value: target.own }, ...target.others];
  if (all) parts.sort((a, b) => order.indexOf(a.index) - order.indexOf(b.index));
  const bars = parts.map((part) => ({
    name: plain(shortened(names[part.index], 18)),
    full: plain(names[part.index]),
    value: part.value,
    colour: part.index === index ? palette.accent : palette.soft,
  }));
  if (!all) bars.push({ name: "all others", full: "all others", value: target.rest, colour: palette.faint });
  const places = bars.map((_, place) => place);
  const values = bars.map((bar) => bar.value);
  const ticks = {
    tickvals: places,
    ticktext: bars.map((bar) => bar.name),
    showgrid: false,
    automargin: true,
    ticks: "",
    fixedrange: true,
    tickfont: { size: 11, color: palette.ink },
    zeroline: false,
  };
  const weight = axis(palette, "weight", { range: [0, 1], fixedrange: true });
  const traces = [
    {
      type: "bar",
      orientation: all ? "v" : "h",
      x: all ? places : values,
      y: all ? values : places,
      marker: { color: bars.map((bar) => bar.colour) },
      customdata: bars.map((bar) => bar.full),
      hovertemplate: `<b>%{customdata}</b>: %{${all ? "y" : "x"}:.4f}<extra></extra>`,
    },
  ];
  const layout = baseLayout(palette, {
    height: all ? 320 : 440,
    bargap: 0.25,
    dragmode: false,
    margin: { l: 48, r: 12, t: 12, b: 30 },
    xaxis: all ? ticks : weight,
    yaxis: all ? weight : { ...ticks, range: [bars.length - 0.4, -0.6] },
  });
  return { traces, layout };
}

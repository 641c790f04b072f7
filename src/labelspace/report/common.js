"use strict";
// What all figures share: the data, choices, colours, and the looks of axes.
// The script of a figure says `prepare.set("NAME", (part) => …)`: it is called where the data have something of that
// name. It fills the choices and says with `whenSeen` how to draw what is chosen.

const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const prepare = new Map(); // name in the data → function that prepares what is drawn from it
const drawers = new Map(); // section → functions that draw its figures
const unpacked = new Map(); // packed matrix → its numbers

function matrixOf(packed) {
  if (!unpacked.has(packed)) unpacked.set(packed, unpack(packed));
  return unpacked.get(packed);
}

function palette() {
  const style = getComputedStyle(document.documentElement);
  const colours = {};
  for (const name of ["ground", "card", "ink", "soft", "faint", "line", "accent", "good", "bad"]) {
    colours[name] = style.getPropertyValue(`--${name}`).trim();
  }
  return { ...colours, touch: matchMedia("(pointer: coarse)").matches };
}

function show(target, figure) {
  const options = {
    responsive: true,
    displaylogo: false,
    displayModeBar: matchMedia("(hover: hover)").matches ? "hover" : false,
    modeBarButtons: [["toImage"]],
    toImageButtonOptions: { format: "svg" },
  };
  Plotly.react(target, figure.traces, figure.layout, options);
}

function choose(select, entries, chosen) {
  for (const [value, text] of entries) select.add(new Option(text, value, false, String(value) === String(chosen)));
  select.closest("label").hidden = entries.length < 2;
}

function whenChanged(ids, draw) {
  for (const id of ids) if (element(id)) element(id).addEventListener("input", draw);
}

// Draws when a section is first opened, and again in other colours. What is always open is the section "first".
function whenSeen(section, draw) {
  drawers.set(section, [...(drawers.get(section) || []), draw]);
}

function winnerAmong(rows, reference) {
  const others = rows.filter((row) => row.label !== reference);
  return (others.find((row) => row.winner) || others[0] || rows[0] || {}).label;
}

// Classes in the order of the first space's tree, or as they are given.
function classOrder() {
  return data.spaces.length ? data.spaces[0].layout.order : data.names.map((_, index) => index);
}

function newFigure(grid) {
  const target = document.createElement("div");
  target.className = "figure";
  element(grid).append(target);
  return target;
}

// The range of an axis. What lies far beyond nearly all others must not squeeze them: it is cut off, which is marked.
function rangeOf(values) {
  const present = values.filter((value) => value !== null).sort((a, b) => a - b);
  const at = (share) => present[Math.round(share * (present.length - 1))];
  const fence = present.length < 6 ? Infinity : at(0.9) + 4 * (at(0.9) - at(0.1));
  const low = present[0];
  const high = present.filter((value) => value <= fence).pop();
  return low < high ? [low - 0.04 * (high - low), high + 0.04 * (high - low)] : undefined;
}

// The note that a line goes on above the range, and how far.
function beyondNote(values, range, palette) {
  const most = values.reduce((a, b) => (b === null ? a : Math.max(a, b)), -Infinity);
  if (!range || most <= range[1]) return [];
  const text = `▲ up to ${most.toPrecision(3)}`;
  const font = { size: 11, color: palette.soft };
  return [{ xref: "paper", yref: "paper", x: 1, y: 1, xanchor: "right", yanchor: "top", showarrow: false, text, font, bgcolor: palette.card }];
}

function baseLayout(palette, extra) {
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif", size: 12, color: palette.soft },
    margin: { l: 52, r: 14, t: 26, b: 42 },
    showlegend: false,
    hovermode: "closest",
    dragmode: palette.touch ? false : "zoom",
    modebar: { bgcolor: "rgba(0,0,0,0)", color: palette.faint, activecolor: palette.accent },
    hoverlabel: {
      bgcolor: palette.card,
      bordercolor: palette.faint,
      align: "left",
      namelength: -1,
      font: { color: palette.ink, size: 13 },
    },
    ...extra,
  };
}

function axis(palette, title, extra) {
  return {
    title: { text: title, font: { size: 12 }, standoff: 6 },
    gridcolor: palette.line,
    linecolor: palette.line,
    zerolinecolor: palette.line,
    automargin: true,
    fixedrange: palette.touch,
    ...extra,
  };
}

function caption(text, palette) {
  return {
    text,
    font: { size: 13, color: palette.ink },
    x: 0,
    xanchor: "left",
    xref: "paper",
    y: 0.995,
    yanchor: "top",
    yref: "container",
  };
}

"use strict";
// Builds figures: functions of data and a palette that return traces and a layout. Nothing here touches the page.

const CLASS_COLOURS = [
  "#4269d0",
  "#e8890c",
  "#d1495b",
  "#5ab4c4",
  "#3f9f5f",
  "#d96fb8",
  "#9c6b4e",
  "#8a63d2",
  "#7a8290",
  "#b5a220",
];
const MINUS_PERCENT = "\u202f%";

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

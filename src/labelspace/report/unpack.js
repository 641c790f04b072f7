"use strict";
// Reads what document.py wrote, and makes text safe for figures.

// Figures understand a few HTML tags in their texts; a class name is never meant as one.
function plain(text) {
  return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function shortened(text, most) {
  const letters = Array.from(String(text));
  return letters.length <= most ? String(text) : letters.slice(0, most - 1).join("") + "…";
}

// Returns rows of numbers, null where there is none.
function unpack(packed) {
  const [rows, columns] = packed.shape;
  const codes = codesOf(packed);
  const levels = packed.wide ? 65534 : 254;
  const value = (code) => (code > levels ? null : packed.low + packed.span * Math.pow(code / levels, packed.power));
  const place = packed.symmetric
    ? (i, j) => (i >= j ? (i * (i + 1)) / 2 + j : (j * (j + 1)) / 2 + i)
    : (i, j) => i * columns + j;
  return Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j) => value(codes[place(i, j)])));
}

function codesOf(packed) {
  const bytes = Uint8Array.from(atob(packed.data), (letter) => letter.charCodeAt(0));
  if (packed.wide) {
    return Array.from({ length: bytes.length / 2 }, (_, i) => bytes[2 * i] + 256 * bytes[2 * i + 1]);
  }
  if (!packed.zeros) return bytes;
  const codes = [];
  for (let i = 0; i < bytes.length; i += 1) {
    if (bytes[i] !== 0) codes.push(bytes[i]);
    else for (let left = bytes[(i += 1)]; left > 0; left -= 1) codes.push(0);
  }
  return codes;
}

// The classes or groups along the sides of a matrix: a short name for the axis and a full one for the pointer.
function sides(names, layout, folded) {
  if (!folded) {
    return layout.order.map((index) => {
      const group = layout.above[index] || null;
      const full = group === null ? names[index] : `${names[index]} (${group})`;
      return { short: shortened(names[index], 14), full, group };
    });
  }
  const often = (title) => layout.titles.filter((other) => other === title).length > 1;
  let start = 0;
  return layout.groups.map((size, group) => {
    const members = layout.order.slice(start, start + size).map((index) => names[index]);
    start += size;
    const middle = shortened(names[layout.middles[group]], 14);
    if (size === 1) return { short: middle, full: members[0] };
    const listed = members.slice(0, 6).join(", ") + (size > 6 ? ` and ${size - 6} more` : "");
    const title = layout.titles[group];
    if (!title) return { short: `${middle} +${size - 1}`, full: `[${listed}]` };
    // a taxonomy's name; several groups may be parts of one, and are told apart by their most typical class
    const own = often(title) ? `${shortened(title, 14)}: ${middle} +${size - 1}` : `${shortened(title, 20)} (${size})`;
    return { short: own, full: `${title} [${listed}]` };
  });
}

"use strict";
// What the page does: draws figures when they are first seen, redraws them in other colours, sorts tables.

function prepareTable(table) {
  const body = table.tBodies[0];
  const original = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[table.tHead.rows.length - 1].cells);
  const key = (row, column) => {
    const text = row.cells[column].dataset.sort;
    return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
  };
  const compare = (a, b) => {
    if ((a === "") !== (b === "")) return a === "" ? Infinity : -Infinity; // what is missing stays below
    return typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), undefined, { numeric: true });
  };
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const next = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
      const way = next === undefined ? "ascending" : next;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (way) head.setAttribute("aria-sort", way);
      const order = (a, b) => {
        const found = compare(key(a, column), key(b, column));
        return Number.isFinite(found) && way === "descending" ? -found : found;
      };
      body.append(...(way ? [...original].sort(order) : original));
    });
  });
}

function prepareCopy(button) {
  const code = button.parentElement.querySelector("code");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(code); // not allowed here: the reader copies what is selected
    }
  });
}

// Says what a word means that is under the pointer or has the focus; Escape takes it away.
function prepareTips() {
  const tip = element("tip");
  let owner = null;
  const hide = () => {
    if (owner) owner.removeAttribute("aria-describedby");
    owner = null;
    tip.hidden = true;
  };
  const say = (event) => {
    const found = event.target.closest && event.target.closest("[data-says]");
    if (found === owner) return;
    hide();
    if (!found || !found.dataset.says) return;
    owner = found;
    owner.setAttribute("aria-describedby", "tip");
    tip.textContent = found.dataset.says;
    tip.hidden = false;
    const box = found.getBoundingClientRect();
    const most = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${scrollX + Math.max(8, Math.min(box.left, most))}px`;
    const above = box.bottom + tip.offsetHeight + 12 > innerHeight;
    tip.style.top = `${scrollY + (above ? box.top - tip.offsetHeight - 6 : box.bottom + 6)}px`;
  };
  for (const kind of ["mouseover", "focusin"]) document.addEventListener(kind, say);
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}

const drawn = new Set();

function draw(name) {
  if (!drawers.has(name)) return;
  drawn.add(name);
  for (const drawFigures of drawers.get(name)) drawFigures();
}

function redraw() {
  for (const name of drawn) if (name === "first" || element(name).open) draw(name);
}

for (const [name, start] of prepare) {
  const part = data[name];
  if (part && part.length !== 0) start(part);
}
draw("first");

prepareTips();
for (const table of document.querySelectorAll("table:not(.unsorted)")) prepareTable(table);
for (const button of document.querySelectorAll(".copy")) prepareCopy(button);
for (const section of document.querySelectorAll("details.section")) {
  section.addEventListener("toggle", () => section.open && draw(section.id));
  if (section.open) draw(section.id);
}

const openAll = element("open-all");
openAll.addEventListener("click", () => {
  const opening = openAll.textContent === "open all";
  for (const section of document.querySelectorAll("details.section")) section.open = opening;
  openAll.textContent = opening ? "close all" : "open all";
});

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
// paper has the light colours
for (const [name, printing] of [
  ["beforeprint", true],
  ["afterprint", false],
]) {
  addEventListener(name, () => {
    document.documentElement.classList.toggle("paper", printing);
    redraw();
  });
}
let width = innerWidth;
let resizing;
addEventListener("resize", () => {
  if (innerWidth === width) return; // phones change their height while scrolling
  width = innerWidth;
  clearTimeout(resizing);
  resizing = setTimeout(redraw, 150);
});

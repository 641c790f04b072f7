"""Does to a page what a reader can do: finds every control by itself, and uses each in every way it has."""

import time
from pathlib import Path
from typing import Any

from hostile.pages import WATCH
from report.browser import Browser

# what a reader can press, by its kind or because a script listens there
FIND = """
const kinds = new Set(["click", "input", "change", "toggle", "dblclick", "keydown", "pointerdown"]);
const native = "a, button, select, input, textarea, summary, [tabindex], [contenteditable], [draggable=true], [href]";
const listening = window.listening.filter(([target, kind]) => target.isConnected && kinds.has(kind));
const found = new Set([...document.querySelectorAll(native), ...listening.map(([target]) => target)]);
window.controls = [...found].filter((control) => !control.matches("details, .js-plotly-plot"));
return window.controls.map((control) => control.type || control.localName)"""
USE = """
const control = window.controls[arguments[0]];
const tell = () => ["input", "change"].forEach((kind) => control.dispatchEvent(new Event(kind, { bubbles: true })));
const press = () => control.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
if (!control.isConnected) return 0;
if (control.localName === "select") {
  for (const option of control.options) {
    option.selected = true;
    tell();
  }
  return control.options.length;
}
if (control.type === "range") {
  const [low, high] = [Number(control.min), Number(control.max)];
  for (const share of [0, 0.1, 0.5, 0.9, 1, 0.3]) {
    control.value = low + share * (high - low);
    tell();
  }
  return 6;
}
// a head has three states, a box and a fold two
const times = control.closest("th") ? 3 : 2;
for (let time = 0; time < times; time += 1) press();
return times"""
# the middles of what is drawn, at most so many of each kind, and of a grid over every heat map
PLACES = """
const [index, most] = arguments;
const figure = document.querySelectorAll(".js-plotly-plot")[index];
if (!figure || figure.hidden || !figure.clientWidth) return [];
figure.scrollIntoView({ block: "center" });
const box = (part) => part.getBoundingClientRect();
const drawn = [".point", ".legendtoggle", ".xtick text", ".g-gtitle text", ".errorbar", ".annotation"];
const places = drawn.flatMap((kind) => {
  const parts = [...figure.querySelectorAll(kind)];
  const step = Math.max(1, Math.floor(parts.length / most));
  return parts.filter((_, place) => place % step === 0).slice(0, most).map((part) => [
    (box(part).left + box(part).right) / 2, (box(part).top + box(part).bottom) / 2]);
});
for (const heat of figure.querySelectorAll(".hm")) {
  const { left, top, width, height } = box(heat);
  for (let i = 0.5; i < most; i += 1) places.push([left + (width * i) / most, top + (height * ((i * 7) % 10)) / 10]);
}
return places.filter(([x, y]) => x > 0 && y > 0 && x < innerWidth && y < innerHeight)"""
HOVER = "return [...document.querySelectorAll('.hoverlayer text')].map((part) => part.textContent)"
# opened again where the last key closed everything
FOCUSED = """document.querySelectorAll("details").forEach((part) => (part.open = true));
return document.activeElement.type || document.activeElement.localName"""


class Driver:
    """A browser that watches what a page does while everything on it is used."""

    def __init__(self, browser: Browser, downloads: Path) -> None:
        self.browser = browser
        self.downloads = downloads
        self.hovered: list[str] = []
        browser.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))
        self.script = browser.command("Page.addScriptToEvaluateOnNewDocument", source=WATCH)["identifier"]

    def leave(self) -> None:
        """Leave the browser as it was."""
        self.browser.command("Page.removeScriptToEvaluateOnNewDocument", identifier=self.script)

    def open(self, page: Path, **options: Any) -> None:
        """Open a page, everything on it unfolded."""
        self.browser.messages()
        self.browser.addresses()
        self.browser.open(page, **options)
        self._unfold()

    def _unfold(self) -> None:
        self.browser.run("document.querySelectorAll('details').forEach((part) => (part.open = true))")
        time.sleep(0.5)  # figures are drawn after their section was unfolded

    def use_everything(self, most: int, *, walk: bool = True) -> dict[str, int]:
        """Use every control, with the keyboard too if wanted, and return how often each kind was used."""
        used: dict[str, int] = {}
        for place, kind in enumerate(self.browser.run(FIND)):
            used[kind] = used.get(kind, 0) + self.browser.run(USE, place)
        self._unfold()
        used["hover"] = self._hover(most)
        used["key"] = self._walk(used) if walk else 0
        for event in ("beforeprint", "afterprint", "resize", "blur", "focus"):
            self.browser.run("dispatchEvent(new Event(arguments[0]))", event)
        return used

    def _hover(self, most: int) -> int:
        """Move the pointer over points, bars, cells, ticks, titles and legends, and click there."""
        done = 0
        for figure in range(self.browser.run("return document.querySelectorAll('.js-plotly-plot').length")):
            for x, y in self.browser.run(PLACES, figure, most):
                self.browser.move(x, y)
                time.sleep(0.07)  # plotly looks at the pointer twenty times a second
                self.hovered += self.browser.run(HOVER)
                for kind in ("mousePressed", "mouseReleased"):
                    self.browser.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
                done += 1
        return done

    def _walk(self, used: dict[str, int]) -> int:
        """Go through the page with the keyboard, and press what has the focus."""
        kind = self.browser.run("document.querySelector('button, input, summary').focus(); return 'button'")
        stops = sum(used.values())
        for stop in range(stops):
            if kind == "body":
                return stop
            for _ in range(2 if kind in ("summary", "select-one") else 1):  # closed and opened again, or the reverse
                self.browser.press("Enter", 13, "\r")
            if kind == "range":
                self.browser.press("ArrowRight", 39)
            self.browser.press("Tab", 9)
            kind = self.browser.run(FOCUSED)
        return stops

    def seen(self) -> list[str]:
        """Return what must not have happened since the page was opened."""
        found = list(self.browser.run("return window.seen"))
        found += [f"console: {message}" for message in self.browser.messages()]
        own = ("file:", "data:", "blob:", "about:blank")
        return found + [f"asked for {address}" for address in self.browser.addresses() if not address.startswith(own)]

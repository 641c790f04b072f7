"""The report in a real browser: skipped where Chromium and its driver are absent."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from labelspace.report import write_html, write_runs_html
from labelspace.report.document import pack, script_json
from report.browser import Browser
from report.folders import HOSTILE, write_comparison

OPEN_ALL = 'document.getElementById("open-all").click()'
# drawn by plotly, with something in it, and not squeezed to nothing
MISSING = """return [...document.querySelectorAll(".figure:not([hidden])")].filter((figure) => {
  const marks = figure.querySelectorAll(".cartesianlayer .trace, .cartesianlayer .hm image");
  return !marks.length || figure.clientWidth < 100 || figure.querySelector(".main-svg").clientHeight < 100;
}).map((figure) => figure.id)"""


@pytest.fixture(scope="module")
def report(comparison: Path) -> Path:
    return write_html(comparison)


@pytest.fixture(scope="module")
def large_report(large_comparison: Path) -> Path:
    return write_html(large_comparison)


def opened(browser: Browser, path: Path, **options: Any) -> None:
    browser.open(path, **options)
    browser.run(OPEN_ALL)
    browser.until(f"return !(() => {{ {MISSING} }})().length")


def figures(browser: Browser) -> int:
    return int(browser.run('return document.querySelectorAll(".js-plotly-plot").length'))


def _promised(browser: Browser) -> dict[str, int]:
    """Return how many figures each part of the page's data is to be drawn as; none where no script prepares it."""
    return dict(
        browser.run("""const places = (name) => {
          const grid = document.getElementById(`figures-${name}`);
          if (grid) return data[name].rows.filter((row) => name !== "strengths" || row.role !== "control").length;
          const section = { change: ".first", confusions: "#confusion .pair-of-figures" }[name] || `#${name}`;
          return document.querySelectorAll(`${section} .figure:not([hidden])`).length;
        };
        const parts = Object.keys(data).filter((name) => name !== "names" && data[name] && data[name].length !== 0);
        return Object.fromEntries(parts.map((name) => [name, prepare.has(name) ? places(name) : 0]))""")
    )


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 360])
def test_every_figure_is_drawn_without_a_complaint(browser: Browser, report: Path, width: int, dark: bool) -> None:
    browser.open(report, width, dark=dark)
    assert figures(browser) == 1  # the others wait until they are seen
    opened(browser, report, width=width, dark=dark)
    assert {name for name, count in _promised(browser).items() if not count} == set()
    assert figures(browser) == sum(_promised(browser).values())
    assert browser.messages() == []
    assert browser.run("return document.documentElement.scrollWidth") <= width
    ground = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(18, 19, 23)" if dark else "rgb(247, 247, 248)")


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 360])
def test_200_classes(browser: Browser, large_report: Path, width: int) -> None:
    opened(browser, large_report, width=width)
    count = "return document.getElementById('figure-space').data[0].z.length"
    assert browser.run(count) == 30
    browser.run("document.getElementById('spaces-fold').click()")
    assert browser.run(count) == 200
    assert browser.messages() == []
    assert browser.run("return document.documentElement.scrollWidth") <= width


def test_plain_runs_and_comparisons_without_prices(browser: Browser, tmp_path: Path) -> None:
    folder = write_comparison(tmp_path / "free", seeds=1, samples=60, priced=False)
    for path in (write_html(folder), write_runs_html([folder / "runs"], tmp_path / "runs.html")):
        opened(browser, path, width=360)
        assert browser.messages() == []
        assert browser.run("return document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("width", [1280, 360])
def test_wide_intervals_and_their_numbers_are_inside_the_figure(
    browser: Browser, comparison: Path, tmp_path: Path, width: int
) -> None:
    facts = json.loads((comparison / "comparison.json").read_text())
    for row, high in zip(facts["rows"][1:], (0.1, 2.5, 9.8, 123.4, 3000.0, 1.0), strict=True):
        row["change"].update(low=-1.2, high=high)
    (tmp_path / "comparison.json").write_text(json.dumps(facts))
    opened(browser, write_html(tmp_path), width=width)
    low, high, edge, numbers, marks = browser.run("""const figure = document.getElementById("figure-change");
      const right = (part) => part.getBoundingClientRect().right;
      const numbers = [...figure.querySelectorAll(".annotation")].map(right);
      const last = figure.data[figure.data.length - 1];
      const marks = last.x.map((x, place) => [x, last.y[place], last.marker.symbol[place]]);
      return [...figure._fullLayout.xaxis.range, right(figure), numbers, marks]""")
    assert low < -120
    # two of six go far beyond the others: they are cut off, with an arrow each, and their numbers stand beside
    assert 980 < high < 2000
    assert [(symbol, y) for _, y, symbol in marks] == [("triangle-right", 3), ("triangle-right", 4.6)]
    assert all(980 < x <= high for x, _, _ in marks)
    assert browser.run("return document.getElementById('change-clipped').hidden") is False
    assert max(numbers) <= edge


def test_rivals_stand_apart_and_do_not_squeeze_the_methods(browser: Browser, comparison: Path, tmp_path: Path) -> None:
    facts = json.loads((comparison / "comparison.json").read_text())
    for row in facts["rows"][1:]:
        row["change"].update(estimate=-0.1, low=-0.2, high=0.1)
    _, _, _, near, far, *_ = facts["rows"]
    near["role"] = far["role"] = "rival"
    near["change"].update(high=0.28)  # a little further than the methods: all of it is shown
    far["change"].update(estimate=1.5, low=1.0, high=3.0)
    (tmp_path / "comparison.json").write_text(json.dumps(facts))
    opened(browser, write_html(tmp_path), width=390)
    low, high, places, heads, last = browser.run("""const figure = document.getElementById("figure-change");
      const heads = figure.layout.annotations.filter(({ text }) => ["rivals", "controls"].includes(text));
      const last = figure.data[figure.data.length - 1];
      return [...figure._fullLayout.xaxis.range, figure.data.slice(0, -1).map(({ y }) => y[0]),
        heads.map(({ text, y }) => [text, y]), last.y.map((y, place) => [y, last.marker.symbol[place]])]""")
    assert low < -20
    assert 28 < high < 60
    assert places == pytest.approx([0, 1, 2.6, 3.6, 5.2, 6.2])
    assert [text for text, _ in heads] == ["rivals", "controls"]
    assert [y for _, y in heads] == pytest.approx([2.6, 5.2])
    assert last == [[3.6, "triangle-right"]]


def test_the_slider_moves_the_bars(browser: Browser, report: Path) -> None:
    opened(browser, report)
    move = """const slider = document.getElementById("targets-strength");
      slider.value = arguments[0];
      slider.dispatchEvent(new Event("input"));
      const figure = document.getElementById("figure-target");
      const heights = [...figure.querySelectorAll(".bars .point path")].map((path) => path.getBBox().height);
      return [figure.data[0].y, heights, document.getElementById("targets-value").textContent]"""
    for strength in (0.1, 0.8):
        values, heights, shown = browser.run(move, strength)
        target = torch.tensor([1 - strength] + [strength * w for w in _ordinal_row()], dtype=torch.float64)
        torch.testing.assert_close(torch.tensor(values, dtype=torch.float64), target, rtol=0, atol=1e-3)
        torch.testing.assert_close(
            torch.tensor(heights, dtype=torch.float64) / max(heights), target / target.max(), rtol=0, atol=0.02
        )
        assert shown == f"{strength:.2f}"


def _ordinal_row() -> list[float]:
    weights = [1 / gap for gap in range(1, 10)]
    return [weight / sum(weights) for weight in weights]


def test_the_table_sorts_by_mouse_and_keyboard(browser: Browser, report: Path) -> None:
    opened(browser, report)
    labels = 'return [...document.querySelectorAll("#table tbody tr")].map((row) => row.cells[0].textContent)'
    head = """[...document.querySelectorAll("#table thead button")].find((button) => button.textContent === "change")"""
    before = browser.run(labels)
    assert before[0] == "one-hot"
    browser.run(f"{head}.click()")
    assert browser.run(f"return {head}.closest('th').ariaSort") == "ascending"
    rising = browser.run(labels)
    assert rising[:2] == ["semantic", "lls"]
    assert rising[-1] == "one-hot"  # it has no change
    browser.run(f"{head}.focus()")
    browser.press("Enter", 13, "\r")
    browser.until(f"return {head}.closest('th').ariaSort === 'descending'")
    assert browser.run(labels) == [*rising[:-1][::-1], "one-hot"]
    browser.run(f"{head}.click()")
    assert browser.run(labels) == before


def test_names_are_text_under_the_pointer_too(browser: Browser, report: Path) -> None:
    opened(browser, report)
    # the cell of row 3 and column 5
    place = browser.run("""const figure = document.getElementById("figure-space");
      figure.scrollIntoView();
      const box = figure.getBoundingClientRect();
      const { xaxis, yaxis } = figure._fullLayout;
      return { x: box.left + xaxis._offset + xaxis.d2p(5), y: box.top + yaxis._offset + yaxis.d2p(3) }""")
    browser.move(**place)
    text = """const parts = document.querySelectorAll("#figure-space .hoverlayer text");
      return [...parts].map((part) => part.textContent).join(" ")"""
    browser.until(text)
    shown = browser.run(text)
    assert HOSTILE in shown
    assert '<b>bold</b> & "quoted" %{x} $x$' in shown
    others = sum(1 / gap for gap in (3, 2, 1, 1, 2, 3, 4, 5, 6))
    assert f"{1 / 2 / others:.3g}" in shown  # the weight
    ticks = browser.run(
        """return [...document.querySelectorAll("#figure-space .xtick text")].map((e) => e.textContent)"""
    )
    assert "<script>alert…" in ticks
    assert browser.run('return document.querySelectorAll("svg script, svg b").length') == 0
    assert browser.messages() == []


def test_confusions_follow_the_strength(browser: Browser, report: Path) -> None:
    opened(browser, report)
    choose = """const part = document.getElementById("confusion-part");
      part.value = arguments[0];
      part.dispatchEvent(new Event("input"));
      const slider = document.getElementById("confusion-strength");
      slider.value = arguments[1];
      slider.dispatchEvent(new Event("input"));
      const figure = document.getElementById("figure-confusion-row");
      return [figure.data[0].z, figure.layout.title.text, slider.closest("label").hidden]"""
    test, _, hidden = browser.run(choose, "test", 0)
    assert hidden
    weak, title, hidden = browser.run(choose, "validation", 0)
    assert not hidden
    assert title == "semantic, strength 0.1"
    chosen, title, _ = browser.run(choose, "validation", 2)
    assert title == "semantic, strength 0.5"
    assert weak != chosen != test
    browser.run('document.getElementById("confusion-difference").click()')
    base = browser.run('return document.getElementById("figure-confusion-reference").data[0].z')
    difference = browser.run('return document.getElementById("figure-confusion-row").data[0].z')
    assert difference[0][1] == pytest.approx(chosen[0][1] - base[0][1], abs=1e-6)


def test_the_page_reads_what_python_packed(browser: Browser, report: Path) -> None:
    browser.open(report)
    generator = torch.Generator().manual_seed(0)
    for size in (5, 90):
        values = torch.rand(size, size, generator=generator, dtype=torch.float64)
        values = torch.where(values < 0.7, 0, values)
        values[1, 2] = torch.nan
        for matrix in (values, (values + values.T) / 2, values - 0.5):
            back = browser.run(f"return unpack({script_json(pack(matrix))})")
            found = torch.tensor([[torch.nan if value is None else value for value in row] for row in back])
            torch.testing.assert_close(found.double(), matrix, rtol=0, atol=5e-3, equal_nan=True)


def test_figures_change_colour_with_the_scheme_and_for_paper(browser: Browser, report: Path) -> None:
    opened(browser, report, dark=True)
    ink = 'return document.getElementById("figure-change").layout.yaxis.tickfont.color'
    assert browser.run(ink) == "#e9eaee"
    browser.run('dispatchEvent(new Event("beforeprint"))')
    assert browser.run(ink) == "#1d1f24"
    browser.run('dispatchEvent(new Event("afterprint"))')
    assert browser.run(ink) == "#e9eaee"
    browser.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    browser.until(f"{ink} === '#1d1f24'")
    assert browser.messages() == []


def test_groups_of_a_taxonomy_are_named(browser: Browser, report: Path) -> None:
    opened(browser, report)
    full, named, lines, folded = browser.run(
        """const names = ["cat", "dog", "car", "<b>"];
        const layout = {order: [2, 0, 1, 3], above: ["pets", "pets", null, null], groups: [1, 2, 1],
          middles: [2, 0, 3], titles: [null, "pets", null]};
        const ends = sides(names, layout, false);
        const found = groupNames(ends, 100, palette());
        return [ends.map((end) => end.full), found.annotations.map((each) => [each.text, each.x]),
          found.shapes.filter((each) => each.x0 === each.x1).map((each) => each.x0),
          sides(names, layout, true).map((end) => [end.short, end.full])]"""
    )
    assert full == ["car", "cat (pets)", "dog (pets)", "<b>"]
    assert named == [["pets", 1.5]]
    assert lines == [0.5, 2.5]
    assert folded == [["car", "car"], ["pets (2)", "pets [cat, dog]"], ["<b>", "<b>"]]
    parts = browser.run(
        """const layout = {order: [0, 1, 2, 3], above: [], groups: [2, 2], middles: [0, 2], titles: ["all", "all"]};
        return sides(["a", "b", "c", "d"], layout, true).map((end) => end.short)"""
    )
    assert parts == ["all: a +1", "all: c +1"]

"""What a reader can do with a page in a real browser: other prices, explanations, classes alone; beside numpy."""

from pathlib import Path

import numpy as np
import pytest

from labelspace.report import write_html
from labelspace.report.glossary import TERMS
from labelspace.report.measures import measured
from labelspace.report.reading import read_comparison
from report.browser import Browser
from report.folders import write_comparison
from report.test_browser import opened
from report.unpacking import unpack

# chooses a pair of classes, moves the slider to a factor, and returns what is shown
MOVE = """const [start, end, factor] = arguments;
  const put = (id, value) => {
    element(`whatif-${id}`).value = value;
    element(`whatif-${id}`).dispatchEvent(new Event("input"));
  };
  put("true", start);
  put("called", end);
  if (factor !== null) put("factor", Math.log2(factor));
  const cells = [...document.querySelectorAll("#whatif-costs tbody tr")].map((row) =>
    [...row.cells].map((cell) => cell.textContent));
  const bars = document.getElementById("figure-whatif").data.map((trace) => trace.y);
  return [cells, bars, element("whatif-factor-value").textContent, element("whatif-summary").textContent]"""
TIP = "const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.textContent"


@pytest.fixture(scope="module")
def report(comparison: Path) -> Path:
    return write_html(comparison, comparison / "controls.html")


def _costs(p: np.ndarray, y: np.ndarray, given: np.ndarray, now: np.ndarray) -> list[float]:
    """Return the cost as priced, by argmax, with decisions kept, decided anew, and how many decisions change."""
    kept, anew = (p @ given).argmin(axis=1), (p @ now).argmin(axis=1)
    costs = [given[y, kept], now[y, p.argmax(axis=1)], now[y, kept], now[y, anew]]
    return [*(float(each.mean()) for each in costs), int((kept != anew).sum())]


def test_other_prices_are_decided_anew_in_the_page(browser: Browser, report: Path) -> None:
    opened(browser, report)
    rows = browser.run("return data.whatif.rows")
    found = {row["label"]: unpack(row["probabilities"]).numpy() for row in rows}
    y = np.array(browser.run("return data.whatif.y"))
    given = np.array(browser.run("return data.whatif.prices"), dtype=np.float64)
    assert (list(found), len(y)) == (["semantic", "one-hot"], 300)
    start = browser.run("return Number(document.getElementById('whatif-true').value)")
    prices = given.copy()
    # a whole class eight times as dear; what is called 0 a quarter; and a pair with a price of its own
    for place, end, factor in [(start, "", 8.0), ("", 0, 0.25), (2, 7, 4.0)]:
        rows_of = slice(None) if place == "" else place
        columns = slice(None) if end == "" else end
        prices[rows_of, columns] = (given if "" not in (place, end) else prices)[rows_of, columns] * factor
        cells, bars, shown, summary = browser.run(MOVE, place, end, factor)
        assert float(shown.removeprefix("× ")) == factor
        for line in cells:
            *costs, changed = _costs(found[line[0]], y, given, prices)
            assert [float(cell) for cell in line[1:5]] == pytest.approx(costs, rel=6e-3)
            assert int(line[5].split()[0]) == changed > 0
        best = found["semantic"]
        calls = [y, (best @ given).argmin(axis=1), (best @ prices).argmin(axis=1)]
        for bar, called in zip(bars, calls, strict=True):
            np.testing.assert_allclose(bar, np.bincount(called, minlength=10) / 300)
        assert summary.startswith(f"semantic: {cells[0][4]} per sample, ")
    browser.run("document.getElementById('whatif-reset').click()")
    cells, *_ = browser.run(MOVE, 2, 7, None)
    assert [line[1] for line in cells] == [line[4] for line in cells]
    assert browser.messages() == []


def test_prices_change_by_keyboard_and_by_number(browser: Browser, report: Path) -> None:
    opened(browser, report)
    browser.run("document.getElementById('whatif-factor').focus()")
    browser.press("ArrowRight", 39)
    browser.until("return Number(document.getElementById('whatif-factor').value) > 0")
    assert browser.run("return document.getElementById('whatif-factor').getAttribute('aria-valuetext')") == "× 1.07"
    typed = """const pick = (id, value) => {
        element(id).value = value;
        element(id).dispatchEvent(new Event("input"));
      };
      pick("whatif-true", 4);
      pick("whatif-called", 5);
      pick("whatif-number", arguments[0]);
      return [element("whatif-number-label").textContent, element("whatif-changes").textContent]"""
    label, said = browser.run(typed, "12.5")
    assert label == "price"
    assert said.endswith('4 called <b>bold</b> & "quoted" %{x} $x$ costs 12.5.')
    assert browser.run(typed, "")[1] == said  # an empty field is no price
    unlabelled = """return [...document.querySelectorAll("input, select")].filter((control) =>
        !control.closest("label")).map((control) => control.id)"""
    assert browser.run(unlabelled) == []


def test_words_are_explained_under_pointer_and_keyboard(browser: Browser, report: Path) -> None:
    opened(browser, report)
    head = """[...document.querySelectorAll("#table thead button")].find((one) => one.textContent === "p (Holm)")"""
    assert browser.run(TIP) == ""
    browser.run(f"{head}.focus()")
    assert TERMS["Holm"] in browser.run(TIP)
    assert browser.run(f"return {head}.getAttribute('aria-describedby')") == "tip"
    browser.press("Escape", 27)
    assert browser.run(TIP) == ""
    place = browser.run("""const term = document.querySelector("#table tbody .term");
      term.scrollIntoView({ block: "center" });
      const box = term.getBoundingClientRect();
      return { x: box.left + 3, y: box.top + 3 }""")
    browser.move(**place)
    browser.until(TIP)
    assert browser.run(TIP).startswith("σ: smoothing, ")
    listed = browser.run("return [...document.querySelectorAll('#glossary dt')].map((one) => one.textContent)")
    assert {"argmax", "min-cost", "T", "Holm", "●", "▸", "NAA", "σ"} <= set(listed)


@pytest.mark.parametrize("width", [1280, 390])
def test_all_numbers_fit(browser: Browser, report: Path, width: int) -> None:
    opened(browser, report, width=width)
    box, table = browser.run("""const box = document.querySelector("#table .scroll");
      return [box.clientWidth, box.querySelector("table").offsetWidth]""")
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert width < 1280 or table <= box


def test_confusions_show_counts_and_the_diagonal(browser: Browser, comparison: Path, report: Path) -> None:
    opened(browser, report)
    texts, own, notes = browser.run("""const [mistakes, right] = document.getElementById("figure-confusion-row").data;
      return [mistakes.text, right.text, mistakes.customdata]""")
    order = browser.run("return data.confusions.layout.order")
    _, material = read_comparison(comparison)
    found = measured(material, next(row for row in material.rows if row.label == "semantic"))
    assert found is not None
    counts = found.confusion[order][:, order]
    for i in range(10):
        assert float(own[i][i]) == pytest.approx(float(counts[i, i]), abs=0.06)
        for j in range(10):
            assert (own[i][j] == "") == (i != j)
            assert i == j or float(texts[i][j]) == pytest.approx(float(counts[i, j]), abs=0.06)
    share = 100 * float(counts[0, 1] / counts[0].sum())
    assert notes[0][1][2] == f"{texts[0][1]} samples, {share:.1f} % of the class"


def test_a_class_of_the_legend_is_seen_alone(browser: Browser, report: Path) -> None:
    opened(browser, report)
    chips = "[...document.querySelectorAll('#projections-legend button')]"
    assert browser.run(f"return {chips}.length") == 10
    browser.run(f"{chips}[2].click()")
    y, opacity, colours = browser.run("""const { marker } = document.getElementById("figure-projection-row").data[0];
      return [data.projections.y, marker.opacity, marker.color]""")
    assert {k for k, shown in zip(y, opacity, strict=True) if shown > 0.5} == {2}
    assert browser.run(f"return {chips}[2].ariaPressed") == "true"
    # an order goes along a ramp, from blue to amber
    by_class = dict(zip(y, colours, strict=True))
    assert (by_class[0], by_class[9]) == ("rgb(61,68,184)", "rgb(224,160,32)")


def test_a_class_without_samples_is_a_dash_and_no_zero(browser: Browser, tmp_path: Path) -> None:
    folder = write_comparison(tmp_path / "absent", seeds=1, samples=4, classes=10)
    opened(browser, write_html(folder))
    absent = browser.run("return data.names.map((_, k) => k).filter((k) => !data.whatif.y.includes(k))")
    order = browser.run("return data.confusions.layout.order")
    rows, dashes, marks = browser.run("""const [heat, , marks] = document.getElementById("figure-confusion-row").data;
      return [heat.z, marks.y, marks.text]""")
    assert absent
    for k in absent:
        place = order.index(k)
        assert rows[place] == [None] * 10
        assert dashes.count(place) == 10
    assert set(marks) == {"–"}


def test_one_outlier_does_not_squeeze_the_others(browser: Browser, report: Path) -> None:
    browser.open(report)
    values = [0.2, 0.21, 0.24, 0.26, 0.22, 0.3, 0.28, 90.0]
    low, high = browser.run("return rangeOf(arguments[0])", values)
    assert low < 0.2
    assert 0.3 < high < 0.5
    note = browser.run("return beyondNote(arguments[0], arguments[1], palette())[0].text", values, [low, high])
    assert note == "▲ up to 90.0"
    assert browser.run("return beyondNote(arguments[0], arguments[1], palette())", values[:-1], [low, high]) == []
    # of colours: nineteen alike and one that is fifty times as large
    matrix = [[None if i == j else 0.02 for j in range(5)] for i in range(5)]
    matrix[1][3] = 1.0
    assert browser.run("return scaleOf(arguments[0], false, true)", matrix) == [0, 0.04, 1.0]

"""The page of a comparison of sequences: texts are shown, not executed, and nothing is said of costs."""

from pathlib import Path

import pytest

from labelspace.report import write_html
from report.browser import Browser
from small_results import of_texts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("texts")
    of_texts().write(place)
    return place


def test_texts_and_neighbours_stand_where_confusions_would(folder: Path) -> None:
    source = write_html(folder).read_text(encoding="utf-8")
    shown = source[source.index("<body>") : source.index('<script type="application/json"')]
    for text in ("Texts side by side", "Which tokens lie near each other", "nrefs:1|case:mixed", "±0.5 points"):
        assert text in shown
    for text in ("cost", "Confusion", "calibration", "Controls", "No sample of the data"):
        assert text not in shown
    assert "This file contains 2 texts from the data." in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "<script>" not in shown


def test_it_is_drawn_and_nothing_in_it_is_run(browser: Browser, folder: Path) -> None:
    browser.open(write_html(folder))
    browser.run('document.getElementById("open-all").click()')
    drawn = """return ["figure-quality", "figure-change"].every(
      (id) => document.getElementById(id).querySelector(".cartesianlayer .trace"))"""
    browser.until(drawn)
    assert browser.run("return [...document.querySelectorAll('dl.texts dd')].map((each) => each.textContent)")[:4] == [
        "a <script>alert(1)</script> dog",
        "ein Hund",
        "ein Hunt",
        "<b>ein Hund</b>",
    ]
    assert browser.run("return document.querySelectorAll('#neighbours tbody tr').length") == 1
    assert browser.run("return document.querySelectorAll('dl.texts script').length") == 0

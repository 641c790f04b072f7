"""Pages of comparisons in which every text is an attack: all is used in a real browser, and nothing happens."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hostile import pages
from labelspace.report import write_html, write_runs_html
from report.browser import Browser
from report.driver import Driver

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c6360000000020001e221bc330000000049454e44ae426082"
)
# everything a reader can read, and what stands in choices
SHOWN = """
const seen = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) if (!walker.currentNode.parentElement.closest("script")) seen.add(walker.currentNode.data);
return [...seen]"""
# elements that the template, its scripts and plotly never make, and attributes that would run something
FOREIGN = """
const kinds = "iframe, object, embed, base, form, foreignObject, svg script, body style, a[href]:not([href='#'])";
const handlers = [...document.querySelectorAll("*")].filter((part) =>
  [...part.attributes].some(({ name, value }) => 
    name.startsWith("on") || name === "srcdoc" || (/href|src|action/.test(name) && /^\\s*javascript:/i.test(value))));
return [...document.querySelectorAll(kinds), ...handlers].map((part) => part.outerHTML.slice(0, 200))"""


@pytest.fixture
def driver(browser: Browser, tmp_path: Path) -> Iterator[Driver]:
    made = Driver(browser, tmp_path)
    yield made
    made.leave()
    browser.messages()


def without_policy(page: Path) -> Path:
    """Take the second wall away, so that the first stands alone."""
    text, found = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text(encoding="utf-8"))
    assert found == 1
    page.write_text(text, encoding="utf-8")
    return page


def used(driver: Driver, page: Path, most: int, walk: bool, width: int = 1280) -> dict[str, int]:
    """Use everything on a page, and see that nothing happened."""
    driver.open(page, width=width)
    count = driver.use_everything(most, walk=walk)
    assert driver.seen() == []
    assert driver.browser.run(FOREIGN) == []
    assert driver.browser.run("return [Object.prototype, Array.prototype].flatMap((one) => Object.keys(one))") == []
    assert driver.browser.run("return document.documentElement.scrollWidth - innerWidth") <= 0
    return count


def test_nothing_is_executed_and_names_are_shown_as_written(driver: Driver, tmp_path: Path) -> None:
    folder = pages.write(tmp_path / "comparison", classes=10)
    page = write_html(folder, None, [(PIXEL, text) for text in pages.PAYLOADS])
    count = used(driver, page, most=1, walk=False)
    # what is to be used is found by the driver itself: it must not have missed whole kinds
    assert count["button"] >= 60
    assert count["select-one"] >= 40
    assert count["range"] == 18
    assert count["hover"] >= 40
    shown = set(driver.browser.run(SHOWN))
    assert [text for text in [*pages.texts(folder), *pages.PAYLOADS] if not any(text in part for part in shown)] == []
    assert any(pages.PAYLOADS[0] in text for text in driver.hovered)
    drawings = list(tmp_path.glob("*.svg"))
    assert drawings
    for drawing in drawings:
        assert_harmless(drawing)


def assert_harmless(drawing: Path) -> None:
    """A figure that was saved is a file of its own, which a browser would run scripts of."""
    for part in ElementTree.parse(drawing).iter():
        assert part.tag.rpartition("}")[2] not in ("script", "foreignObject", "iframe", "a"), drawing
        assert not [name for name in part.attrib if name.lower().startswith("on")], drawing


@pytest.mark.long
@pytest.mark.timeout(600)
def test_without_the_policy_nothing_is_executed_either(driver: Driver, tmp_path: Path) -> None:
    folder = pages.write(tmp_path / "comparison", first=4, classes=12)
    assert used(driver, without_policy(write_html(folder)), most=1, walk=True, width=400)["key"] >= 40
    shown = driver.browser.run(SHOWN)
    assert [text for text in pages.texts(folder) if not any(text in part for part in shown)] == []
    used(driver, without_policy(write_runs_html([folder / "runs"], tmp_path / "runs.html")), most=1, walk=False)


ATTACKS = {
    "<img src=x onerror=hit('img')>": "executed: img",
    "<button onclick=hit('pressed')>press</button>": "executed: pressed",
    "<select onchange=hit('chosen')><option>1<option>2</select>": "executed: chosen",
    "<input type=range oninput=hit('moved')>": "executed: moved",
    "<details ontoggle=hit('unfolded')><summary>more</summary></details>": "executed: unfolded",
    "<a href=\"javascript:hit('followed')\">follow</a>": "executed: followed",
    "<p tabindex=0 onfocus=hit('focused')>text</p>": "executed: focused",
    "<script>alert(1)</script>": "executed: alert",
    "<img src=http://127.0.0.1:9/picture>": "asked for http://127.0.0.1:9/picture",
    "<iframe src=http://127.0.0.1:9/frame></iframe>": "asked for http://127.0.0.1:9/frame",
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a page with a policy and without figures."""
    page = write_html(pages.write(tmp_path_factory.mktemp("bare") / "comparison", classes=4))
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"<script.*</script>", "", text, flags=re.DOTALL)
    page.write_text(re.sub(r"<main>.*</main>", "<main>HERE</main>", text, flags=re.DOTALL), encoding="utf-8")
    return page


def test_the_control_shows_that_all_of_this_would_be_seen(driver: Driver, bare: Path, tmp_path: Path) -> None:
    page = tmp_path / "control.html"
    page.write_text(bare.read_text(encoding="utf-8").replace("HERE", "<button>first</button>" + "".join(ATTACKS)))
    driver.open(page)
    driver.use_everything(most=1)
    behind = driver.seen()
    assert not [one for one in behind if one.startswith("executed")], "the policy lets a script of a name run"
    assert {one.split()[1] for one in behind if one.startswith("policy")} >= {
        "script-src-attr",
        "script-src-elem",
        "img-src",
    }
    driver.open(without_policy(page))
    driver.use_everything(most=1)
    found = driver.seen()
    assert [one for one in ATTACKS.values() if one not in found] == []
    assert len(driver.browser.run(FOREIGN)) >= 8


def test_figures_would_take_a_name_for_a_link(driver: Driver, tmp_path: Path) -> None:
    folder = pages.write_comparison(tmp_path / "comparison", 3, seeds=1, samples=40, names=["a", "b", "c"])
    record = folder / "comparison.json"
    record.write_text(
        record.read_text().replace('"label": "one-hot"', '"label": "<a href=\'http://127.0.0.1:9/link\'>press</a>"')
    )
    page = without_policy(write_html(folder))
    links = "return [...document.querySelectorAll('svg a')].map((link) => link.href.baseVal)"
    driver.open(page)
    assert driver.browser.run(links) == []
    # the control: the page's own guard taken out
    guard = 'return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");'
    text = page.read_text(encoding="utf-8")
    assert guard in text
    page.write_text(text.replace(guard, "return String(text);"), encoding="utf-8")
    driver.open(page)
    assert "http://127.0.0.1:9/link" in driver.browser.run(links)


def test_a_row_named_like_what_objects_inherit(driver: Driver, tmp_path: Path) -> None:
    # the sixth row is a control, which has no strengths on the page
    folder = pages.write(tmp_path / "comparison", pages.PAYLOADS.index("constructor") - 5, classes=4)
    driver.open(write_html(folder))
    choose = """for (const [id, value] of [["confusion-part", "validation"], ["confusion-row", arguments[0]]]) {
        document.getElementById(id).value = value;
        document.getElementById(id).dispatchEvent(new Event("input"));
      }
      return document.getElementById("confusion-strength-label").hidden"""
    methods = [row for row in pages.facts(folder)["rows"] if row["role"] == "method"]
    assert not driver.browser.run(choose, methods[0]["label"])
    assert driver.browser.run(choose, "constructor")
    assert driver.seen() == []

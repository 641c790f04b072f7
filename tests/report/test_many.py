"""What many comparisons found, as text, as Markdown and as a page: nothing too wide, and names that stay names."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from labelspace.comparison.many import summary_of
from labelspace.report.many import summary_markdown, summary_text, write_summary_html
from many_results import TABLE, several

THIN = "\N{NARROW NO-BREAK SPACE}"


def test_the_tables() -> None:
    lines = summary_text(summary_of(several()), 100, {"Report": "summary.html"}).splitlines()
    assert lines[0] == "3 datasets · 3 rows in all of them · cost: every mistake costs 1"
    row = next(line for line in lines if line.startswith("LLS"))
    cells = ["LLS", "1.67", "a", "2", "1", "0", f"−23{THIN}%", "[−65, +69]", "0.500", f"5.0{THIN}%"]
    assert re.split(" {2,}", row) == cells
    row = next(line for line in lines if line.startswith("apples"))
    assert re.split(" {2,}", row) == ["apples", "undecided", "uniform", "0.800", "LLS", "0.700", f"14{THIN}%"]
    assert lines[-1] == "Report    summary.html"


@pytest.mark.parametrize("width", [60, 70, 100])
def test_long_names_give_way_and_numbers_do_not(width: int) -> None:
    table = {f"{name} {'very ' * 12}long": costs for name, costs in TABLE.items()}
    text = summary_text(summary_of(several(table)), width)
    assert max(map(len, text.splitlines()[1:])) <= width
    for number in (f"−23{THIN}%", "[−65, +69]", "0.500", f"33{THIN}%"):
        assert number in text


def test_markdown() -> None:
    lines = summary_markdown(summary_of(several())).splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert [line.count("|") for line in table] == [11] * 5 + [8] * 5
    assert table[1].count("---:") == 8


class Seen(HTMLParser):
    """What a page holds."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


def test_a_page_of_hostile_names(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>"
    table = {
        f"{name}{data}": {label.replace("LLS", name): cost for label, cost in costs.items()}
        for data, costs in TABLE.items()
    }
    page = write_summary_html(summary_of(several(table)), tmp_path / "page.html")
    seen = Seen()
    seen.feed(page.read_text(encoding="utf-8"))
    assert "script" not in seen.tags
    assert seen.tags.count("polyline") == 3
    assert seen.tags.count("tr") == 2 + 6
    assert f"{name}apples" in seen.texts
    assert "default-src &#39;none&#39;" in page.read_text(encoding="utf-8")
    assert page.stat().st_size < 50_000

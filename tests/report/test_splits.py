"""What several splits found, as text, as Markdown and as a page."""

import re
from pathlib import Path

import numpy as np
import pytest

from labelspace.report.splits import splits_markdown, splits_text, write_splits_html
from split_results import COSTS, of_splits, summed_up

THIN = "\N{NARROW NO-BREAK SPACE}"


def test_the_tables() -> None:
    lines = splits_text(summed_up(), 100, {"Report": "report.html"}).splitlines()
    assert lines[0] == "stones · 5 splits · 4 rows in all of them · cost: every mistake costs 1"
    cells = re.split(" {2,}", next(line for line in lines if line.startswith("SVC")))
    change = np.mean(COSTS["SVC"]) / np.mean(COSTS["one-hot"]) - 1
    assert [*cells[:3], *cells[4:]] == ["SVC", "0.378", f"−{-100 * change:.0f}{THIN}%", "0.300", "0.420", "5"]
    row = next(line for line in lines if line.startswith("seed 0"))
    assert re.split(" {2,}", row) == ["seed 0", "undecided", "SVC", "0.420", "uniform", "0.400", f"5.0{THIN}%"]
    assert next(line for line in lines if line.startswith("CHEAPER")).startswith("CHEAPER   Over 5 splits uniform")
    assert lines[-1] == "Report    report.html"


@pytest.mark.parametrize("width", [60, 100])
def test_nothing_is_too_wide(width: int) -> None:
    text = splits_text(summed_up(), width)
    assert max(map(len, text.splitlines()[1:])) <= width


def test_what_each_split_chooses_has_a_line_where_it_differs() -> None:
    assert "the winner of each split" not in splits_text(summed_up())
    found, other = of_splits(), of_splits(winner="LLS", best="uniform")
    text = splits_text(summed_up({**found, "seed 2": other["seed 2"]}), 120)
    assert {"the winner of each split", "the recommendation of each"} <= {
        re.split(" {2,}", line)[0] for line in text.splitlines()
    }


def test_markdown() -> None:
    lines = splits_markdown(summed_up()).splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert [line.count("|") for line in table] == [8] * 6 + [8] * 7
    assert any(line.startswith("**CHEAPER** Over 5 splits") for line in lines)


def test_the_page(tmp_path: Path) -> None:
    page = write_splits_html(summed_up(), tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Over 5 splits uniform labels cost" in page
    assert "Mean ranks" not in page
    assert "runs/seed 8" in page

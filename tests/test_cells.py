"""Cells that a spreadsheet opens: no formulas, numbers stay numbers, and our own reader finds the names again."""

import csv
import io

import pytest

from labelspace._cells import guarded, names_in, unguarded
from labelspace.cli.label_views import cost_template
from labelspace.spec.prices import prices

NAMES = ["=1+1", "+cmd", "-x", "@SUM(A1)", "'=quoted", "'plain", "-1", "+2.5e3", "-inf", "a=b", "−1", "- 5 to 0"]


@pytest.mark.parametrize("name", [*NAMES, "\t=1", "\r=1", "=", "-", ""])
def test_no_formula_and_back(name: str) -> None:
    cell = guarded(name)
    assert cell[:1] not in "=+-@\t\r" or not cell or float(cell) == float(name)
    assert unguarded(cell, []) == name
    assert unguarded(name, [name]) == name


@pytest.mark.parametrize("form", ["matrix", "edited"])
def test_the_template_is_read_back(form: str, tmp_path) -> None:
    text = cost_template(NAMES)
    rows = list(csv.reader(io.StringIO(text)))
    for cell in [*rows[0], *(row[0] for row in rows)]:
        assert cell[0] not in "=+-@" or float(cell) is not None
    path = tmp_path / "prices.csv"
    path.write_text(text.replace(",1,", ",2,", 1) if form == "edited" else text, encoding="utf-8")
    found = prices(str(path), NAMES)
    assert list(found.names) == NAMES
    assert found.matrix[0].tolist() == [0.0, 2.0 if form == "edited" else 1.0] + [1.0] * (len(NAMES) - 2)


@pytest.mark.parametrize("text", ["a\rb", "a\nb,c", "x" * 200_000])
def test_names_that_are_no_list(text: str) -> None:
    with pytest.raises(ValueError, match="`classes` of labels must be names with commas between, in one line. Got"):
        names_in("labels", "classes", text)

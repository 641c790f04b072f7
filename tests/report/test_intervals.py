"""The figures of the first screen: changes in percent of a cost, or in points of a measure."""

import pytest

from labelspace.report.intervals import changes, qualities
from small_results import REFERENCE, of_texts, result


def test_changes_of_costs_are_drawn_in_percent() -> None:
    change = {"estimate": -0.25, "low": -0.3, "high": -0.2, "level": 0.95}
    found = changes(result(rows=[REFERENCE, {**REFERENCE, "label": "b", "role": "method", "change": change}]))
    assert found is not None
    assert (found["factor"], found["margin"], found["title"]) == (100, 0.05, "change in cost, left is cheaper")
    assert found["rows"] == [
        {
            **{"label": "b", "role": "method", "winner": False, "of": None, "strength": "–", "marked": False},
            **{"estimate": -0.25, "low": -0.3, "high": -0.2, "text": "−25\u202f%", "interval": "[−30, −20]"},
        }
    ]


def test_without_changes_there_is_nothing_to_draw() -> None:
    assert changes(result()) is None
    assert qualities(result()) is None


def test_of_sequences_points_are_drawn_as_they_are() -> None:
    found, quality = changes(of_texts()), qualities(of_texts())
    assert found is not None
    assert quality is not None
    assert (found["factor"], found["suffix"], found["margin"]) == (1, "", 0.5)
    assert found["title"] == "change in BLEU, right is better"
    rows = quality["rows"]
    assert isinstance(rows, list)
    assert [(row["text"], row["interval"]) for row in rows] == [("31.2", "[29.9, 32.6]"), ("31.9", "")]
    assert rows[0]["low"] == pytest.approx(29.9)
    assert quality["reference"] == ""  # no line at zero

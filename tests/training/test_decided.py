"""A decision by what it is, by its file, or by the folder that holds it."""

from pathlib import Path

import pytest

from labelspace.decisions.decision import Decision
from labelspace.records import CONFIG
from labelspace.training.decided import about, given, home

NAMES = ("a", "b")
DECISION = Decision("min_cost", 2.0, [[0, 1], [5, 0]], NAMES)


def test_a_comparison_is_its_best(tmp_path: Path) -> None:
    assert home(tmp_path) == tmp_path, "what holds nothing is said of the folder itself"
    (tmp_path / "best").mkdir()
    (tmp_path / "best" / CONFIG).write_text("{}")
    assert home(str(tmp_path)) == tmp_path / "best"
    (tmp_path / CONFIG).write_text("{}")
    assert home(tmp_path) == tmp_path, "a run is itself, whatever lies in it"


def test_a_decision_in_many_ways(tmp_path: Path) -> None:
    assert given(DECISION, NAMES) is DECISION
    path = DECISION.save(tmp_path / "decision.json")
    for place in (path, str(path), tmp_path, str(tmp_path)):
        assert given(place, NAMES).plain() == DECISION.plain()


def test_a_decision_that_is_not_there_or_about_others(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"`decision` of Run.decide must be.*There is no file .*nowhere.json\."):
        given(tmp_path / "nowhere.json", NAMES)
    with pytest.raises(ValueError, match=r"There is no file .*decision.json\."):
        given(tmp_path, NAMES)
    with pytest.raises(ValueError, match=r"the classes of the run, in its order. Got \['a', 'b'\] where the run has"):
        about(DECISION, ["b", "a"])

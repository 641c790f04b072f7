"""Which rows may be taken home, and which of their seeds."""

from types import SimpleNamespace
from typing import Any

from labelspace.comparison.judging import best_seed, candidates
from small_results import REFERENCE, result


def outcome(merits: list[float]) -> Any:
    return SimpleNamespace(merits=merits)


def test_of_its_seeds_the_best_on_validation_data() -> None:
    assert best_seed(outcome([31.5, 30.5])) == 0
    assert best_seed(outcome([-0.3, -0.1])) == 1


def test_controls_are_no_candidates() -> None:
    control = {**REFERENCE, "label": "b", "role": "control", "validation_cost": 0.1}
    assert candidates(result(rows=[{**REFERENCE, "validation_cost": 0.3}, control]).rows) == [0]

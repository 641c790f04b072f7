"""Which row and which seed are taken home."""

from types import SimpleNamespace
from typing import Any

from labelspace.comparison.judging import choose
from small_results import REFERENCE, of_texts, result


def trained(merits: list[float]) -> Any:
    return SimpleNamespace(outcome=SimpleNamespace(merits=merits))


def test_the_best_on_validation_data_and_of_its_seeds_the_best() -> None:
    runs = [trained([30.0, 31.0]), trained([31.5, 30.5])]
    assert choose(runs, of_texts().rows) == (1, 0)
    rows = [{**REFERENCE, "label": str(cost), "validation_cost": cost} for cost in (0.3, 0.2)]
    assert choose([trained([-0.3]), trained([-0.3, -0.1])], result(rows=rows).rows) == (1, 1)


def test_controls_are_no_candidates() -> None:
    control = {**REFERENCE, "label": "b", "role": "control", "validation_cost": 0.1}
    rows = result(rows=[{**REFERENCE, "validation_cost": 0.3}, control]).rows
    assert choose([trained([-0.3]), trained([-0.1])], rows) == (0, 0)

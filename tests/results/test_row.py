"""A row: what is said of it, and what it is chosen by."""

import math

from labelspace.results import Row
from small_results import REFERENCE, of_texts


def row(**facts: object) -> Row:
    return Row.model_validate({**REFERENCE, **facts})


def test_sentences_speak_of_labels_and_of_models() -> None:
    method, control = row(label="lls", method="lls"), row(label="x", of="semantic", role="control")
    assert (method.spoken, method.shown) == ("lls labels", "Lls labels")
    assert control.shown == "semantic with shuffled classes"
    assert row(label="mine").shown == "mine"


def test_the_headline_is_what_the_comparison_is_about() -> None:
    dear = {"cost": 2.0, "accuracy": 0.4}
    assert row(min_cost=dear).headline.cost == 2.0
    assert row().headline == row().argmax == row().under("argmax")
    assert row().under("min_cost") is None


def test_rows_are_chosen_by_cost_or_by_the_measure() -> None:
    assert row(validation_cost=0.2).merit == -0.2
    assert [each.merit for each in of_texts().rows] == [30.5, 31.0]
    assert row().merit == -math.inf

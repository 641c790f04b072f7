"""What helps most, on costs made by hand: decisions, classifier, labels, in the order of what they save."""

import pytest

from comparison.hand_made import row, table
from labelspace.comparison.headline import advice, costs, helps, worth
from labelspace.comparison.rows import Judged, against_reference, beside_reference

THIN = "\N{NARROW NO-BREAK SPACE}"


def said(*rows: Judged) -> str:
    return helps(against_reference(rows, 0.95, None), None, 0.95)


def order(text: str) -> list[str]:
    """Return what a sentence names, in its order."""
    return sorted((what for what in ("decisions", "the classifier", "labels (") if what in text), key=text.index)


def test_the_largest_saving_comes_first() -> None:
    # by argmax the reference costs twice as much: 4 → 2
    reference = row("one-hot", table(2.0, 0.1))
    text = said(reference, row("lls", table(1.5, 0.1, 1)))
    assert order(text) == ["decisions", "labels ("]
    assert text.startswith("What helps most: decisions (minimum cost instead of argmax: ")
    assert "may be chance" not in text
    little = {"argmax": {"cost": 2.1, "accuracy": 0.5}, "plain_costs": table(2.1, 0.1)}
    assert order(said(row("one-hot", table(2.0, 0.1), **little), row("lls", table(1.5, 0.1, 1)))) == [
        "labels (",
        "decisions",
    ]


def test_a_rival_is_compared_with_the_best_network() -> None:
    rows = [
        row("one-hot", table(2.0, 0.1), validation_cost=2.0),
        row("lls", table(1.9, 0.1, 1), validation_cost=1.9),
        row("forest", table(1.2, 0.1, 2), role="rival", method="", validation_cost=1.2),
        row("trees", table(1.0, 0.1, 3), role="rival", method="", validation_cost=1.3),
    ]
    text = said(*rows)
    assert order(text) == ["decisions", "the classifier", "labels ("]
    assert "the classifier (forest instead of the network with lls: " in text


def test_what_does_not_help_is_told_last_and_chance_is_called_that() -> None:
    text = said(row("one-hot", table(2.0, 0.1)), row("lls", table(2.2, 0.1, 1)))
    assert "; not labels (lls instead of one-hot: " in text
    text = said(row("one-hot", table(2.0, 3.0)), row("lls", table(1.99, 3.0, 7)))
    assert ", may be chance)" in text.partition("labels (")[2]


def test_nothing_to_choose_between_is_not_told() -> None:
    assert said(row("one-hot", table(2.0, 0.1), min_cost=None), row("lls", table(1.5, 0.1, 1), min_cost=None)) == ""


def test_money_for_many_samples() -> None:
    reference = row("one-hot", table(0.5), argmax={"cost": 0.556, "accuracy": 0.5})
    best = row("lls", table(0.413))
    told = (
        "Per 10,000 samples: 4,130 instead of 5,560 (lls with minimum-cost decisions; one-hot with argmax);"
        " one-hot with minimum-cost decisions, which train nothing more: 5,000."
    )
    assert worth(best, reference) == told
    assert "5,000 instead of 5,560 (one-hot with minimum-cost decisions; one-hot with argmax)" in worth(
        reference, reference
    )


def test_mistakes_that_all_cost_the_same_are_counted() -> None:
    plain = {"min_cost": None}
    reference = row("one-hot", table(0.5), argmax={"cost": 0.05, "accuracy": 0.95}, **plain)
    best = row("lls", table(0.5), argmax={"cost": 0.004, "accuracy": 0.996}, **plain)
    assert worth(best, reference) == "Per 10,000 samples: 40.0 mistakes instead of 500 (lls; one-hot)."
    assert worth(reference, reference) == ""


@pytest.mark.parametrize(("value", "text"), [(0.5561, "0.556"), (12.3, "12.3"), (0.0, "0.00")])
def test_costs_keep_three_digits(value: float, text: str) -> None:
    assert costs(value) == [text]


def advised(best: int, *rows: Judged) -> str:
    return advice(against_reference(rows, 0.95, None), best, None, 0.95)


def test_what_to_take_and_what_saves_nothing_on_top() -> None:
    reference, labels = row("one-hot", table(2.0, 0.1)), row("lls", table(1.9, 0.1, 1))
    rival = row("forest", table(1.2, 0.1, 2), role="rival")
    assert advised(2, reference, labels, rival) == (
        "Take forest with minimum-cost decisions: 1.20 per sample. Better labels save nothing on top (lls: 1.90);"
        f" the decisions save 50{THIN}% of what argmax costs (2.40). The verdict is about lls labels against one-hot"
        " labels, this choice about all rows."
    )


def test_labels_that_are_taken() -> None:
    reference, rival = row("one-hot", table(2.0, 0.1)), row("forest", table(2.4, 0.1, 2), role="rival")
    text = advised(1, reference, row("lls", table(1.0, 0.1, 1)), rival)
    assert text.startswith("Take lls labels with minimum-cost decisions: 1.00 per sample. The labels save 50")
    assert "against one-hot labels; no rival costs less (forest: 2.40); the decisions" in text
    assert "verdict" not in text  # which is about the same labels
    text = advised(1, row("one-hot", table(2.0, 3.0)), row("lls", table(1.99, 3.0, 7)))
    assert "That this costs less than one-hot labels (" in text
    assert ") is not shown; " in text


def test_what_validation_data_did_not_show_is_told() -> None:
    reference, labels = row("one-hot", table(2.0, 0.1)), row("lls", table(1.5, 0.1, 1))
    text = advised(0, reference, labels)
    assert f"On test data it is dearer than lls (1.50), beyond chance: +33{THIN}% [+32, +34], which valid" in text
    assert text.endswith("(4.00). The verdict is about lls labels against one-hot labels, this choice about all rows.")
    assert text.count("lls") == 2
    one = row("2 × lls", table(1.2, 0.1, 2, seeds=1), role="ensemble", of="lls", control=None)
    rows = against_reference([reference, labels], 0.95, None)
    text = advice([*rows, *beside_reference([one], reference, 0.95, None)], 0, None, 0.95)  # beside the mean of six
    assert "On test data it is dearer than 2 × lls (1.19), beyond chance: +6" in text
    assert "on test data lls costs less (1.50), which validation data did not show" in text


def test_the_cheapest_by_chance_is_called_that() -> None:
    reference = row("one-hot", table(2.0, 3.0))
    text = advised(0, reference, row("lls", table(2.2, 3.0, 1)), row("forest", table(1.9, 3.0, 3), role="rival"))
    assert "; on test data" not in text
    assert "On test data forest costs less (" in text
    assert "), which may be chance; " in text
    assert "beyond chance" not in text
    # what cannot be told apart in print is not told
    assert "On test data" not in advised(0, reference, row("lls", table(2.0, 3.0) - 1e-6))


def test_decisions_that_save_nothing() -> None:
    costs = table(2.0, 0.1)
    same = {"argmax": {"cost": 2.0, "accuracy": 0.5}, "plain_costs": costs}
    text = advised(0, row("one-hot", costs, **same), row("lls", table(2.5, 0.1, 1)))
    assert text.endswith("; that these decisions cost less than argmax (2.00) is not shown.")


def test_mistakes_that_cost_the_same_and_models_from_elsewhere() -> None:
    plain = {"min_cost": None, "argmax": {"cost": 0.05, "accuracy": 0.95}}
    models = [
        row("first", table(0.05), role="reference", method="", **plain),
        row("second", table(0.06), method="", **plain),
    ]
    assert (
        advised(0, *models)
        == "Take first: 0.0500 mistakes per sample. Another model saves nothing on top (second: 0.0500)."
    )

"""Accuracy after each epoch, and the risk of deciding the surest samples."""

from itertools import permutations

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from labelspace.metrics import (
    accuracy,
    accuracy_curve_area,
    epochs_saved,
    expected_cost,
    risk_coverage_area,
    risk_coverage_curve,
)


def test_the_published_area_is_the_mean_of_the_curve():
    # (0.2 + 0.6 + 0.8 + 0.8) / 4
    assert accuracy_curve_area([0.2, 0.6, 0.8, 0.8]) == pytest.approx(0.6)
    assert accuracy_curve_area([0.2, 0.6, 0.8, 0.8], form="mean") == pytest.approx(0.6)
    curve = np.random.default_rng(0).uniform(size=20)
    assert accuracy_curve_area(curve) == pytest.approx(np.mean(curve), abs=1e-12)


def test_area_by_trapezoids_by_hand():
    # 0.2, 0.6, 0.8: trapezoids 0.4 and 0.7 over two steps
    assert accuracy_curve_area([0.2, 0.6, 0.8], form="trapezoid") == pytest.approx(0.55)
    curve = np.random.default_rng(0).uniform(size=30)
    assert accuracy_curve_area(curve, form="trapezoid") == pytest.approx(np.trapezoid(curve) / 29, abs=1e-12)


@pytest.mark.parametrize("form", ["mean", "trapezoid"])
def test_a_flat_curve_and_a_single_epoch_are_their_own_area(form: str):
    assert accuracy_curve_area([0.4], form=form) == pytest.approx(0.4)
    assert accuracy_curve_area([80.0, 80.0, 80.0], form=form) == pytest.approx(80)


def test_epochs_saved_counts_against_the_budget():
    # the reference is best, 0.8, in its 4th of 5 epochs; the curve gets there in its 2nd
    reference = [0.5, 0.6, 0.7, 0.8, 0.75]
    assert epochs_saved([0.7, 0.8, 0.9], reference) == pytest.approx(60)  # 3 of 5
    assert epochs_saved([0.7, 0.8, 0.9], reference, against="best") == pytest.approx(50)  # 2 of 4
    assert epochs_saved([0.7, 0.8, 0.9], reference, budget=20) == pytest.approx(90)  # 18 of 20
    # the reference itself: one epoch of five is left when it is best
    assert epochs_saved(reference, reference) == pytest.approx(20)
    assert epochs_saved(reference, reference, against="best") == 0
    # late: 6th epoch
    assert epochs_saved([0, 0, 0, 0, 0, 0.9], reference) == pytest.approx(-20)
    assert epochs_saved([0, 0, 0, 0, 0, 0.9], reference, against="best") == pytest.approx(-50)
    assert epochs_saved([0.7, 0.79], reference) is None
    assert epochs_saved([0.7, 0.79], reference, against="best") is None


@pytest.mark.parametrize(("budget", "step"), [(10, 10), (20, 5)])
def test_the_steps_are_those_of_table_1(budget: int, step: int):
    reference = np.linspace(0.1, 0.9, budget)
    for first in range(budget):
        curve = np.where(np.arange(budget) < first, 0.0, 0.95)
        assert epochs_saved(curve, reference) == pytest.approx(100 - step * (first + 1))
        # where the reference peaks in its third epoch, the published step stays what it is
        early = np.where(np.arange(budget) == 2, 0.9, 0.1)
        assert epochs_saved(curve, early) == pytest.approx(100 - step * (first + 1))


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="`curve` of epochs_saved must be finite. Got nan at position 1"):
        epochs_saved([0.5, float("nan")], [0.5])
    with pytest.raises(ValueError, match=r"`accuracies` of accuracy_curve_area must be of shape \(N,\), N ≥ 1"):
        accuracy_curve_area([])
    with pytest.raises(ValueError, match="`budget` of epochs_saved must be a whole number of at least 1"):
        epochs_saved([0.5], [0.5], budget=0)
    with pytest.raises(ValueError, match="`budget` of epochs_saved must be left out with against='best'. Got 3"):
        epochs_saved([0.5], [0.5], against="best", budget=3)
    with pytest.raises(ValueError, match="`against` of epochs_saved must be one of 'budget', 'best'"):
        epochs_saved([0.5], [0.5], against="reference")
    with pytest.raises(ValueError, match="`form` of accuracy_curve_area must be one of 'mean', 'trapezoid'"):
        accuracy_curve_area([0.5], form="sum")


def plain_area(confidence, risk):
    """Return the mean of the running mean risks, as the formula says."""
    order = sorted(range(len(risk)), key=lambda i: -confidence[i])
    return np.mean([np.mean([risk[j] for j in order[: i + 1]]) for i in range(len(risk))])


def test_risk_and_coverage_by_hand():
    # Probabilities of three classes for y = 0, 1, 2: confidences 0.8 (right), 0.5 (wrong), 0.6 (right).
    # Surest first: risks 0, 0, 1; running means 0, 0, 1/3; area 1/9.
    p = torch.tensor([[0.8, 0.1, 0.1], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    confidence, risk = p.amax(dim=1), 1 - accuracy(p, [0, 1, 2], per_sample=True)
    curve = risk_coverage_curve(confidence, risk)
    assert_close(curve.coverage, torch.tensor([1 / 3, 2 / 3, 1.0], dtype=torch.float64))
    assert_close(curve.risk, torch.tensor([0, 0, 1 / 3], dtype=torch.float64))
    assert risk_coverage_area(confidence, risk) == pytest.approx(1 / 9)
    # the same with prices: the mistake (1 called 0) costs 3
    paid = expected_cost(p, [0, 1, 2], [[0, 1, 2], [3, 0, 1], [1, 1, 0]], per_sample=True)
    assert risk_coverage_area(confidence, paid) == pytest.approx(1 / 3)


def test_area_equals_the_formula():
    random = np.random.default_rng(0)
    confidence, risk = random.normal(size=100), random.exponential(size=100)
    assert risk_coverage_area(confidence, risk) == pytest.approx(plain_area(confidence, risk), abs=1e-12)


def test_equals_have_no_order():
    confidence, risk = [0.9, 0.5, 0.5, 0.5, 0.1], [0, 1, 0, 4, 2]
    over_all = np.mean([plain_area(confidence, [0, *middle, 2]) for middle in permutations([1, 0, 4])])
    assert risk_coverage_area(confidence, risk) == pytest.approx(over_all)
    assert risk_coverage_area(confidence, [0, 4, 1, 0, 2]) == pytest.approx(over_all)
    # confidence that says nothing: the overall risk
    assert risk_coverage_area([1, 1, 1, 1], [0, 1, 0, 1]) == pytest.approx(0.5)
    assert risk_coverage_area([0.3], [True]) == 1.0


def test_bad_risks_are_refused():
    with pytest.raises(ValueError, match=r"`risk` of risk_coverage_area must be of shape \(2,\). Got shape \(3,\)"):
        risk_coverage_area([0.1, 0.2], [0, 1, 0])
    with pytest.raises(ValueError, match=r"`risk` of risk_coverage_curve must be of shape \(2,\). Got shape \(3,\)"):
        risk_coverage_curve([0.1, 0.2], [0, 1, 0])
    with pytest.raises(ValueError, match="`confidence` of .* must be finite. Got nan at position 1"):
        risk_coverage_area([0.1, float("nan")], [0, 1])
    with pytest.raises(ValueError, match=r"of shape \(N,\), N ≥ 1. Got shape \(0,\)"):
        risk_coverage_area([], [])

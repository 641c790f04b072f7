"""Learning curves."""

import numpy as np
import pytest

from labelspace.metrics import accuracy_curve_area, epochs_saved


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

"""Learning curves."""

import numpy as np
import pytest

from labelspace.metrics import accuracy_curve_area, epochs_saved


def test_area_by_hand():
    # 0.2, 0.6, 0.8: trapezoids 0.4 and 0.7 over two steps
    assert accuracy_curve_area([0.2, 0.6, 0.8]) == pytest.approx(0.55)
    assert accuracy_curve_area([0.4]) == pytest.approx(0.4)
    assert accuracy_curve_area([80.0, 80.0, 80.0]) == pytest.approx(80)


def test_area_equals_numpy():
    curve = np.random.default_rng(0).uniform(size=30)
    assert accuracy_curve_area(curve) == pytest.approx(np.trapezoid(curve) / 29, abs=1e-12)


def test_epochs_saved_by_hand():
    # the reference is best, 0.8, in its 4th of 5 epochs; the curve gets there in its 2nd: half of 4, 60 % of 5
    reference = [0.5, 0.6, 0.7, 0.8, 0.75]
    assert epochs_saved([0.7, 0.8, 0.9], reference) == pytest.approx(50)
    assert epochs_saved([0.7, 0.8, 0.9], reference, budget=len(reference)) == pytest.approx(60)
    # late: 6th instead of 4th
    assert epochs_saved([0, 0, 0, 0, 0, 0.9], reference) == pytest.approx(-50)
    assert epochs_saved(reference, reference) == 0
    assert epochs_saved([0.7, 0.79], reference) is None


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="`curve` of epochs_saved must be finite. Got nan at position 1"):
        epochs_saved([0.5, float("nan")], [0.5])
    with pytest.raises(ValueError, match=r"`accuracies` of accuracy_curve_area must be of shape \(N,\), N ≥ 1"):
        accuracy_curve_area([])
    with pytest.raises(ValueError, match="`budget` of epochs_saved must be a whole number of at least 1"):
        epochs_saved([0.5], [0.5], budget=0)

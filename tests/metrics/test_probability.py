"""Probabilities: likelihood, Brier score and calibration, against scikit-learn and torchmetrics, and by hand."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss
from torch.testing import assert_close

from labelspace.metrics import brier, calibration_error, class_calibration_error, nll

# By hand, three classes:
P = [[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.6, 0.1, 0.3]]
Y = [0, 2, 0]


def random_case(seed=0, samples=400, classes=5):
    random = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), random.integers(0, classes, samples - classes)])
    return torch.tensor(random.dirichlet(np.ones(classes), samples)), torch.tensor(y)


def test_nll_by_hand():
    # −(log 0.7 + log 0.2 + log 0.6)/3
    assert nll(P, Y) == pytest.approx(-(math.log(0.7) + math.log(0.2) + math.log(0.6)) / 3)
    expected = -torch.tensor([0.7, 0.2, 0.6], dtype=torch.float64).log()
    assert_close(nll(P, Y, per_sample=True), expected)


def test_brier_by_hand():
    # 0.09 + 0.04 + 0.01 = 0.14; 0.09 + 0.25 + 0.64 = 0.98; 0.16 + 0.01 + 0.09 = 0.26
    assert_close(brier(P, Y, per_sample=True), torch.tensor([0.14, 0.98, 0.26], dtype=torch.float64))
    assert brier(P, Y) == pytest.approx(1.38 / 3)


def test_calibration_error_by_hand():
    # Two bins: confidences 0.7, 0.5 (at the edge, so below), 0.6. The lower holds the second sample, wrong: 0.5.
    # The upper holds the first and third, both right, mean confidence 0.65: 0.35. Together 0.5/3 + 0.35·2/3.
    assert calibration_error(P, Y, bins=2) == pytest.approx(0.5 / 3 + 0.35 * 2 / 3)
    # one bin: |2/3 − 1.8/3|
    assert calibration_error(P, Y, bins=1) == pytest.approx(0.2 / 3)


def test_class_calibration_error_by_hand():
    # one bin: mean probabilities (1.6, 0.8, 0.6)/3 beside shares (2, 0, 1)/3: 0.4/3, 0.8/3, 0.4/3
    with pytest.warns(UserWarning, match="class_calibration_error: `y` has no sample of class 1; any probability"):
        found = class_calibration_error(P, Y, bins=1, per_class=True)
    assert_close(found, torch.tensor([0.4 / 3, 0.8 / 3, 0.4 / 3], dtype=torch.float64))
    # two bins: class 0: the upper (0.7, 0.6) both right, 0.7; the lower (0.3) is not class 0, 0.3: 1.0/3.
    # class 1: all in the lower (0.2, 0.5, 0.1): 0.8/3. class 2: all in the lower (0.1, 0.2, 0.3), one is: 0.4/3
    with pytest.warns(UserWarning, match="no sample of class 1"):
        assert class_calibration_error(P, Y, bins=2) == pytest.approx((1.0 + 0.8 + 0.4) / 9)


def test_likelihood_and_brier_equal_scikit_learn():
    p, y = random_case(1)
    assert nll(p, y) == pytest.approx(log_loss(y, p), abs=1e-9)
    assert brier(p, y) == pytest.approx(brier_score_loss(y, p), abs=1e-12)
    assert nll(p.float(), y) == pytest.approx(log_loss(y, p), abs=1e-5)


@pytest.mark.parametrize("bins", [1, 7, 15])
def test_calibration_error_equals_torchmetrics(bins):
    functional = pytest.importorskip("torchmetrics.functional.classification")
    p, y = random_case(2)
    theirs = functional.multiclass_calibration_error(p, y, num_classes=5, n_bins=bins, norm="l1").item()
    assert calibration_error(p, y, bins) == pytest.approx(theirs, abs=1e-6)
    binary = functional.binary_calibration_error
    columns = [binary(p[:, k].contiguous(), (y == k).long(), n_bins=bins, norm="l1").item() for k in range(5)]
    assert class_calibration_error(p, y, bins) == pytest.approx(np.mean(columns), abs=1e-6)


@given(seed=st.integers(0, 100_000), bins=st.integers(1, 20))
def test_calibration_errors_equal_the_formula_written_out(seed, bins):
    p, y = random_case(seed, samples=40, classes=3)
    confidence, predicted = p.max(dim=1)
    right = (predicted == y).double()

    def written_out(said, happened):
        total = 0.0
        for b in range(bins):
            inside = (said > b / bins) & (said <= (b + 1) / bins) if b else said <= 1 / bins
            if inside.any():
                gap = abs(happened[inside].mean() - said[inside].mean()).item()
                total += inside.double().mean().item() * gap
        return total

    assert calibration_error(p, y, bins) == pytest.approx(written_out(confidence, right), abs=1e-9)
    columns = [written_out(p[:, k], (y == k).double()) for k in range(3)]
    assert class_calibration_error(p, y, bins) == pytest.approx(np.mean(columns), abs=1e-9)


def test_certain_predictions():
    one_hot = torch.eye(3)[[0, 1, 2, 0]]
    y = torch.tensor([0, 1, 2, 0])
    assert (nll(one_hot, y), brier(one_hot, y), calibration_error(one_hot, y)) == (0.0, 0.0, 0.0)
    assert math.copysign(1, nll(one_hot, y)) == 1
    wrong = torch.tensor([1, 2, 0, 1])
    assert (brier(one_hot, wrong), calibration_error(one_hot, wrong)) == (2.0, 1.0)
    # a probability of zero is a large number, not infinity
    assert nll(one_hot, wrong) == pytest.approx(87.34, abs=0.01)
    assert nll(one_hot.double(), wrong) == pytest.approx(708.4, abs=0.1)
    assert nll(one_hot.long(), wrong) == pytest.approx(708.4, abs=0.1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_probabilities_are_accepted(dtype):
    p = torch.softmax(torch.randn(200, 1000, generator=torch.Generator().manual_seed(0)) * 3, dim=1)
    y = p.argmax(dim=1)
    assert nll(p.to(dtype), y) == pytest.approx(nll(p, y), rel=1e-2)


@pytest.mark.parametrize("metric", [nll, brier, calibration_error, class_calibration_error])
def test_bad_input_is_refused(metric):
    name = metric.__name__
    with pytest.raises(
        ValueError, match=rf"`probabilities` of {name} must be .* sum to 1. Got 2 in row 1. Turn scores"
    ):
        metric([[0.5, 0.5], [1.0, 1.0]], [0, 1])
    with pytest.raises(ValueError, match="must be finite. Got nan at row 0, column 1"):
        metric([[0.5, math.nan]], [0])
    with pytest.raises(ValueError, match=r"`y` of .* must be of shape \(1,\), one per sample. Got shape \(2,\)"):
        metric([[0.5, 0.5]], [0, 1])
    with pytest.raises(ValueError, match="class indices from 0 to 1. Got 2 at position 0"):
        metric([[0.5, 0.5]], [2])
    with pytest.raises(ValueError, match="at least one sample"):
        metric(torch.zeros(0, 3), torch.zeros(0, dtype=torch.long))


@pytest.mark.parametrize("metric", [calibration_error, class_calibration_error])
def test_at_least_one_bin(metric):
    with pytest.raises(ValueError, match="`bins` of .* must be a whole number of at least 1. Got 0"):
        metric([[0.5, 0.5]], [0], bins=0)

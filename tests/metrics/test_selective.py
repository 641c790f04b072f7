"""Risk and coverage: by hand, and against the average over all orders of equals."""

from itertools import permutations

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from labelspace.metrics import accuracy, expected_cost, risk_coverage_area, risk_coverage_curve


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


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"`risk` of risk_coverage_area must be of shape \(2,\). Got shape \(3,\)"):
        risk_coverage_area([0.1, 0.2], [0, 1, 0])
    with pytest.raises(ValueError, match=r"`risk` of risk_coverage_curve must be of shape \(2,\). Got shape \(3,\)"):
        risk_coverage_curve([0.1, 0.2], [0, 1, 0])
    with pytest.raises(ValueError, match="`confidence` of .* must be finite. Got nan at position 1"):
        risk_coverage_area([0.1, float("nan")], [0, 1])
    with pytest.raises(ValueError, match=r"of shape \(N,\), N ≥ 1. Got shape \(0,\)"):
        risk_coverage_area([], [])

"""Other class frequencies: the formula by hand, and expectation–maximisation beside a loop."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch.testing import assert_close

from labelspace import InputError
from labelspace.decisions.prior import checked_frequencies, class_frequencies, corrected, factors, settled_prior, shares

NAMES = ("a", "b", "c")


def test_the_formula_by_hand():
    # p = (0.2, 0.3, 0.5), ratios 2, 1 and 1/2: (0.4, 0.3, 0.25) / 0.95
    old, new = torch.tensor([0.25, 0.25, 0.5]).double(), torch.tensor([0.5, 0.25, 0.25]).double()
    found = corrected(torch.tensor([[0.2, 0.3, 0.5]]).double(), factors(new, old), new)
    assert_close(found, torch.tensor([[0.4, 0.3, 0.25]]).double() / 0.95)


def test_a_class_that_is_not_to_come_gets_nothing():
    old, new = torch.full((3,), 1 / 3).double(), torch.tensor([0.0, 0.4, 0.6]).double()
    rows = torch.tensor([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]]).double()
    found = corrected(rows, factors(new, old), new)
    assert_close(found, torch.tensor([[0.0, 0.4, 0.6], [0.0, 0.4, 0.6]]).double())


def test_frequencies_count_and_leave_no_class_impossible():
    assert_close(class_frequencies(torch.tensor([2, 2, 0, 1]), 3), torch.tensor([0.25, 0.25, 0.5]).double())
    assert_close(class_frequencies(torch.tensor([2, 2, 0]), 3), torch.tensor([2, 1, 3]).double() / 6)


def test_expectation_and_maximisation_beside_a_loop():
    random = np.random.default_rng(0)
    p, old = random.dirichlet([0.3, 0.5, 0.9], 200), np.array([0.2, 0.3, 0.5])
    new = old.copy()
    for _ in range(10_000):
        posterior = np.empty_like(p)
        for row in range(len(p)):
            weighed = [p[row, k] * new[k] / old[k] for k in range(3)]
            posterior[row] = np.array(weighed) / sum(weighed)
        before, new = new, posterior.mean(axis=0)
        if np.abs(new - before).max() < 1e-9:
            break
    assert np.abs(new - old).max() > 0.02  # it has somewhere to go
    np.testing.assert_allclose(settled_prior(torch.tensor(p), torch.tensor(old)).numpy(), new, atol=1e-5)


def test_it_finds_the_frequencies_of_other_samples():
    random = np.random.default_rng(1)
    y = random.choice(3, p=[0.7, 0.2, 0.1], size=2000)
    x = y + random.normal(0, 0.3, len(y))
    likelihood = np.exp(-0.5 * ((x[:, None] - np.arange(3)) / 0.3) ** 2)
    p = likelihood / likelihood.sum(axis=1, keepdims=True)  # the posterior for classes that come equally often
    found = settled_prior(torch.tensor(p), torch.full((3,), 1 / 3).double()).numpy()

    def unlikely(free: NDArray[np.float64]) -> float:
        powers = np.exp([*free, 0.0])
        return float(-np.log(likelihood @ powers / powers.sum()).mean())

    powers = np.exp([*minimize(unlikely, [0.0, 0.0], method="BFGS", options={"gtol": 1e-8}).x, 0.0])
    np.testing.assert_allclose(found, powers / powers.sum(), atol=1e-5)
    np.testing.assert_allclose(found, np.bincount(y) / len(y), atol=0.02)  # which is 0.7, 0.2, 0.1


def test_names_or_an_order():
    given = {"c": 0.5, "a": 0.2, "b": 0.3}
    assert_close(shares("Decision", "prior", given, NAMES), shares("Decision", "prior", [0.2, 0.3, 0.5], NAMES))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ([0.2, 0.3, 0.5], [0.2, 0.3], r"`prior` of Decision must be of shape \(3,\)"),
        ([0.2, 0.3, 0.5], [0.2, 0.3, 0.6], "`prior` of Decision must be frequencies that sum to 1. Got 1.1"),
        ([0.2, 0.3, 0.5], [-0.2, 0.7, 0.5], "`prior` of Decision must be 0 or more. Got -0.2 for 'a'"),
        ([0.2, 0.3, 0.5], [float("nan"), 0.7, 0.5], "`prior` of Decision must be finite"),
        ([0.2, 0.3, 0.5], {"a": 0.5, "b": 0.5}, "`prior` of Decision must be given for every class"),
        ([0.2, 0.3, 0.5], {"a": 0.5, "b": 0.4, "d": 0.1}, "`prior` of Decision"),
        ([0.0, 0.5, 0.5], [0.2, 0.3, 0.5], "`prior` of Decision must be 0 for a class that never occurred"),
        (None, [0.2, 0.3, 0.5], "`frequencies` of Decision must be known beside a prior"),
    ],
)
def test_bad_frequencies_get_one_sentence(old, new, words):
    with pytest.raises(InputError, match=words):
        checked_frequencies("Decision", old, new, NAMES)

"""Ranks, changes and tests over datasets, beside scipy and numbers worked by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from labelspace.comparison.ranks import cliques, critical_difference, letters, mean_change, ranked, signed_ranks


def test_mean_ranks_and_friedman() -> None:
    costs = np.random.default_rng(0).integers(1, 6, (14, 4)).astype(float)  # with many ties
    found = ranked(costs, 0.9)
    # the place of each row by counting: those below it, and half of those that tie with it
    below = (costs[:, None, :] < costs[:, :, None]).sum(axis=2)
    equal = (costs[:, None, :] == costs[:, :, None]).sum(axis=2)
    assert found.ranks == pytest.approx((below + (equal + 1) / 2).mean(axis=0))
    assert found.friedman == pytest.approx(stats.friedmanchisquare(*costs.T).pvalue)
    assert found.difference == pytest.approx(2.291 * math.sqrt(4 * 5 / (6 * 14)), abs=1e-3)


@pytest.mark.parametrize(("rows", "quantile"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_the_quantiles_of_the_paper(rows: int, quantile: float) -> None:
    found = critical_difference(rows, 12) / math.sqrt(rows * (rows + 1) / 72)
    assert found == pytest.approx(quantile, abs=1e-3)


def test_two_rows_have_no_test_of_ranks() -> None:
    assert ranked(np.array([[1.0, 2.0], [2.0, 1.0]]), 0.95) == ((1.5, 1.5), None, None)


def test_rows_that_never_differ() -> None:
    assert ranked(np.ones((3, 3)), 0.95)[:2] == ((2.0, 2.0, 2.0), 1.0)


def test_what_is_not_told_apart() -> None:
    assert cliques([1.0, 2.0, 3.0], 5.0) == [(0, 2)]
    assert cliques([1.0, 2.0, 3.0], 0.5) == []
    assert letters([1.0, 2.0, 3.0], 0.5) == ["a", "b", "c"]
    assert letters([1.0, 1.4, 1.8, 3.0], 0.5) == ["a", "ab", "b", "c"]


def test_the_mean_change_is_that_of_logarithms() -> None:
    before, after = np.array([1.0, 2.0, 0.5, 3.0]), np.array([0.7, 2.2, 0.3, 2.9])
    found = mean_change(before.tolist(), after.tolist(), 0.9)
    ratios = np.log(after / before)
    wanted = stats.ttest_1samp(ratios, 0).confidence_interval(0.9)
    assert found is not None
    assert found.estimate == pytest.approx(math.exp(ratios.mean()) - 1)
    assert (found.low, found.high) == pytest.approx((math.exp(wanted.low) - 1, math.exp(wanted.high) - 1))
    assert found.datasets == 4


def test_costs_of_nothing_have_no_ratio() -> None:
    found = mean_change([0.0, 1.0], [1.0, 0.5], 0.95)
    assert found is not None
    assert (found.estimate, found.low, found.high, found.datasets) == (-0.5, None, None, 1)
    assert mean_change([0.0, -1.0], [1.0, 1.0], 0.95) is None


def test_signed_ranks_are_those_of_scipy() -> None:
    generator = np.random.default_rng(0)
    for count in range(2, 12):
        values = generator.normal(0.3, 1, count)
        wanted = stats.wilcoxon(values, method="exact").pvalue
        assert signed_ranks(values.tolist()) == pytest.approx(wanted), count


def test_signed_ranks_with_ties_and_zeros_by_hand() -> None:
    # without the zero, ranks 1.5, 1.5 and 3: of 8 patterns those of all signs alike are as extreme
    assert signed_ranks([0.0, 1.0, 1.0, 2.0]) == 0.25
    # |1.5 − 1.5 + 3| = 3 is reached unless the signs of both small ones oppose the large one
    assert signed_ranks([1.0, -1.0, 2.0]) == 0.75
    assert signed_ranks([0.0, 0.0]) == 1.0

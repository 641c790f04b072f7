"""The interval of a ratio of means: Fieller's formula written out, and where there is no end."""

import numpy as np
import pytest
from scipy import stats

from labelspace.metrics.fieller import RatioTest


def fieller(a: np.ndarray, b: np.ndarray, level: float) -> tuple[float, float]:
    """Return the roots of ``(ā − θ·b̄)² = t²·(s_aa − 2θ·s_ab + θ²·s_bb)/n``."""
    n = len(a)
    t = stats.t.ppf((1 + level) / 2, n - 1)
    (aa, ab), (_, bb) = t**2 * np.cov(a, b) / n
    low, high = sorted(np.roots([b.mean() ** 2 - bb, -2 * (a.mean() * b.mean() - ab), a.mean() ** 2 - aa]).real)
    return float(low), float(high)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_one_axis_is_fiellers_formula(level: float) -> None:
    random = np.random.default_rng(0)
    a, b = random.exponential(size=30), random.exponential(size=30) + 0.5
    # seeds that are alike add nothing, so that samples are all there is
    test = RatioTest(np.tile(a, (3, 1)), np.tile(b, (3, 1)))
    found = test.accepted(float(a.mean() / b.mean()), 1.0, level, None)
    assert found == pytest.approx(fieller(a, b, level))


def test_the_least_that_is_possible_is_an_end() -> None:
    a, b = np.array([[0.0, 0.0, 1.0], [0.0, 0.5, 0.0]]), np.ones((2, 3))
    found = RatioTest(a, b).accepted(float(a.mean()), 1.0, 0.95, 0.0)
    assert found is not None
    assert found[0] == 0.0


def test_a_mean_that_may_be_zero_has_no_interval() -> None:
    a, b = np.ones((3, 6)), np.zeros((3, 6))
    b[0, 0] = 1
    assert RatioTest(a, b).accepted(18.0, 1.0, 0.95, 0.0) is None


def test_nothing_that_varies_has_no_width() -> None:
    assert RatioTest(np.full((2, 4), 1.5), np.full((2, 4), 2.0)).accepted(0.75, 1.0, 0.95, 0.0) == (0.75, 0.75)


def test_refits_add_the_variance_of_the_jackknife() -> None:
    random = np.random.default_rng(0)
    a, b = random.exponential(size=(4, 30)), random.exponential(size=(4, 30)) + 0.5
    above, below = random.normal(0.8, 0.05, size=10), random.normal(1.0, 0.03, size=10)
    plain, more = RatioTest(a, b), RatioTest(a, b, (above, below))
    for theta in (0.0, 0.7, 1.3):
        apart = above - theta * below
        jackknife = 0.9 * ((apart - apart.mean()) ** 2).sum()
        before, after = plain.spread(theta), more.spread(theta)
        assert after.variance == pytest.approx(before.variance + jackknife)
        freedom = after.variance**2 / (before.variance**2 / before.freedom + jackknife**2 / 9)
        assert after.freedom == pytest.approx(freedom)
    assert RatioTest(a, b, (np.ones(10), np.ones(10))).spread(0.5) == plain.spread(0.5)

"""Tests over seeds: scipy's exact permutation test, Holm's formula written out, and the normal power formula."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from torch.testing import assert_close

from labelspace.metrics.significance import corrected_interval, effective_samples, holm, sign_flip_test, smallest_effect


def test_three_seeds_by_hand():
    # |±1 ±2 ±3| of the 8 patterns: 6, 4, 2, 0 and the same again with all signs flipped
    assert sign_flip_test([1.0, 2.0, 3.0]) == 2 / 8
    assert sign_flip_test([1.0, 2.0, -3.0]) == 1.0  # the observed sum is 0
    assert sign_flip_test([-1.0, 2.0, 3.0]) == 4 / 8
    assert sign_flip_test([0.5]) == 1.0
    assert sign_flip_test([0.0, 0.0]) == 1.0


@pytest.mark.parametrize("seeds", [2, 5, 9, 12])
def test_p_values_equal_scipys_exact_permutation_test(seeds):
    values = np.random.default_rng(seeds).normal(0.3, 1, size=seeds)
    theirs = stats.permutation_test(
        (values,), lambda x, axis: x.mean(axis=axis), permutation_type="samples", vectorized=True, n_resamples=np.inf
    )
    assert sign_flip_test(values) == pytest.approx(theirs.pvalue, abs=1e-12)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8), st.floats(0.001, 1000))
def test_ties_count_whatever_the_scale(values, scale):
    patterns = itertools.product([1, -1], repeat=len(values))
    sums = [abs(sum(sign * value for sign, value in zip(signs, values, strict=True))) for signs in patterns]
    expected = np.mean([value >= abs(sum(values)) for value in sums])
    assert sign_flip_test([value * scale * 0.1 for value in values]) == pytest.approx(expected)


def test_many_seeds_are_drawn():
    values = torch.randn(30, generator=torch.Generator().manual_seed(0)).double() + 0.3
    p_value = sign_flip_test(values)
    assert p_value == sign_flip_test(values)
    assert p_value != sign_flip_test(values, seed=1)
    assert p_value == pytest.approx(stats.ttest_1samp(values.numpy(), 0).pvalue, abs=0.02)
    assert sign_flip_test(torch.ones(40)) == 1 / 100_001  # never 0: the observed pattern is one of them


def test_twenty_seeds_are_exact():
    assert sign_flip_test(torch.ones(20)) == 2 / 2**20


def written_out_holm(p_values):
    """Return p̃ of each: the largest of min(1, (m − j + 1)·p) among the p-values up to it, the j-th smallest first."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for step, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[index]))
        adjusted[index] = highest
    return torch.tensor(adjusted, dtype=torch.float64)


def test_holm_by_hand():
    # in rising order 0.01·3, 0.02·2, 0.5·1
    assert_close(holm([0.02, 0.5, 0.01]), torch.tensor([0.04, 0.5, 0.03], dtype=torch.float64))
    assert_close(holm([0.4, 0.6]), torch.tensor([0.8, 0.8], dtype=torch.float64))
    assert_close(holm([0.9, 0.8]), torch.ones(2, dtype=torch.float64))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_holm_follows_its_formula(p_values):
    assert_close(holm(p_values), written_out_holm(p_values), atol=1e-12, rtol=0)


def test_the_smallest_effect_by_hand_and_by_simulation():
    differences = [0.1, 0.3, 0.2]  # s = 0.1
    expected = (1.959964 + 0.841621) * 0.1 / 3**0.5
    assert smallest_effect(differences) == pytest.approx(expected, rel=1e-6)
    assert smallest_effect(differences, power=0.5) == pytest.approx(1.959964 * 0.1 / 3**0.5, rel=1e-6)
    assert smallest_effect([0.2, 0.2]) == 0.0
    # with many seeds an effect of that size is found in four experiments of five
    random = np.random.default_rng(0)
    noise = random.normal(size=(2000, 50))
    effect = smallest_effect(noise[0] / noise[0].std(ddof=1))
    found = stats.ttest_1samp(noise + effect, 0, axis=1).pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sign_flip_test([]), r"`differences` of sign_flip_test must be of shape \(N,\), N ≥ 1"),
        (lambda: sign_flip_test(torch.zeros(2, 3)), r"`differences` of sign_flip_test must be of shape"),
        (lambda: sign_flip_test([0.1, float("nan")]), r"must be finite\. Got nan at position 1"),
        (lambda: holm([0.1, 1.5]), r"`p_values` of holm must be in \[0, 1\]\. Got 1\.5"),
        (lambda: holm([float("nan")]), r"`p_values` of holm must be finite"),
        (lambda: smallest_effect([0.1]), r"must be of at least 2 seeds\. Got 1\. One seed does not say"),
        (lambda: smallest_effect([0.1, 0.2], level=1), r"`level` of smallest_effect"),
        (lambda: smallest_effect([0.1, 0.2], power=0), r"`power` of smallest_effect"),
    ],
)
def test_bad_input_says_what_is_wrong(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_how_many_samples_carry_a_difference() -> None:
    reference = np.zeros((2, 10))
    assert effective_samples(reference, reference) == 0
    assert effective_samples(reference + 3, reference) == pytest.approx(10)
    one = reference.copy()
    one[:, 4] = 7
    assert effective_samples(one, reference) == pytest.approx(1)
    seeds_cancel = np.stack([np.arange(10.0), -np.arange(10.0)])
    assert effective_samples(seeds_cancel, reference) == 0
    # of groups the sums count: two of five samples each, one of which differs twice as much
    weights = np.array([1.0] * 5 + [2.0] * 5)[None]
    assert effective_samples(weights, 0 * weights, [0] * 5 + [1] * 5) == pytest.approx((5 + 10) ** 2 / (25 + 100))


def test_tables_of_other_shapes_carry_no_difference() -> None:
    with pytest.raises(ValueError, match=r"`b` of effective_samples must be of shape \(2, 3\) like `a`\. Got \(2, 4\)"):
        effective_samples(torch.zeros(2, 3), torch.zeros(2, 4))


def test_splits_that_share_training_samples_count_less() -> None:
    values = np.random.default_rng(0).normal(-0.2, 0.1, size=10)
    found = corrected_interval(values, test_share=1 / 4)
    error = np.sqrt((1 / 10 + 1 / 4) * values.var(ddof=1))
    half = stats.t.ppf(0.975, 9) * error
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(values.mean()) / error, 9))
    alone = corrected_interval([0.3], test_share=1 / 4)
    assert (alone.estimate, alone.low, alone.high) == (pytest.approx(0.3), None, None)
    with pytest.raises(ValueError, match="`test_share` of corrected_interval must be a number in"):
        corrected_interval(values, test_share=0)

"""Intervals: what they cover, scipy's t-test and bootstrap where there is one axis, and what they refuse."""

import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from labelspace.metrics.intervals import Interval, chances, equivalent, paired_interval


def crossed(random, seeds, samples, of_seeds, of_samples, rest):
    """Return values of mean 0 in which seeds, samples and their pairs vary by known amounts."""
    table = of_seeds * random.normal(size=(seeds, 1)) + of_samples * random.normal(size=(1, samples))
    return table + rest * random.normal(size=(seeds, samples))


@pytest.mark.parametrize(
    ("seeds", "of_seeds", "of_samples", "rest"),
    [
        (2, 1.0, 0.1, 0.1),  # seeds dominate: the plain percentile interval covers half the time
        (3, 1.0, 0.1, 0.1),
        (5, 1.0, 0.1, 0.1),
        (5, 0.1, 1.0, 1.0),  # samples dominate
        (5, 0.1, 0.5, 3.0),  # noise dominates: the plain one is half too wide again
        (10, 0.2, 1.0, 1.0),
    ],
)
def test_intervals_cover_the_truth_about_as_often_as_they_say(seeds, of_seeds, of_samples, rest):
    random = np.random.default_rng(0)
    rounds, samples = 300, 60
    hits = 0
    for _ in range(rounds):
        values = crossed(random, seeds, samples, of_seeds, of_samples, rest)
        result = paired_interval(values)
        hits += result.low <= 0 <= result.high
    # a binomial of 300 at 0.95 has a standard deviation of 0.013; noise that dominates makes it cautious
    assert 0.91 <= hits / rounds <= 0.995


def test_groups_are_drawn_whole():
    # 20 patients of 10 images each: images of one patient are alike, so their number is not what counts
    random = np.random.default_rng(1)
    patients = np.repeat(np.arange(20), 10)
    hits = {"groups": 0, "samples": 0}
    for _ in range(200):
        values = random.normal(size=(1, 20))[:, patients] + 0.1 * random.normal(size=(3, 200))
        for kind, groups in (("groups", patients), ("samples", None)):
            result = paired_interval(values, groups=groups)
            hits[kind] += result.low <= 0 <= result.high
    assert hits["groups"] >= 180
    assert hits["samples"] <= 120


@pytest.mark.parametrize("sizes", [[10] * 8, [4, 6, 8, 10, 10, 12, 14, 16]])
def test_eight_groups_are_enough_to_cover_the_truth(sizes):
    # with eight patients t has seven degrees of freedom: 2.36 instead of 1.96, which would cover 91 percent
    random = np.random.default_rng(2)
    patients = np.repeat(np.arange(8), sizes)
    rounds, hits = 400, 0
    for _ in range(rounds):
        values = random.normal(size=(1, 8))[:, patients] + crossed(random, 3, len(patients), 0.1, 0.0, 0.3)
        result = paired_interval(values, groups=patients)
        hits += result.low <= 0 <= result.high
    # a binomial of 400 at 0.95 has a standard deviation of 0.011; groups of unequal size cost a percent
    assert 0.92 <= hits / rounds <= 0.98


def test_groups_of_different_size_give_the_mean_over_samples():
    # three classes of patients: 1, 2 and 3 images; the mean over samples is (1 + 2·2 + 3·3)/6 = 14/6
    values = torch.tensor([1.0, 2, 2, 3, 3, 3]).repeat(2, 1)
    result = paired_interval(values, groups=["a", "b", "b", "c", "c", "c"])
    assert result.estimate == pytest.approx(14 / 6)
    assert result.note == "3 groups of samples drawn whole"
    assert result.low < 14 / 6 < result.high


def test_group_names_and_their_order_do_not_matter():
    random = np.random.default_rng(0)
    values, groups = random.normal(size=(3, 40)), np.arange(40) % 8
    as_numbers = paired_interval(values, groups=groups)
    assert paired_interval(values, groups=torch.from_numpy(groups)) == as_numbers
    assert paired_interval(values, groups=[f"patient {g}" for g in groups]) == as_numbers
    singles = paired_interval(values, groups=np.arange(40))
    alone = paired_interval(values)
    assert (singles.low, singles.high, singles.note) == (alone.low, alone.high, "")


def test_a_hand_made_example_of_three_samples():
    # method right on samples 1, 1, 0 and 1, 1, 1; reference right on 1, 0, 0 and 1, 1, 0
    # differences 0, 1, 0 and 0, 0, 1: mean 2/6; relative change (5/6)/(3/6) − 1 = 2/3
    a, b = [[1, 1, 0], [1, 1, 1]], [[1, 0, 0], [1, 1, 0]]
    assert paired_interval(a, b).estimate == pytest.approx(1 / 3)
    assert paired_interval(a, b, relative=True).estimate == pytest.approx(2 / 3)
    assert paired_interval(a).estimate == pytest.approx(5 / 6)
    # every seed's mean is 1/3, so that V_s = 0; the means of samples 0, ½, ½ have variance 1/12, V_x = 1/36;
    # the residuals 0, ½, −½ of both seeds give σ² = 1/2, V_r = 1/12; V = 0 + 0 + 1/12, ν = V²/(V_x²/2) = 18
    result = paired_interval(a, b)
    assert result.high - result.low == pytest.approx(2 * stats.t.ppf(0.975, 18) * (1 / 12) ** 0.5)
    assert result.p_value == pytest.approx(2 * stats.t.sf((1 / 3) / (1 / 12) ** 0.5, 18))


def test_seeds_alone_agree_with_scipys_t_test():
    values = np.random.default_rng(0).normal(size=(15, 1))
    result = paired_interval(values)
    theirs = stats.ttest_1samp(values[:, 0], 0.0)
    assert result.note == "1 sample: the interval covers the choice of seeds alone"
    assert (result.low, result.high) == pytest.approx(tuple(theirs.confidence_interval(0.95)))
    assert result.p_value == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("relative", [False, True])
def test_samples_alone_agree_with_scipy_paired(relative):
    # two seeds that came out the same: all that varies is the samples
    random = np.random.default_rng(0)
    a, b = random.exponential(size=400), random.exponential(size=400) + 0.3

    def statistic(x, y, axis=-1):
        return x.mean(axis=axis) / y.mean(axis=axis) - 1 if relative else x.mean(axis=axis) - y.mean(axis=axis)

    theirs = stats.bootstrap((a, b), statistic, paired=True, method="BCa", n_resamples=20_000, rng=0)
    result = paired_interval(np.tile(a, (2, 1)), np.tile(b, (2, 1)), relative=relative)
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert result.low == pytest.approx(theirs.confidence_interval.low, abs=0.05 * width)
    assert result.high == pytest.approx(theirs.confidence_interval.high, abs=0.05 * width)
    # no change at all is scipy's paired t-test, whether the change is relative or not
    assert result.p_value == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-6)


@settings(max_examples=40)
@given(
    seeds=st.integers(2, 5),
    samples=st.integers(2, 40),
    shift=st.floats(-0.5, 0.5),
    level=st.sampled_from([0.8, 0.95, 0.99]),
    relative=st.booleans(),
    number=st.integers(0, 1000),
)
def test_interval_and_p_value_never_contradict_each_other(seeds, samples, shift, level, relative, number):
    random = np.random.default_rng(number)
    b = random.exponential(size=(seeds, samples))
    a = np.clip(b * (1 + shift) + 0.3 * random.normal(size=b.shape) * random.random(samples) ** 4, 0, None)
    found = paired_interval(a, b, level=level, relative=relative)
    if found.low is None:
        assert found.p_value is None
    else:
        assert (found.low <= 0 <= found.high) == (found.p_value >= 1 - level)
        assert found.low <= found.estimate <= found.high


def test_pairs_share_their_noise():
    # what is hard for one method is hard for the other: the difference is far more certain than either mean
    random = np.random.default_rng(0)
    hard = random.normal(size=(5, 300)) * 3
    a, b = hard + 0.1, hard + 0.01 * random.normal(size=(5, 300))
    paired, single = paired_interval(a, b), paired_interval(a)
    assert paired.high - paired.low < 0.05 * (single.high - single.low)
    assert paired.low > 0


@settings(max_examples=25)
@given(
    scale=st.floats(0.01, 100),
    shift=st.floats(-5, 5),
    seeds=st.integers(2, 5),
    samples=st.integers(1, 12),
    number=st.integers(0, 1000),
)
def test_units_and_direction_carry_over(scale, shift, seeds, samples, number):
    values = np.random.default_rng(number).normal(size=(seeds, samples))
    plain = paired_interval(values)
    moved = paired_interval(values * scale + shift)
    flipped = paired_interval(np.zeros_like(values), values)
    assert moved.low == pytest.approx(plain.low * scale + shift, abs=1e-7 * (scale + 1))
    assert moved.high == pytest.approx(plain.high * scale + shift, abs=1e-7 * (scale + 1))
    assert flipped.estimate == pytest.approx(-plain.estimate)
    assert flipped.high - flipped.low == pytest.approx(plain.high - plain.low)


def test_a_higher_level_is_wider_and_nothing_varying_has_no_width():
    values = np.random.default_rng(0).normal(size=(4, 50))
    ends = [paired_interval(values, level=level) for level in (0.3, 0.8, 0.95, 0.99)]
    widths = [end.high - end.low for end in ends]
    assert widths == sorted(widths)
    constant = paired_interval(torch.ones(3, 4))
    assert (constant.low, constant.estimate, constant.high) == (1, 1, 1)


def test_one_seed_gives_no_interval_and_says_so():
    result = paired_interval(torch.ones(1, 5), torch.zeros(1, 5))
    assert (result.estimate, result.low, result.high, result.seeds, result.samples) == (1.0, None, None, 1, 5)
    assert result.note.startswith("1 seed: no interval")
    assert not equivalent(result, 10)


def test_a_reference_near_zero_gives_no_relative_interval_and_says_so():
    b = np.zeros((3, 6))
    b[0, 0] = 1  # a mean that one cell carries might as well be 0
    result = paired_interval(np.ones((3, 6)), b, relative=True)
    assert result.estimate == pytest.approx(17)
    assert (result.low, result.high) == (None, None)
    assert "close to 0" in result.note


def test_booleans_lists_tensors_and_arrays_are_alike():
    right = torch.rand(3, 20, generator=torch.Generator().manual_seed(0)) < 0.7
    result = paired_interval(right)
    assert result == paired_interval(right.numpy()) == paired_interval(right.int().tolist())
    assert all(type(value) is float for value in (result.estimate, result.low, result.high))


def test_six_seeds_and_ten_thousand_samples_take_no_time():
    random = np.random.default_rng(0)
    a, b = random.random((6, 10_000)) < 0.9, random.random((6, 10_000)) < 0.88
    started = time.process_time()
    paired_interval(a, b, relative=True)
    assert time.process_time() - started < 0.5


TABLE = torch.zeros(3, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"a": torch.zeros(5)},
            r"`a` of paired_interval must be of shape \(seeds, samples\)\. Got shape \(5,\)\. One value",
        ),
        ({"a": torch.zeros(2, 2, 2)}, r"`a` of paired_interval must be a two-dimensional array"),
        ({"a": torch.zeros(0, 4)}, r"at least one sample"),
        ({"a": torch.full((3, 4), torch.nan)}, r"`a` of paired_interval must be finite\. Got nan at row 0, column 0"),
        ({"b": torch.zeros(3, 5)}, r"`b` of paired_interval must be of shape \(3, 4\) like `a`\. Got .*Pairs are"),
        ({"b": torch.full((3, 4), torch.inf)}, r"`b` of paired_interval must be finite"),
        ({"relative": True}, r"`b` of paired_interval must be given when `relative` is True\. Got None"),
        ({"b": TABLE, "relative": True}, r"of positive mean \(relative\)\. Got 0\. Ask for the difference"),
        ({"groups": [1, 2, 3]}, r"`groups` of paired_interval must be of shape \(4,\), one per sample"),
        ({"level": 1.0}, r"`level` of paired_interval must be a number in \(0, 1\)"),
        ({"level": 95}, r"`level` of paired_interval"),
    ],
)
def test_bad_input_says_what_is_wrong(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        paired_interval(**({"a": TABLE} | arguments))


def test_equivalence_needs_the_whole_interval_inside():
    inside = Interval(0.0, -0.01, 0.005, 0.95, 5, 100)
    assert equivalent(inside, 0.01)
    assert not equivalent(inside, 0.009)
    assert not equivalent(Interval(0.0, -0.001, 0.02, 0.95, 5, 100), 0.01)
    with pytest.raises(ValueError, match=r"`margin` of equivalent must be a number in \(0, inf\)"):
        equivalent(inside, 0)
    with pytest.raises(
        TypeError, match=r"`interval` of equivalent must be an Interval\. Got \(0\.0, -0\.01, 0\.01\)\. Give"
    ):
        equivalent((0.0, -0.01, 0.01), 0.1)


def test_tiny_tables_do_not_give_absurd_intervals() -> None:
    # two seeds and two samples leave one degree of freedom: t = 12.7, not the hundreds of half a degree
    interval = paired_interval([[1.0, 1.0], [1.0, 0.0]])
    assert interval.low is not None
    assert interval.high is not None
    assert interval.high - interval.low < 2 * 12.8


@pytest.mark.parametrize("groups", [[1.0, 2.0, float("nan")], ["a", None, "b"]])
def test_a_missing_group_is_refused(groups: list[object]) -> None:
    with pytest.raises(ValueError, match="`groups` of paired_interval must be a group for every sample. Got none at"):
        paired_interval(np.ones((2, 3)), groups=groups)


def test_a_relative_change_ends_at_minus_all() -> None:
    """Costs cannot be negative: no interval of few seeds may say that they fell by more than all of them."""
    costs = torch.tensor([[0.0, 0.0, 3.0], [0.1, 0.0, 0.0]])
    found = paired_interval(costs, torch.ones(2, 3), relative=True)
    assert found.low == -1.0
    assert found.high is not None
    assert found.high > 0


def test_chances_are_those_of_the_interval() -> None:
    # two halves of a normal distribution: below the estimate of half-width 0.1, above it of 0.2
    found = chances(Interval(-0.1, -0.2, 0.1, 0.95, 6, 100), 0.05)
    assert found is not None
    z = stats.norm.ppf(0.975)
    assert found == pytest.approx((stats.norm.cdf(0.05 / 0.2 * z), found.within, stats.norm.sf(0.15 / 0.2 * z)))
    assert sum(found) == pytest.approx(1)
    assert chances(Interval(0.0, None, None, 0.95, 1, 100), 0.05) is None
    assert chances(Interval(-0.5, -0.5, -0.5, 0.95, 6, 100), 0.05) == (1.0, 0.0, 0.0)
    ends = [chances(Interval(-0.2, -0.3, end, 0.95, 6, 100), 1e-9) for end in (-1e-9, 1e-9)]
    assert [each is not None and each.below == pytest.approx(0.975) for each in ends] == [True, True]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"interval": (0.0, 1.0)}, r"`interval` of chances must be an Interval"),
        ({"margin": 0.0}, r"`margin` of chances must be a number in \(0, inf\)"),
    ],
)
def test_chances_refuse_what_is_no_interval(arguments, message) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        chances(**({"interval": Interval(0.0, -1.0, 1.0, 0.95, 6, 10), "margin": 0.1} | arguments))


@pytest.mark.parametrize("relative", [True, False])
def test_refits_widen_the_interval_and_its_p_value_together(relative):
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.rand(4, 200, generator=generator).double() + level for level in (0.9, 1.0))
    refits = tuple(table.mean() + 0.1 * torch.randn(10, generator=generator).double() for table in (a, b))
    plain = paired_interval(a, b, relative=relative)
    found = paired_interval(a, b, relative=relative, refits=refits)
    assert found.estimate == plain.estimate
    assert found.low < plain.low
    assert plain.high < found.high
    assert plain.p_value < 0.05 < found.p_value
    assert found.low < 0 < found.high
    apart = refits[0] - refits[1]
    if not relative:  # the variance of the difference, of which the jackknife's is nearly all
        width = (found.high - found.low) / 2
        jackknife = float(0.9 * ((apart - apart.mean()) ** 2).sum()) ** 0.5
        assert 1.9 * jackknife < width < 2.4 * jackknife


@pytest.mark.parametrize(
    ("refits", "message"),
    [
        (([1.0, 2.0], [1.0]), "as many means of `a` as of `b`, at least two. Got 2 and 1"),
        (([1.0], [1.0]), "Got 1 and 1"),
        (3.0, "means of `a` and of `b`"),
    ],
)
def test_refits_that_are_none(refits, message):
    with pytest.raises(ValueError, match=message):
        paired_interval(torch.ones(2, 3), torch.ones(2, 3), refits=refits)

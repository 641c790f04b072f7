"""Intervals of metrics that are no means: worked by hand, against scipy's bootstrap, and what they cover."""

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from labelspace.metrics import (
    accuracy,
    balanced_accuracy,
    calibration_error,
    confusion_counts,
    equivalent,
    expected_cost,
    metric_interval,
    paired_interval,
    quadratic_kappa,
)

PRICES = [[0, 1, 2], [1, 0, 1], [4, 2, 0]]


def predicted(random, seeds, samples, of_seeds=0.2, of_samples=0.7, rest=0.7):
    """Return labels of three classes and predictions, right where a normal number is positive."""
    y = random.choice(3, size=samples, p=[0.5, 0.3, 0.2])
    latent = 0.5 - 0.2 * y + of_seeds * random.normal(size=(seeds, 1)) + of_samples * random.normal(size=samples)
    wrong = (y + random.choice([1, 2], size=samples)) % 3
    return y, np.where(latent + rest * random.normal(size=(seeds, samples)) > 0, y, wrong)


def plain_balanced(p, y):
    p, y = np.asarray(p), np.asarray(y)
    samples = np.bincount(y, minlength=3)
    return (np.bincount(y[p == y], minlength=3)[samples > 0] / samples[samples > 0]).mean()


def plain_kappa(p, y):
    p, y = np.asarray(p), np.asarray(y)
    # the mean of (p_i − y_j)² over all pairs
    chance = (p * p).mean() + (y * y).mean() - 2 * p.mean() * y.mean()
    return 1 - ((p - y) ** 2).mean() / chance


def test_three_classes_in_two_groups_by_hand():
    # Group A is a sample of class 0 and one of class 1, group B one of class 0 and one of class 2. Seed 0 is wrong
    # about the sample of class 1 only: recalls 1, 0, 1, mean 2/3; seed 1 about that of class 0 in B only: ½, 1, 1, mean
    # 5/6. The estimate is 3/4 and V_s = var(2/3, 5/6)/2 = 1/144.
    y, groups = [0, 1, 0, 2], ["A", "A", "B", "B"]
    predictions = [[0, 2, 0, 2], [0, 1, 1, 2]]
    # Draws: AA (a quarter of them) has no class 2: values ½ and 1; BB no class 1: 1 and ½; AB (half) all: 2/3 and 5/6.
    # Their means over seeds are all 3/4: V_x = 0, and there is no bias. The differences between seeds −½, ½, −1/6 have
    # mean −1/12 and variance 19/144; residuals are half of that, twice: V_r = 2·(19/288)/2 = 19/288 with G/(G−1) = 2.
    # So V = 0 + 0 + 19/288 and ν = V²/V_s² = 9.5².
    result = metric_interval(balanced_accuracy, predictions, y, groups=groups, resamples=2000)
    assert result.estimate == pytest.approx(3 / 4)
    assert result.high - result.low == pytest.approx(2 * stats.t.ppf(0.975, 90.25) * (19 / 288) ** 0.5, rel=0.05)
    assert result.note == (
        "2 groups of samples drawn whole; fewer than 5 groups with classes 0, 1, 2: the interval may be too narrow"
    )
    assert (result.seeds, result.samples, result.level) == (2, 4, 0.95)


def test_differences_and_relative_changes_by_hand():
    # balanced accuracies as above, 2/3 and 5/6, against 1/3 (only class 0 is ever said) and 2/3: ½ on average
    y = [0, 1, 0, 2]
    predictions, reference = [[0, 2, 0, 2], [0, 1, 1, 2]], [[0, 0, 0, 0], [0, 1, 0, 0]]
    assert metric_interval(balanced_accuracy, predictions, y, reference, resamples=2).estimate == pytest.approx(1 / 4)
    relative = metric_interval(balanced_accuracy, predictions, y, reference, relative=True, resamples=2)
    assert relative.estimate == pytest.approx(1 / 2)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("relative", [False, True])
def test_for_a_mean_it_is_the_paired_interval(relative, grouped):
    random, prices = np.random.default_rng(0), torch.tensor(PRICES, dtype=torch.float64)
    y, worse = predicted(random, 4, 200)
    better = np.where(random.random((4, 200)) < 0.1, y, worse)
    groups = np.arange(200) // 10 if grouped else None
    options = {"groups": groups, "relative": relative, "level": 0.8}
    ours = metric_interval(lambda p, y: float(prices[y, p].mean()), better, y, worse, resamples=1000, **options)
    tables = [torch.stack([expected_cost(row, y, PRICES, per_sample=True) for row in rows]) for rows in (better, worse)]
    exact = paired_interval(*tables, **options)
    width = exact.high - exact.low
    assert ours.estimate == pytest.approx(exact.estimate)
    assert ours.low == pytest.approx(exact.low, abs=0.08 * width)
    assert ours.high == pytest.approx(exact.high, abs=0.08 * width)
    assert np.log(ours.p_value) == pytest.approx(np.log(exact.p_value), rel=0.15)


def test_samples_alone_agree_with_scipys_bootstrap():
    # two seeds that came out the same: all that varies is the samples
    y, predictions = predicted(np.random.default_rng(3), 1, 300)

    theirs = stats.bootstrap((predictions[0], y), plain_kappa, paired=True, vectorized=False, n_resamples=1000, rng=0)
    result = metric_interval(quadratic_kappa, np.repeat(predictions, 2, axis=0), y)
    half = stats.t.ppf(0.975, 299) * theirs.standard_error
    assert result.estimate == pytest.approx(cohen_kappa_score(y, predictions[0], weights="quadratic"))
    assert result.high - result.low == pytest.approx(2 * half, rel=0.08)
    assert (result.low + result.high) / 2 == pytest.approx(result.estimate, abs=0.25 * half)


@pytest.mark.parametrize(("metric", "plain"), [(balanced_accuracy, plain_balanced), (quadratic_kappa, plain_kappa)])
@pytest.mark.parametrize(
    ("seeds", "of_seeds", "of_samples", "rest"),
    [
        (3, 0.4, 0.2, 1.1),  # seeds dominate: the percentiles of the draws would cover 80 percent of the time
        (4, 0.1, 1.0, 0.5),  # samples dominate
    ],
)
def test_intervals_cover_the_truth_about_as_often_as_they_say(metric, plain, seeds, of_seeds, of_samples, rest):
    random = np.random.default_rng(0)
    effects = (of_seeds, of_samples, rest)
    many = [predicted(random, 1, 2000, *effects) for _ in range(400)]
    truth = np.mean([metric(predictions[0], y) for y, predictions in many])
    rounds, hits = 150, 0
    for number in range(rounds):
        y, predictions = predicted(random, seeds, 120, *effects)
        # written out in numpy, which is faster for so few samples
        result = metric_interval(plain, predictions, y, resamples=60, seed=number)
        hits += result.low <= truth <= result.high
    assert plain(predictions[0], y) == pytest.approx(metric(predictions[0], y))
    # a binomial of 150 at 0.95 has a standard deviation of 0.018
    assert 0.9 <= hits / rounds <= 0.995


def test_groups_are_drawn_whole():
    # 12 patients of 10 images that are all right or all wrong: their number counts, not that of the images
    random = np.random.default_rng(0)
    patients = np.repeat(np.arange(12), 10)
    y = np.arange(120) % 3
    right = (random.random((1, 12)) < 0.6)[:, patients] ^ (random.random((3, 120)) < 0.05)
    predictions = np.where(right, y, (y + 1) % 3)
    by_patient = metric_interval(balanced_accuracy, predictions, y, groups=patients, resamples=200)
    by_image = metric_interval(balanced_accuracy, predictions, y, resamples=200)
    assert by_patient.note == "12 groups of samples drawn whole"
    assert by_patient.high - by_patient.low > 2 * (by_image.high - by_image.low)


def test_a_bias_of_the_metric_is_taken_off_and_said():
    # honest probabilities: the true calibration error is 0, and on 200 samples in 15 bins it is far above that
    random = np.random.default_rng(0)
    p = random.dirichlet(np.ones(3), size=200)
    y = np.array([random.choice(3, p=row) for row in p])
    result = metric_interval(calibration_error, np.stack([p, p, p]), y, resamples=200)
    assert "too high, taken off the interval, but hardly all of it: more samples are needed" in result.note
    assert (result.low + result.high) / 2 < 0.8 * result.estimate
    # the same probabilities pushed to the corners are wrong by much more than chance: little bias, no note
    sure = 0.05 * p + 0.95 * np.eye(3)[p.argmax(axis=1)]
    assert metric_interval(calibration_error, np.stack([sure, sure, sure]), y, resamples=200).note == ""


def test_one_seed_gives_no_interval_and_says_so():
    result = metric_interval(balanced_accuracy, [[0, 1, 0]], [0, 1, 1])
    assert (result.estimate, result.low, result.high, result.p_value, result.seeds) == (0.75, None, None, None, 1)
    assert result.note == "1 seed: no interval, since one training says nothing about how much trainings differ"
    assert not equivalent(result, 10)


def test_one_group_covers_seeds_alone():
    y = [0, 1, 2]
    # balanced accuracies 1, 2/3 and 1/3: the t interval of three numbers with s = 1/3
    predictions = [[0, 1, 2], [0, 1, 1], [0, 0, 0]]
    result = metric_interval(balanced_accuracy, predictions, y, groups=["a", "a", "a"], resamples=20)
    assert result.note.startswith("1 group: the interval covers the choice of seeds alone")
    assert result.high - result.low == pytest.approx(2 * stats.t.ppf(0.975, 2) / 3 / 3**0.5)


def test_draws_without_a_class_neither_crash_nor_warn():
    # class 2 has one sample, absent from a third of the draws; warnings are errors here
    y, predictions = [0, 0, 0, 1, 1, 1, 2], [[0, 0, 1, 1, 1, 0, 2], [0, 1, 0, 1, 0, 1, 2], [0, 0, 0, 1, 1, 1, 0]]
    result = metric_interval(balanced_accuracy, predictions, y, resamples=50)
    assert result.low < result.estimate < result.high
    assert "fewer than 5 samples of classes 0, 1, 2: the interval may be too narrow" in result.note


def test_a_class_absent_from_all_samples_is_named_by_the_metric():
    scores = torch.eye(3)[torch.tensor([[0, 1, 1], [0, 1, 0]])]
    with pytest.warns(UserWarning, match="balanced_accuracy: `y` has no sample of class 2"):
        metric_interval(balanced_accuracy, scores, [0, 1, 1], resamples=2)


def test_draws_on_which_the_metric_is_not_defined_are_left_out_and_counted():
    random = np.random.default_rng(0)
    # scikit-learn's area is not defined for one class: with two positives of twelve that is one draw in nine
    y = np.array([1, 1] + [0] * 10)
    scores = random.normal(size=(3, 12)) + y

    def area(outputs, y):
        return roc_auc_score(y, outputs)

    result = metric_interval(area, scores, y, resamples=100)
    assert "the metric is not defined on" in result.note
    assert result.low < result.estimate < result.high

    def seldom(outputs, y):
        return 1.0 if len(set(y.tolist())) == 2 and int(y.sum()) == 2 and int(y[0]) else 1 / 0

    result = metric_interval(seldom, scores, y, resamples=100)
    assert (result.estimate, result.low, result.high) == (1.0, None, None)
    assert result.note.startswith("no interval: the metric is not defined on")


def test_a_reference_near_zero_gives_no_relative_interval_and_says_so():
    y = [0, 1, 2, 0, 1, 2]
    reference = [[1, 2, 0, 1, 2, 2], [1, 2, 0, 1, 2, 2]]  # right about one sample, which many draws leave out
    result = metric_interval(accuracy, [y, y], y, reference, relative=True, resamples=50)
    assert result.estimate == pytest.approx(5)
    assert (result.low, result.high) == (None, None)
    assert "close to 0" in result.note


def test_the_seed_decides_and_lists_of_tensors_do():
    y, predictions = predicted(np.random.default_rng(0), 3, 60)
    first = metric_interval(balanced_accuracy, predictions, y, resamples=50, seed=3)
    assert first == metric_interval(balanced_accuracy, predictions, y, resamples=50, seed=3)
    assert first != metric_interval(balanced_accuracy, predictions, y, resamples=50, seed=4)
    scores = [torch.eye(3)[torch.from_numpy(row)].requires_grad_() for row in predictions]
    assert first == metric_interval(balanced_accuracy, scores, torch.from_numpy(y), resamples=50, seed=3)
    assert all(type(value) is float for value in (first.estimate, first.low, first.high, first.p_value))


def test_nothing_varying_has_no_width():
    result = metric_interval(balanced_accuracy, [[0, 1], [0, 1]], [0, 1], resamples=20)
    assert (result.low, result.estimate, result.high) == (1, 1, 1)


OUTPUTS, Y = torch.zeros(2, 4, dtype=torch.long), torch.tensor([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "accuracy"}, r"`metric` of metric_interval must be a function of outputs and labels"),
        (
            {"metric": confusion_counts},
            r"`metric` of metric_interval must be .* one number\. Got shape \(2, 2\)\. Choose one",
        ),
        ({"metric": lambda outputs, y: None}, r"returns one number\. Got NoneType"),
        ({"metric": lambda outputs, y: np.nan}, r"must be finite on all samples\. Got nan for seed 0"),
        ({"outputs": Y}, r"of shape \(seeds, samples\) or .*Got shape \(4,\)\. The outputs of one seed are x\[None\]"),
        ({"outputs": torch.zeros(0, 4)}, r"`outputs` of metric_interval must be of shape"),
        ({"outputs": torch.full((2, 4), torch.nan)}, r"must be finite\. Got nan for seed 0, sample 0"),
        ({"y": Y[:3]}, r"`y` of metric_interval must be of shape \(4,\), one per sample"),
        ({"y": Y.float()}, r"`y` of metric_interval must be class indices"),
        ({"reference": OUTPUTS[:1]}, r"`reference` of metric_interval must be of 2 seeds and 4 samples .*Pairs are"),
        ({"relative": True}, r"`reference` of metric_interval must be given when `relative` is True"),
        (
            {"relative": True, "reference": 1 - OUTPUTS, "metric": lambda outputs, y: 0.0},
            r"`reference` of metric_interval must be of a positive metric \(relative\)\. Got 0\. Ask for",
        ),
        ({"groups": [1, 2]}, r"`groups` of metric_interval must be of shape \(4,\), one per sample"),
        ({"groups": [[1], [1, 2]]}, r"`groups` of metric_interval must be one number or one string per sample"),
        ({"groups": [1.0, 2.0, np.nan, 1.0]}, r"`groups` of metric_interval must be a group for every sample"),
        ({"level": 95}, r"`level` of metric_interval"),
        ({"resamples": 1}, r"`resamples` of metric_interval must be a whole number of at least 2"),
        ({"seed": 2**32}, r"`seed` of metric_interval must be a whole number from 0 to 4294967295"),
    ],
)
def test_bad_input_says_what_is_wrong(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        metric_interval(**({"metric": accuracy, "outputs": OUTPUTS, "y": Y, "resamples": 5} | arguments))

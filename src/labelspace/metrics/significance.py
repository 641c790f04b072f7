"""Whether seeds agree on a difference, how small a one they could have seen, and the price of many comparisons.

A difference here is one number per seed: the mean over test samples of a method minus that of its reference. How many
samples carry it is another question, see ``effective_samples``; so is what other splits of the data would say.
"""

import math

import torch
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.metrics.crossed import Spread, ends, sides, units_of
from labelspace.metrics.intervals import Interval

EXACT = 20  # seeds: a million sign patterns, some tens of milliseconds
DRAWS = 100_000
TIE = 1e-12  # sums that differ by less of Σ|d| differ by rounding


def sign_flip_test(differences: Numbers, seed: int = 0) -> float:
    """Return the two-sided p-value of the mean difference over seeds, by flipping signs.

    If a method made no difference, each seed's difference could as well have had the other sign. The p-value is the
    share of the ``2^S`` sign patterns whose ``|Σ ±d_s|`` is at least the observed one: exact up to 20 seeds, without
    any assumption but that symmetry. It cannot be below ``2^(1−S)``: five seeds reach 0.0625 at best, six 0.031, and
    a single seed always gives 1. Above 20 seeds, 100,000 patterns are drawn and ``(1 + hits)/(1 + draws)`` returned.

    Args:
        differences: one mean difference per seed.
        seed: of the draws, for more than 20 seeds.

    Shape:
        ``differences`` is (seeds,).

    Example:
        >>> sign_flip_test([0.3, 0.1, 0.2, 0.4, 0.2, 0.1])  # all six agree: 2 of 64 patterns are as extreme
        0.03125
    """
    values = _inputs.vector("sign_flip_test", "differences", differences)
    start = _inputs.seed("sign_flip_test", seed)
    observed = values.sum().abs() - TIE * values.abs().sum()
    if len(values) <= EXACT:
        sums = values[:1]  # flipping all signs changes nothing: the first may keep its own
        for value in values[1:]:
            sums = torch.cat([sums + value, sums - value])
        return float((sums.abs() >= observed).double().mean())
    generator = torch.Generator().manual_seed(start)
    hits = 0
    for start in range(0, DRAWS, 10_000):
        size = (min(10_000, DRAWS - start), len(values))
        signs = 2 * torch.randint(2, size, generator=generator).double() - 1
        hits += int(((signs @ values).abs() >= observed).sum())
    return (1 + hits) / (1 + DRAWS)


def holm(p_values: Numbers) -> Tensor:
    """Return p-values corrected for their number, by Holm's step-down method.

    With the p-values in rising order, ``p̃_(i) = max over j ≤ i of min(1, (m − j + 1)·p_(j))``. Calling every
    ``p̃ ≤ α`` a finding keeps the chance of any false one below α, whatever their dependence.

    Args:
        p_values: one per comparison, each in [0, 1].

    Shape:
        ``p_values`` and the result are (comparisons,), in the same order; float64.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        tensor([0.0300, 0.0600, 0.0600], dtype=torch.float64)

    Reference:
        S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian J. of Statistics 6 (1979).
    """
    values = _inputs.vector("holm", "p_values", p_values)
    outside = values[(values < 0) | (values > 1)]
    if len(outside):
        raise _checks.fail("holm", "p_values", "in [0, 1]", f"{outside[0].item():g}")
    order = torch.argsort(values, stable=True)
    factors = torch.arange(len(values), 0, -1, dtype=torch.float64)
    adjusted = (values[order] * factors).cummax(dim=0).values.clamp_max(1)
    return torch.empty_like(values).scatter_(0, order, adjusted)


def smallest_effect(differences: Numbers, level: float = 0.95, power: float = 0.8) -> float:
    """Return the smallest true mean difference that seeds like these would have shown with probability ``power``.

    ``(z_{(1+level)/2} + z_power)·s/√S``, s being the standard deviation of the differences over S seeds. This is the
    normal approximation: with fewer than about ten seeds the true figure is larger (by 25 percent at six, 52 at four).
    A result that is "not significant" says little about effects below this size.

    Args:
        differences: one mean difference per seed, at least two.
        level: confidence of the two-sided test, in (0, 1).
        power: chance to see an effect of the returned size, in (0, 1).

    Shape:
        ``differences`` is (seeds,).

    Example:
        >>> round(smallest_effect([0.1, 0.3, 0.2, 0.2]), 3)  # s = 0.0816, √S = 2, z's 1.96 and 0.84
        0.114
    """
    values = _inputs.vector("smallest_effect", "differences", differences)
    if len(values) < 2:
        remedy = "One seed does not say how much seeds differ: run more."
        raise _checks.fail("smallest_effect", "differences", "of at least 2 seeds", "1", remedy)
    confidence = _checks.number("smallest_effect", "level", level, low=0, high=1, open_low=True, open_high=True)
    chance = _checks.number("smallest_effect", "power", power, low=0, high=1, open_low=True, open_high=True)
    quantiles = torch.special.ndtri(torch.tensor([(1 + confidence) / 2, chance], dtype=torch.float64))
    return float(quantiles.sum() * values.std()) / math.sqrt(len(values))


def effective_samples(a: Numbers, b: Numbers, groups: Numbers | None = None) -> float:
    """Return on how many samples, or groups of them, a difference between two tables rests: ``(Σ|d|)² / Σd²``.

    d is the mean over seeds of each sample's difference, or the sum of those of a group. N differences of equal size
    count N, whatever their signs; a single one that outweighs all others counts 1; 0 where nothing differs.

    Args:
        a: one value per seed and test sample, such as its cost.
        b: the reference's values for the same seeds and samples.
        groups: what each sample belongs to.

    Shape:
        ``a`` and ``b`` are (seeds, samples), ``groups`` (samples,).

    Example:
        >>> effective_samples([[0, 1, 1, 0, 3]], [[1, 0, 1, 1, 3]]), effective_samples([[1, 1, 99]], [[0, 0, 0]]) < 1.05
        (3.0, True)
    """
    values, reference = (_inputs.matrix("effective_samples", name, each) for name, each in (("a", a), ("b", b)))
    if values.shape != reference.shape:
        expected = f"of shape {tuple(values.shape)} like `a`"
        raise _checks.fail("effective_samples", "b", expected, f"{tuple(reference.shape)}")
    units = torch.from_numpy(units_of("effective_samples", groups, values.shape[1]))
    single = (values - reference).double().mean(dim=0)
    carried = torch.zeros(int(units.max()) + 1, dtype=torch.float64).index_add(0, units, single).abs()
    squares = float((carried**2).sum())
    return float(carried.sum()) ** 2 / squares if squares else 0.0


def corrected_interval(differences: Numbers, test_share: float, level: float = 0.95) -> Interval:
    """Return the interval of a mean difference over several random splits of the same data (Nadeau and Bengio).

    Splits share most of their training samples, so that their differences agree more than fresh data would. The
    variance of the mean of R of them is therefore ``(1/R + n_test/n_train)·s²`` and not ``s²/R``; t has R − 1 degrees
    of freedom.

    Args:
        differences: one per split: the mean over seeds and test samples of a method minus that of its reference, or
            the relative change.
        test_share: test samples per training sample, ``n_test/n_train``; validation samples count as training.
        level: share of intervals that cover the truth, in (0, 1).

    Shape:
        ``differences`` is (splits,).

    Example:
        >>> found = corrected_interval([-0.3, -0.2, -0.4, -0.3, -0.3], test_share=0.25)
        >>> round(found.estimate, 3), round(found.low, 3), round(found.high, 3)
        (-0.3, -0.432, -0.168)

    Reference:
        C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning 52 (2003).
    """
    values = _inputs.vector("corrected_interval", "differences", differences)
    share = _checks.number("corrected_interval", "test_share", test_share, low=0, open_low=True)
    _checks.number("corrected_interval", "level", level, low=0, high=1, open_low=True, open_high=True)
    count, mean = len(values), float(values.mean())
    if count < 2:
        note = "1 split: no interval, since one split says nothing about how much splits differ"
        return Interval(mean, None, None, level, count, count, note)
    spread = Spread((1 / count + share) * float(values.var()), count - 1.0)
    low, high = ends(mean, spread, level)
    note = f"over {count} splits, corrected for the training samples they share"
    return Interval(mean, low, high, level, count, count, note, 2 * min(sides(mean, spread)))

"""How sure a mean is: intervals over seeds and test samples together.

A table of values has two sources of chance, the seeds a network was trained with and the samples it was tested on.
Both count here, and whole groups of samples (the images of one patient) where the data name them.
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.metrics.crossed import Array, ends, obstacle, remark, sides, units_of
from labelspace.metrics.fieller import RatioTest

NEAR_ZERO = "no interval: the reference's mean is so close to 0 that a relative change means nothing"


@dataclass(frozen=True)
class Interval:
    """An estimate and how far chance may have moved it.

    Args:
        estimate: the mean, the mean difference or the relative change.
        low: lower end, or None where there is no interval; ``note`` then says why.
        high: upper end, or None.
        level: how often such an interval covers the truth, about.
        seeds: number of seeds it rests on.
        samples: number of test samples it rests on.
        note: what a reader should know; empty when there is nothing to say.
        p_value: two-sided, of no difference at all, by the test that the interval is made of: it is below 1 − level
            where 0 is outside; None without interval.
    """

    estimate: float
    low: float | None
    high: float | None
    level: float
    seeds: int
    samples: int
    note: str = ""
    p_value: float | None = None


def paired_interval(
    a: Numbers,
    b: Numbers | None = None,
    groups: Numbers | None = None,
    level: float = 0.95,
    relative: bool = False,
    refits: tuple[Numbers, Numbers] | None = None,
) -> Interval:
    """Return the interval of ``mean(a) − mean(b)``, over seeds and test samples together, and its p-value.

    One t-test gives both, so that they cannot contradict each other: the interval holds every difference δ, or every
    ratio θ of the means, that the test does not reject. With ``d = a − b − δ``, or ``a − θ·b`` (Fieller), it rejects
    where ``|mean(d)| > t_ν·√V``. ``V`` counts each source of chance once, from the means of d over seeds (variance
    ``V_s``), over samples or whole groups (``V_x``) and what is left (``V_r``):
    ``V = max(V_s − V_r, 0) + max(V_x − V_r, 0) + V_r``, with Satterthwaite's degrees of freedom
    ``ν = V² / (V_s²/(S−1) + V_x²/(G−1))`` for S seeds and G samples or groups. Where the test rejects no ratio however
    large, as with a reference whose mean could as well be 0, there is no interval.

    Args:
        a: one value per seed and test sample, such as 1 where a prediction was right, or its cost.
        b: the reference's values for the same seeds and samples; without them the interval is that of ``mean(a)``.
        groups: what each sample belongs to, numbers or strings; samples of one group count as one unit.
        level: share of intervals that cover the truth, in (0, 1).
        relative: give the relative change ``mean(a)/mean(b) − 1`` instead of the difference.
        refits: means of ``a`` and of ``b``, each computed again after one of R parts of the data that something was
            fitted on (a temperature on validation data) was left out of the fit. The jackknife's variance of that
            choice, ``(R − 1)/R · Σ_r (m_r − m̄)²`` with m the means of d, is added to V, and its R − 1 degrees of
            freedom to ν.

    Shape:
        ``a`` and ``b`` are (seeds, samples), ``groups`` (samples,), ``refits`` twice (parts,).

    Example:
        >>> right = torch.tensor([[1, 1, 0, 1], [1, 0, 0, 1], [1, 1, 1, 1]])
        >>> paired_interval(right[:1]).note
        '1 seed: no interval, since one training says nothing about how much trainings differ'
        >>> result = paired_interval(right, torch.zeros(3, 4))
        >>> round(result.estimate, 2), result.low < 0.75 < result.high
        (0.75, True)

    Reference:
        E. C. Fieller, Some problems in interval estimation, J. of the Royal Statistical Society B 16 (1954), on ratios;
        A. B. Owen, The pigeonhole bootstrap, Annals of Applied Statistics 1 (2007), on seeds and samples crossed.
    """
    _checks.number("paired_interval", "level", level, low=0, high=1, open_low=True, open_high=True)
    values = _table("a", a)
    reference = None if b is None else _reference(values, b, relative)
    if relative and reference is None:
        raise _checks.fail("paired_interval", "b", "given when `relative` is True", "None")
    seeds, samples = values.shape
    above, below = _sums(values, reference, units_of("paired_interval", groups, samples), relative)
    null = 1.0 if relative else 0.0
    ratio = float(above.sum() / below.sum())
    if seeds < 2:
        return Interval(ratio - null, None, None, level, seeds, samples, obstacle(seeds))
    test = RatioTest(above, below, _refits(refits, reference, relative))
    note = remark(above.shape[1], samples, groups is not None)
    if not relative:  # what is below counts samples, which is no chance
        low, high = ends(ratio, spread := test.spread(ratio), level)
        return Interval(ratio, low, high, level, seeds, samples, note, 2 * min(sides(ratio, spread)))
    # nothing can cost less than nothing
    found = test.accepted(ratio, null, level, 0.0 if values.min() >= 0 else None)
    if found is None:
        return Interval(ratio - null, None, None, level, seeds, samples, NEAR_ZERO)
    p_value = 2 * min(sides(test.mean(null), test.spread(null)))
    return Interval(ratio - null, found[0] - null, found[1] - null, level, seeds, samples, note, p_value)


def equivalent(interval: Interval, margin: float) -> bool:
    """Return whether the whole interval lies within ``±margin``: the difference, if any, is too small to matter.

    This is the pair of one-sided tests, each at ``(1 − level)/2``; a 90 percent interval gives the usual 5 percent
    tests. False says that equivalence was not shown, not that there is a difference. Without an interval (fewer
    than two seeds) nothing can be shown, so it is False.

    Args:
        interval: of a difference or a relative change, as ``paired_interval`` and ``metric_interval`` return.
        margin: the largest difference that does not matter, in the interval's unit; state it before looking.

    Example:
        >>> equivalent(Interval(0.001, -0.004, 0.006, 0.95, seeds=5, samples=10000), margin=0.01)
        True
    """
    if not isinstance(interval, Interval):
        remedy = "Give what paired_interval or metric_interval returned."
        raise _checks.fail_type("equivalent", "interval", "an Interval", repr(interval), remedy)
    largest = _checks.number("equivalent", "margin", margin, low=0, open_low=True)
    if interval.low is None or interval.high is None:
        return False
    return -largest <= interval.low and interval.high <= largest


class Chances(NamedTuple):
    """How likely a change lies below ``−margin``, within ``±margin`` and above it; they sum to 1."""

    below: float
    within: float
    above: float


def chances(interval: Interval, margin: float) -> Chances | None:
    """Return how likely a change is one that matters, in either direction; None without an interval.

    Read off the interval itself, so that they cannot contradict it: below and above the estimate half a normal
    distribution each, of which ``(1 − level)/2`` lies beyond the interval's end. Without prior knowledge this is what
    is known of the change after the test.

    Args:
        interval: of a difference or a relative change, as ``paired_interval`` and ``metric_interval`` return.
        margin: the largest change that does not matter, in the interval's unit.

    Example:
        >>> found = chances(Interval(-0.05, -0.1, 0.0, 0.95, seeds=6, samples=400), margin=0.05)
        >>> [round(each, 3) for each in found]
        [0.5, 0.5, 0.0]
    """
    largest = _checks.number("chances", "margin", margin, low=0, open_low=True)
    if not isinstance(interval, Interval):
        remedy = "Give what paired_interval or metric_interval returned."
        raise _checks.fail_type("chances", "interval", "an Interval", repr(interval), remedy)
    if interval.low is None or interval.high is None:
        return None
    below, up_to = (_confidence(interval, interval.low, interval.high, place) for place in (-largest, largest))
    return Chances(below, up_to - below, 1 - up_to)


def _confidence(interval: Interval, low: float, high: float, place: float) -> float:
    """Return how likely a change lies below a place."""
    distance = place - interval.estimate
    width = high - interval.estimate if distance > 0 else interval.estimate - low
    if width <= 0:
        return 0.5 if distance == 0 else float(distance > 0)
    normal = NormalDist()
    return normal.cdf(distance / width * normal.inv_cdf((1 + interval.level) / 2))


def _table(argument: str, value: object) -> Array:
    """Return (seeds, samples) values in float64."""
    shape = tuple(getattr(value, "shape", ()))
    if len(shape) == 1:
        remedy = "One value per seed is x[:, None]; the samples of one seed are x[None]."
        raise _checks.fail("paired_interval", argument, "of shape (seeds, samples)", f"shape {shape}", remedy)
    return np.asarray(_inputs.matrix("paired_interval", argument, value).numpy())


def _reference(values: Array, b: object, relative: bool) -> Array:
    reference = _table("b", b)
    if reference.shape != values.shape:
        remedy = "Pairs are the same seeds and samples, in the same order."
        raise _checks.fail("paired_interval", "b", f"of shape {values.shape} like `a`", f"{reference.shape}", remedy)
    if relative and reference.mean() <= 0:
        remedy = "Ask for the difference instead: relative=False."
        raise _checks.fail("paired_interval", "b", "of positive mean (relative)", f"{reference.mean():g}", remedy)
    return reference


def _refits(refits: object, reference: Array | None, relative: bool) -> tuple[Array, Array] | None:
    """Return the means above and below after every refit, in units of the mean below."""
    if refits is None:
        return None
    if not isinstance(refits, tuple | list) or len(refits) != 2:
        raise _checks.fail_type("paired_interval", "refits", "means of `a` and of `b`", repr(refits))
    first, second = (_inputs.vector("paired_interval", "refits", each).numpy() for each in refits)
    if reference is None or first.shape != second.shape or len(first) < 2:
        got = "them without `b`" if reference is None else f"{len(first)} and {len(second)}"
        raise _checks.fail("paired_interval", "refits", "as many means of `a` as of `b`, at least two", got)
    if relative:
        return first / reference.mean(), second / reference.mean()
    return first - second, np.zeros_like(first)


def _sums(values: Array, reference: Array | None, units: NDArray[np.int64], relative: bool) -> tuple[Array, Array]:
    """Return (seeds, units) numerators and denominators whose ratio of sums is the estimate.

    A mean difference is Σ(a − b)/Σ1 and a relative change Σa/Σb − 1, so that one form serves both, with groups of
    any size.
    """
    if relative and reference is not None:
        above, below = values, reference
    else:
        above, below = values if reference is None else values - reference, np.ones_like(values)
    index, count = torch.from_numpy(units), int(units.max()) + 1
    zeros = torch.zeros(len(values), count, dtype=torch.float64)
    first, second = (zeros.index_add(1, index, torch.from_numpy(table)).numpy() for table in (above, below))
    return first, second

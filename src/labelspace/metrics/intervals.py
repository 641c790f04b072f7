"""How sure a mean is: intervals over seeds and test samples together.

A table of values has two sources of chance, the seeds a network was trained with and the samples it was tested on.
Both are resampled here, and whole groups of samples (the images of one patient) where the data name them.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.metrics.crossed import Array, Spread, combined, obstacle, remark, rescaled, two_sided, units_of

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
        p_value: two-sided, of no difference at all, from the same variance and degrees of freedom; None without
            interval.
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
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return the interval of ``mean(a) − mean(b)``, seeds and test samples resampled together.

    Seeds, and samples or whole groups, are drawn with replacement, the same ones for ``a`` and ``b``. The central
    ``level`` of the resampled means is then rescaled around the estimate to the width ``2·t_ν·√V``. The plain
    percentile interval is wrong in both directions: it covers 50, 69 and 84 percent of the time with 2, 3 and 5 seeds
    whose differences dominate, and 99 percent where noise dominates, which it counts three times over. ``V`` counts
    each source once, from the means of seeds (variance ``V_s``), of samples (``V_x``) and what is left (``V_r``):
    ``V = max(V_s − V_r, 0) + max(V_x − V_r, 0) + V_r``, with Satterthwaite's degrees of freedom
    ``ν = V² / (V_s²/(S−1) + V_x²/(G−1))`` for S seeds and G samples or groups. With many seeds and samples this is the
    percentile interval.

    Args:
        a: one value per seed and test sample, such as 1 where a prediction was right, or its cost.
        b: the reference's values for the same seeds and samples; without them the interval is that of ``mean(a)``.
        groups: what each sample belongs to, numbers or strings; samples of one group are drawn together.
        level: share of intervals that cover the truth, in (0, 1).
        relative: give the relative change ``mean(a)/mean(b) − 1`` instead of the difference.
        resamples: number of draws.
        seed: the same seed gives the same interval.

    Shape:
        ``a`` and ``b`` are (seeds, samples), ``groups`` (samples,).

    Example:
        >>> right = torch.tensor([[1, 1, 0, 1], [1, 0, 0, 1], [1, 1, 1, 1]])
        >>> paired_interval(right[:1]).note
        '1 seed: no interval, since one training says nothing about how much trainings differ'
        >>> result = paired_interval(right, torch.zeros(3, 4))
        >>> round(result.estimate, 2), result.low < 0.75 < result.high
        (0.75, True)

    Reference:
        A. B. Owen, The pigeonhole bootstrap, Annals of Applied Statistics 1 (2007), on resampling both axes.
    """
    _checks.number("paired_interval", "level", level, low=0, high=1, open_low=True, open_high=True)
    _checks.whole("paired_interval", "resamples", resamples, low=1)
    _inputs.seed("paired_interval", seed)
    values = _table("a", a)
    reference = None if b is None else _reference(values, b, relative)
    if relative and reference is None:
        raise _checks.fail("paired_interval", "b", "given when `relative` is True", "None")
    seeds, samples = values.shape
    above, below = _sums(values, reference, units_of("paired_interval", groups, samples), relative)
    shift = 1.0 if relative else 0.0
    ratio = float(above.sum() / below.sum())
    note = obstacle(seeds)
    if not note:
        drawn = _resampled(above, below, resamples, seed)
        if bool(np.isfinite(drawn).all()):
            spread = _spread((above - ratio * below) / below.mean())
            low, high = rescaled(drawn, ratio, ratio, spread, level)
            note = remark(above.shape[1], samples, groups is not None)
            if relative and values.min() >= 0:
                low = max(low, 0.0)  # nothing can cost less than nothing
            p_value = two_sided(ratio - shift, spread)
            return Interval(ratio - shift, low - shift, high - shift, level, seeds, samples, note, p_value)
        note = NEAR_ZERO
    return Interval(ratio - shift, None, None, level, seeds, samples, note)


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


def _resampled(above: Array, below: Array, resamples: int, seed: int) -> Array:
    """Return the ratio for every draw of seeds and units; infinite where a drawn denominator is not positive."""
    generator = np.random.default_rng(seed)
    seeds, units = above.shape
    stacked = np.concatenate([above, below])
    sums = np.empty((resamples, 2 * seeds))
    # How often each unit was drawn, times the values: a draw at a time, whose counts then stay in the cache.
    for draw in range(resamples):
        chosen = generator.integers(units, size=units, dtype=np.int32)
        sums[draw] = stacked @ np.bincount(chosen, minlength=units).astype(np.float64)
    times = generator.multinomial(seeds, np.full(seeds, 1 / seeds), size=resamples)
    top, bottom = (times * sums[:, :seeds]).sum(axis=1), (times * sums[:, seeds:]).sum(axis=1)
    ratios: Array = np.divide(top, bottom, out=np.full(resamples, np.inf), where=bottom > 0)
    return ratios


def _spread(influence: Array) -> Spread:
    """Return the variance of a mean from (seeds, units) values of what each cell adds to it, to first order."""
    seeds, units = influence.shape
    rows, columns = influence.mean(axis=1), influence.mean(axis=0)
    of_seeds = float(rows.var(ddof=1)) / seeds
    if units == 1:
        return combined(of_seeds, 0.0, 0.0, seeds, units)
    of_units = float(columns.var(ddof=1)) / units
    # the values are centred, so that means need to be taken out but not put back
    rest = influence - rows[:, None] - columns
    of_rest = float((rest**2).sum()) / ((seeds - 1) * (units - 1) * seeds * units)
    return combined(of_seeds, of_units, of_rest, seeds, units)

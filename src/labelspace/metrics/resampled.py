"""How sure a metric is that is no mean over samples: kappa, balanced accuracy, calibration error, severity.

Such a metric has no value per sample. It is computed anew on every draw of samples instead.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.metrics.crossed import Array, Spread, combined, ends, obstacle, remark, sides, units_of
from labelspace.metrics.intervals import NEAR_ZERO, Interval

Metric = Callable[[Tensor, Tensor], Any]
OWNER = "metric_interval"
IGNORABLE = 0.25  # a bias below this share of the standard error changes the coverage by a percent or so
FEW = 5  # samples of a class: with 4, one draw in fifty has none of them


def metric_interval(
    metric: Metric,
    outputs: Numbers,
    y: Numbers,
    reference: Numbers | None = None,
    groups: Numbers | None = None,
    level: float = 0.95,
    relative: bool = False,
    resamples: int = 1000,
    seed: int = 0,
) -> Interval:
    """Return the interval of any metric's mean over seeds, or of its difference to a reference.

    For metrics that are means over samples use ``paired_interval`` on their ``per_sample=True`` values: it is exact
    where this is approximate, and far faster. Here ``metric`` is called on every draw of samples, or of whole groups,
    for each seed, ``resamples·seeds`` times (twice that with a reference). For five seeds and 10,000 samples this takes
    some 4 s with predictions, 20 s with probabilities of ten classes.

    The interval is the estimate ``± t_ν·√V`` with V and ν as there, and the p-value is that of the same t. V_s is the
    variance of the seeds' values over S; V_x and V_r come from the draws b of samples: with ``m_bs`` the value of
    seed s, ``V_x = var_b(mean_s m_bs)`` and ``V_r = Σ_bs r_bs²/((B−1)(S−1)S)``, r being ``m_bs`` without its means
    over b and over s, both times ``G/(G−1)``. For a mean these are what ``paired_interval`` computes. For others
    they hold to first order: a class with only a handful of samples, or a few groups, leave the interval too narrow.

    Metrics that grow with noise, as calibration errors do, are larger on few samples than on many, and larger on draws
    than on the samples drawn from. This bias, the mean of the draws minus the estimate, is taken off both ends (not
    off the estimate, which may so lie outside); ``note`` says so where it exceeds a quarter of √V. Where it exceeds
    √V, it is itself too uncertain: intervals meant to cover 95 percent then covered 60 to 95 in simulations.

    Args:
        metric: a function of outputs and labels of some samples that returns one number. Other arguments are bound
            first: ``lambda p, y: severity(p, y, cost)``.
        outputs: of each seed, what the metric takes: predictions, scores or probabilities.
        y: true class indices.
        reference: outputs of the reference for the same seeds and samples.
        groups: what each sample belongs to, numbers or strings; samples of one group are drawn together.
        level: share of intervals that cover the truth, in (0, 1).
        relative: give ``mean metric(outputs)/mean metric(reference) − 1`` instead of the difference.
        resamples: number of draws, at least 2.
        seed: the same seed gives the same interval.

    Shape:
        ``outputs`` and ``reference`` are (seeds, samples) or (seeds, samples, classes), ``y`` and ``groups``
        (samples,).

    Example:
        >>> from labelspace.metrics import balanced_accuracy
        >>> y = [0, 0, 0, 1, 1, 2]
        >>> predictions = [[0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 2]]  # 13/18 and 1
        >>> result = metric_interval(balanced_accuracy, predictions, y, resamples=100)
        >>> round(result.estimate, 4), result.low < result.estimate < result.high
        (0.8611, True)
    """
    _checks.number(OWNER, "level", level, low=0, high=1, open_low=True, open_high=True)
    _checks.whole(OWNER, "resamples", resamples, low=2)
    _inputs.seed(OWNER, seed)
    tables, labels = _checked(metric, outputs, y, reference, relative)
    units = units_of(OWNER, groups, tables[0].shape[1])
    values = _values(metric, tables, labels, relative)
    about = _about_samples(labels, units, groups is not None)
    draw = partial(_drawn, metric, tables, labels, units, resamples, seed)
    sizes = (len(units), int(units.max()) + 1)
    return interval_of_draws(values, draw, sizes, level=level, relative=relative, about=about)


def interval_of_draws(
    values: Array,
    draw: Callable[[], Array],
    sizes: tuple[int, int],
    *,
    level: float,
    relative: bool,
    about: Sequence[str] = (),
) -> Interval:
    """Return the interval that ``metric_interval`` describes, from a metric's values on all samples and on draws.

    Args:
        values: on all samples, (methods, seeds): those of the reference, if there is one, come second.
        draw: gives those on draws of units, (resamples, methods, seeds), NaN where the metric is not defined.
        sizes: number of samples, and of units.
        level: as there, and so the others.
        relative: the change instead of the difference.
        about: what a reader should know about the samples.
    """
    seeds, (samples, units) = values.shape[1], sizes
    estimate, note = float(_statistic(values.mean(axis=1), relative)), obstacle(seeds)
    if not note:
        drawn = draw()
        sound = drawn[np.isfinite(drawn).all(axis=(1, 2))]
        note = _unusable(sound, len(drawn), relative)
    if note:
        return Interval(estimate, None, None, level, seeds, samples, note)
    spread = _spread(values, sound, units, relative)
    bias = float(_statistic(sound.mean(axis=2).T, relative).mean()) - estimate
    low, high = ends(estimate - bias, spread, level)
    note = "; ".join(part for part in [*about, *_about_draws(len(sound), len(drawn), bias, spread)] if part)
    return Interval(estimate, low, high, level, seeds, samples, note, 2 * min(sides(estimate - bias, spread)))


def _statistic(means: Array, relative: bool) -> Array:
    """Return what the interval is of from the means over seeds of one or two methods, the first axis."""
    if len(means) == 1:
        return np.asarray(means[0])
    return np.asarray(means[0] / means[1] - 1 if relative else means[0] - means[1])


def _spread(values: Array, drawn: Array, units: int, relative: bool) -> Spread:
    """Return the variance of the estimate, from all samples (methods, seeds) and draws (draws, methods, seeds)."""
    seeds = values.shape[1]
    weights = _slopes(values.mean(axis=1), relative)
    of_seeds = float((weights @ values).var(ddof=1)) / seeds
    if units == 1:
        return combined(of_seeds, 0.0, 0.0, seeds, units)
    table = np.einsum("bms,m->bs", drawn, weights)
    means = table.mean(axis=1)
    rest = table - means[:, None] - table.mean(axis=0) + means.mean()
    # draws vary around the samples at hand, whose own variance is too small by (G − 1)/G
    share = units / (units - 1)
    of_rest = share * float((rest**2).sum()) / ((len(table) - 1) * (seeds - 1) * seeds)
    return combined(of_seeds, share * float(means.var(ddof=1)), of_rest, seeds, units)


def _slopes(means: Array, relative: bool) -> Array:
    """Return the derivatives of the statistic by the mean of each method."""
    if len(means) == 1:
        return np.ones(1)
    return np.array([1.0, -means[0] / means[1]]) / means[1] if relative else np.array([1.0, -1.0])


def _unusable(sound: Array, resamples: int, relative: bool) -> str:
    if 2 * len(sound) < resamples or len(sound) < 2:
        return f"no interval: the metric is not defined on {resamples - len(sound)} of {resamples} resamples"
    return NEAR_ZERO if relative and bool((sound[:, 1] <= 0).any()) else ""


def _about_samples(y: Tensor, units: NDArray[np.int64], grouped: bool) -> list[str]:
    """Return what a reader should know about groups and rare classes."""
    pairs = np.unique(np.stack([y.numpy(), units]), axis=1)
    labels, times = np.unique(pairs[0], return_counts=True)
    rare = labels[times < FEW].tolist()
    what = "groups with" if grouped else "samples of"
    warning = f"fewer than {FEW} {what} {_inputs.some_classes(rare)}: the interval may be too narrow" if rare else ""
    return [remark(int(units.max()) + 1, len(units), grouped), warning]


def _about_draws(sound: int, resamples: int, bias: float, spread: Spread) -> list[str]:
    """Return what a reader should know about resamples left out and a bias taken off."""
    left = f"the metric is not defined on {resamples - sound} of {resamples} resamples" if sound < resamples else ""
    share = abs(bias) / spread.variance**0.5 if spread.variance else 0.0
    if share <= IGNORABLE:
        return [left]
    side = "high" if bias > 0 else "low"
    doubt = ", but hardly all of it: more samples are needed" if share > 1 else ""
    return [left, f"on so few samples the metric is about {abs(bias):.2g} too {side}, taken off the interval{doubt}"]


def _checked(
    metric: object, outputs: object, y: object, reference: object, relative: bool
) -> tuple[list[Tensor], Tensor]:
    """Return the outputs, those of the reference after them, and the labels."""
    if not callable(metric):
        raise _checks.fail_type(OWNER, "metric", "a function of outputs and labels", repr(metric))
    table = _table("outputs", outputs)
    tables = [table]
    if relative and reference is None:
        raise _checks.fail(OWNER, "reference", "given when `relative` is True", "None")
    if reference is not None:
        tables = [table, _table("reference", reference)]
        if tables[1].shape[:2] != table.shape[:2]:
            remedy = "Pairs are the same seeds and samples, in the same order."
            expected = f"of {table.shape[0]} seeds and {table.shape[1]} samples like `outputs`"
            raise _checks.fail(OWNER, "reference", expected, f"shape {tuple(tables[1].shape)}", remedy)
    return tables, _inputs.class_indices(OWNER, "y", y, samples=table.shape[1])


def _table(argument: str, value: object) -> Tensor:
    numbers = _inputs.tensor(OWNER, argument, value).cpu()
    if numbers.ndim not in (2, 3) or not numbers.numel():
        expected = "of shape (seeds, samples) or (seeds, samples, classes)"
        remedy = "The outputs of one seed are x[None]."
        raise _checks.fail(OWNER, argument, expected, f"shape {tuple(numbers.shape)}", remedy)
    bad = (~torch.isfinite(numbers)).nonzero()
    if len(bad):
        place = bad[0].tolist()
        got = f"{numbers[tuple(place)].item()} for seed {place[0]}, sample {place[1]}"
        raise _checks.fail(OWNER, argument, "finite", got)
    return numbers


def _values(metric: Metric, tables: list[Tensor], y: Tensor, relative: bool) -> Array:
    """Return the metric on all samples, (methods, seeds)."""
    values = np.array([[_value(metric, outputs, y) for outputs in table] for table in tables])
    if not bool(np.isfinite(values).all()):
        method, seed = np.argwhere(~np.isfinite(values))[0].tolist()
        got = f"{values[method, seed]} for seed {seed}" + (" of `reference`" if method else "")
        raise _checks.fail(OWNER, "metric", "finite on all samples", got)
    if relative and values[1].mean() <= 0:
        remedy = "Ask for the difference instead: relative=False."
        raise _checks.fail(OWNER, "reference", "of a positive metric (relative)", f"{values[1].mean():g}", remedy)
    return values


def _value(metric: Metric, outputs: Tensor, y: Tensor) -> float:
    found = metric(outputs, y)
    if isinstance(found, Tensor | np.ndarray) and found.ndim == 0:
        found = found.item()
    if isinstance(found, bool) or not isinstance(found, Real):
        shape = getattr(found, "shape", None)
        got = type(found).__name__ if shape is None else f"shape {tuple(shape)}"
        remedy = "Choose one of several: lambda outputs, y: metric(outputs, y)[0]."
        raise _checks.fail_type(OWNER, "metric", "a function that returns one number", got, remedy)
    return float(found)


def _drawn(
    metric: Metric, tables: list[Tensor], y: Tensor, units: NDArray[np.int64], resamples: int, seed: int
) -> Array:
    """Return (resamples, methods, seeds) values on draws of units; NaN where the metric is not defined."""
    values = np.empty((resamples, len(tables), len(tables[0])))
    with warnings.catch_warnings():
        # what the metric has to say about absent classes it has said of all samples
        warnings.simplefilter("ignore")
        for row, chosen in zip(values, _draws(units, resamples, seed), strict=True):
            labels = y[chosen]
            for out, table in zip(row, tables, strict=True):
                out[:] = [_or_nan(metric, rows, labels) for rows in table[:, chosen]]
    return values


def _draws(units: NDArray[np.int64], resamples: int, seed: int) -> Iterator[Tensor]:
    """Yield the samples of each draw: as many units as there are, with replacement."""
    generator = np.random.default_rng(seed)
    order, number = np.argsort(units, kind="stable"), int(units.max()) + 1
    members = np.split(order, np.cumsum(np.bincount(units))[:-1])
    for _ in range(resamples):
        chosen = generator.integers(number, size=number, dtype=np.int32)
        samples = order[chosen] if number == len(units) else np.concatenate([members[unit] for unit in chosen])
        yield torch.from_numpy(samples)


def _or_nan(metric: Metric, outputs: Tensor, y: Tensor) -> float:
    try:
        return _value(metric, outputs, y)
    except (ValueError, ArithmeticError):  # on all samples it was defined: here a class is absent
        return np.nan

"""Rows over datasets: mean ranks and what tells them apart, mean changes with intervals, a test of signed ranks."""

import math
import string
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from labelspace import metrics
from labelspace.results.many import Mean

Costs = NDArray[np.float64]


class Ranked(NamedTuple):
    """Mean ranks of rows, and what tells them apart.

    Args:
        ranks: the mean over datasets of each row's place, 1 being the cheapest; equal costs share their places.
        friedman: p-value of all rows being alike, by Friedman's test; None for fewer than three rows.
        difference: of mean ranks, the smallest that tells two rows apart by Nemenyi's test; None as above.
    """

    ranks: tuple[float, ...]
    friedman: float | None = None
    difference: float | None = None


def ranked(costs: Costs, level: float) -> Ranked:
    """Return the mean ranks of rows.

    Args:
        costs: of every dataset and row; the lowest is the best.
        level: of the critical difference.

    Shape:
        ``costs`` is (datasets, rows), of two datasets or more.

    Example:
        >>> import numpy
        >>> ranked(numpy.array([[1.0, 2.0], [3.0, 3.0]]), 0.95).ranks
        (1.25, 1.75)
    """
    places = stats.rankdata(costs, axis=1)
    ranks = tuple(places.mean(axis=0).tolist())
    datasets, rows = costs.shape
    if rows < 3:
        return Ranked(ranks)
    alike = bool((places == places[:, :1]).all())  # nothing differs anywhere, which divides by zero
    friedman = 1.0 if alike else float(stats.friedmanchisquare(*costs.T).pvalue)
    return Ranked(ranks, friedman, critical_difference(rows, datasets, level))


def critical_difference(rows: int, datasets: int, level: float = 0.95) -> float:
    """Return the difference of mean ranks that tells two of several rows apart, by Nemenyi's test.

    ``q·√(k(k+1)/(6N))`` for k rows and N datasets, q being the quantile of the studentised range over ``√2``.

    Args:
        rows: how many are compared.
        datasets: over how many.
        level: of the test over all pairs.

    Example:
        >>> round(critical_difference(4, 14, 0.9), 2)  # Demšar's second example: 1.12
        1.12

    Reference:
        J. Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006).
    """
    quantile = float(stats.studentized_range.ppf(level, rows, np.inf)) / math.sqrt(2)
    return quantile * math.sqrt(rows * (rows + 1) / (6 * datasets))


def cliques(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """Return which neighbours among rising ranks are not told apart, as places of the first and the last.

    Args:
        ranks: the smallest first.
        difference: up to which two are not told apart.

    Example:
        >>> cliques([1.0, 1.5, 2.9, 4.0], 1.4)
        [(0, 1), (1, 2), (2, 3)]
    """
    found: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(place for place, other in enumerate(ranks) if other - rank <= difference)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def letters(ranks: Sequence[float], difference: float) -> list[str]:
    """Return letters for rising ranks: those that share one are not told apart.

    Example:
        >>> letters([1.0, 1.5, 2.9, 4.4], 1.4)
        ['a', 'ab', 'b', 'c']
    """
    spans = cliques(ranks, difference)
    alone = [(place, place) for place in range(len(ranks)) if not any(low <= place <= high for low, high in spans)]
    named = list(zip(_names(), sorted(spans + alone), strict=False))
    return ["".join(name for name, (low, high) in named if low <= place <= high) for place in range(len(ranks))]


def _names() -> Sequence[str]:
    """Return more letters than rows would ever need."""
    return [*string.ascii_lowercase, *string.ascii_uppercase]


def mean_change(before: Sequence[float], after: Sequence[float], level: float) -> Mean | None:
    """Return the mean relative change over datasets, of the logarithms of ratios, with Student's interval.

    Args:
        before: costs, one per dataset.
        after: costs of the same datasets.
        level: of the interval.

    Example:
        >>> mean_change([1.0, 1.0], [0.5, 2.0], 0.95).estimate  # halved here, doubled there
        0.0
    """
    pairs = [(one, other) for one, other in zip(before, after, strict=True) if one > 0 and other > 0]
    if not pairs:
        return None
    ratios = np.log([other / one for one, other in pairs])
    mean, count = float(ratios.mean()), len(ratios)
    if count < 2:
        return Mean(estimate=math.expm1(mean), datasets=count)
    half = float(stats.t.ppf((1 + level) / 2, count - 1)) * float(ratios.std(ddof=1)) / math.sqrt(count)
    ends = math.expm1(mean - half), math.expm1(mean + half)
    return Mean(estimate=math.expm1(mean), low=ends[0], high=ends[1], datasets=count)


def signed_ranks(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test, exact also where differences tie.

    Differences of zero are left out. The ranks of the others are flipped as ``metrics.sign_flip_test`` does it, which
    without ties is what ``scipy.stats.wilcoxon`` calls exact.

    Args:
        differences: one per dataset.

    Example:
        >>> signed_ranks([0.3, 0.1, 0.2, 0.4, 0.25, 0.15])
        0.03125
    """
    moved = np.array([each for each in differences if each != 0])
    if not len(moved):
        return 1.0
    return metrics.sign_flip_test((np.sign(moved) * stats.rankdata(np.abs(moved))).tolist())

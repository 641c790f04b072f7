"""What made labels cheaper: what their space says of the classes, or smoothing as such. Each answer rests on a test.

The structure: the space among its shuffled forms, by rank. Smoothing: what knows nothing of the classes has at least
three quarters of the gain, beyond chance. What neither test shows is not said.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from labelspace import metrics
from labelspace.comparison.change import change_of
from labelspace.comparison.headline import costs
from labelspace.comparison.rows import Judged
from labelspace.criteria import criterion_class, methods
from labelspace.metrics import Interval
from labelspace.metrics.crossed import Spread, ends, units_of
from labelspace.results import Cause, Shuffled

PART = 0.25  # of the winner's gain: where the structure adds less than that, it was not the structure
RANK = 0.05  # a p-value that nineteen shuffles reach where none of them is as cheap
Array = NDArray[np.float64]


class Shuffles(NamedTuple):
    """What shuffled forms of the winner's space cost.

    Args:
        costs: of every test sample, ``(shuffles, seeds, samples)``.
        places: which of the judged seeds each was trained with, a line for each shuffle and last one for the winner's
            own part in the ranking: all have equally many.
    """

    costs: Tensor
    places: Sequence[Sequence[int]]


class Found(NamedTuple):
    """What did it, the sentence that says so, and the numbers of the shuffles."""

    cause: Cause | None
    text: str
    shuffled: Shuffled | None = None


def taken_in_turn(count: int, each: int, seeds: int) -> list[list[int]]:
    """Return which seeds shuffles are trained with: a few each, in turn, so that all seeds count alike.

    Args:
        count: of the trainings to share them out to.
        each: seeds of one of them.
        seeds: how many there are.

    Example:
        >>> taken_in_turn(4, 2, 6)
        [[0, 1], [2, 3], [4, 5], [0, 1]]
    """
    few = min(each, seeds)
    return [[(few * number + place) % seeds for place in range(few)] for number in range(count)]


def ranked(winner: Tensor, shuffles: Shuffles) -> Shuffled:
    """Return where a space stands among its shuffled forms, each trained with as many seeds.

    If the structure had no share in it, the space would be one more shuffle: it is among the cheapest ``r`` of n + 1
    with probability ``r / (n + 1)``, whatever the distribution of costs. That is the p-value, with r = 1 + the number
    of shuffles that cost no more.

    Args:
        winner: its costs with all seeds, ``(seeds, samples)``.
        shuffles: of its space.
    """
    own = float(winner[list(shuffles.places[-1])].double().mean())
    means = shuffles.costs.double().mean(dim=(1, 2))
    as_cheap = int((means <= own).sum())
    return Shuffled(
        count=len(means),
        seeds=shuffles.costs.shape[1],
        as_cheap=as_cheap,
        p_value=(1 + as_cheap) / (1 + len(means)),
        cost=own,
        mean=float(means.mean()),
        least=float(means.min()),
        most=float(means.max()),
    )


def beyond_most(
    shuffles: Shuffles, winner: Tensor, reference: Tensor, groups: Tensor | None, level: float
) -> tuple[float, float]:
    """Return the interval of what shuffled forms cost beyond ``(1 − PART)·winner + PART·reference``, on average.

    Below 0 they have more than ``1 − PART`` of the winner's gain. Three sources of chance: the shuffles, the seeds and
    the test samples; each is counted with all that it does, so that the interval is rather too wide.

    Args:
        shuffles: of the winner's space.
        winner: ``(seeds, samples)``.
        reference: of the same seeds and samples.
        groups: of the samples.
        level: of the interval.
    """
    table = shuffles.costs.double().numpy()
    bar = ((1 - PART) * winner.double() + PART * reference.double()).numpy()
    of_samples = table.mean(axis=(0, 1)) - bar.mean(axis=0)
    units = units_of("cause", groups, len(of_samples))
    sums = np.bincount(units, weights=of_samples)
    of_seeds = [_of_seed(table.mean(axis=2), shuffles.places, seed) - bar[seed].mean() for seed in range(len(bar))]
    parts = [
        (float(sums.var(ddof=1)) * len(sums) / len(of_samples) ** 2, len(sums) - 1),
        (float(table.mean(axis=(1, 2)).var(ddof=1)) / len(table), len(table) - 1),
        (float(np.var(of_seeds, ddof=1)) / len(bar), len(bar) - 1),
    ]
    variance = sum(part for part, _ in parts)
    freedom = variance**2 / sum(part**2 / free for part, free in parts) if variance > 0 else 1.0
    return ends(float(of_samples.mean()), Spread(variance, freedom), level)


def _of_seed(means: Array, places: Sequence[Sequence[int]], seed: int) -> float:
    """Return the mean over the shuffles that were trained with a seed; over all where none was."""
    found = [row[there.index(seed)] for row, there in zip(means, places, strict=False) if seed in there]
    return float(np.mean(found if found else means))


def cause_of(
    rows: Sequence[Judged], winner: Judged, word: str, shuffles: Shuffles | None, groups: Tensor | None, level: float
) -> Found:
    """Return what made the winner cheaper.

    Args:
        rows: the reference first.
        winner: the one that is cheaper.
        word: what the structured space holds: order, tree, groups, …
        shuffles: of its space; None where there are none.
        groups: of the test samples.
        level: of the intervals.
    """
    blind = max((row for row in rows if _smooths(row) == "blindly" and row is not winner), key=_merit, default=None)
    enough = blind is not None and _has_most(blind, winner, rows[0], groups, level)
    if winner.structured:
        return _structured(rows[0], winner, word, shuffles, blind if blind is None else (blind, enough), groups, level)
    if _smooths(winner) == "blindly":
        return Found("smoothing", f"They know nothing of the classes: smoothing did it{_beside(rows, word)}.")
    if _smooths(winner) != "learning":
        return Found(None, "")
    if blind is None:
        learning = "Learned smoothing did it; what learning adds to plain smoothing was not asked"
    elif enough:
        learning = f"{_named(blind)} have at least {_most()} of the gain: smoothing did it, not that it is learned"
    elif _below(_against(winner, blind, groups)):
        learning = f"{_named(blind)} gain less: learned smoothing did it"
    else:
        learning = f"Smoothing did it; that learning adds to {blind.label} labels ({_cost(blind)}) is not shown"
    return Found("smoothing", f"{learning}{_beside(rows, word)}.")


def _structured(
    reference: Judged,
    winner: Judged,
    word: str,
    shuffles: Shuffles | None,
    blind: tuple[Judged, bool] | None,
    groups: Tensor | None,
    level: float,
) -> Found:
    shuffled = None if shuffles is None else ranked(winner.costs, shuffles)
    if blind is not None and blind[1]:
        text = f"{_named(blind[0])} have at least {_most()} of the gain: smoothing did it, not the {word}."
        return Found("smoothing", text, shuffled)
    if shuffles is None or shuffled is None:
        text = f"No shuffled forms of its space ran beside {winner.label} labels: what did it is unclear."
        return Found("unclear", text)
    seeds = len(winner.costs)
    _, high = beyond_most(shuffles, winner.costs, reference.costs, groups, level) if seeds > 1 else (0.0, 0.0)
    first = shuffled.p_value <= RANK + 1e-9
    told = _told(shuffled)
    if high < 0:
        rest = f", of which none is as cheap: smoothing did most of it, the {word} the rest" if first else None
        rest = rest or f": smoothing did it, not the {word}"
        return Found("smoothing", f"{told} have at least {_most()} of the gain{rest}.", shuffled)
    if not first:
        text = f"{told}, {shuffled.as_cheap} of them no more than it does"
        return Found("unclear", f"{text} (p = {shuffled.p_value:.2g}): that the {word} did it is not shown.", shuffled)
    if blind is not None and not _below(_against(winner, blind[0], groups)):
        text = f"No shuffled form is as cheap (p = {shuffled.p_value:.2g}), but {_named(blind[0])} cannot be told apart"
        return Found("unclear", f"{text} from it: what did it is unclear.", shuffled)
    return Found(
        "structure", f"{told}, none as little as it does (p = {shuffled.p_value:.2g}): the {word} did it.", shuffled
    )


def _told(shuffled: Shuffled) -> str:
    mean, least, most = costs(shuffled.mean, shuffled.least, shuffled.most)
    return f"Its {shuffled.count} shuffled forms cost {mean} on average ({least} to {most})"


def _most() -> str:
    return f"{100 * (1 - PART):g}\N{NARROW NO-BREAK SPACE}%"


def _has_most(blind: Judged, winner: Judged, reference: Judged, groups: Tensor | None, level: float) -> bool:
    """Return whether smoothing that knows nothing has most of the winner's gain, beyond chance."""
    bar = (1 - PART) * winner.costs + PART * reference.costs
    found = metrics.paired_interval(blind.costs, bar, groups=groups, level=level)
    return found.high is not None and found.high < 0


def _beside(rows: Sequence[Judged], word: str) -> str:
    """Return what labels cost that know something of the classes, where others won."""
    known = max((row for row in rows if row.structured), key=_merit, default=None)
    return "" if known is None else f"; {known.label} labels, which know the {word}, cost {_cost(known)}"


def _merit(row: Judged) -> float:
    return row.merit


def _smooths(row: Judged) -> str:
    known = row.role in ("method", "reference") and row.method in methods()
    return criterion_class(row.method).smooths if known else ""


def _named(row: Judged) -> str:
    return f"{row.shown} ({_cost(row)})"


def _cost(row: Judged) -> str:
    return costs(row.headline.cost)[0]


def _against(row: Judged, other: Judged, groups: Tensor | None) -> Interval | None:
    """Return the change of the cost from another row to this one."""
    return change_of(row.costs, other.costs, 0.95 if row.moved is None else row.moved.level, groups)


def _below(interval: Interval | None) -> bool:
    """Return whether a change is a saving beyond chance."""
    return interval is not None and interval.high is not None and interval.high < 0

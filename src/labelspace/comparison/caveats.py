"""What a reader of a comparison should know before believing it."""

from collections.abc import Sequence

import torch
from torch import Tensor

from labelspace import metrics
from labelspace.comparison.rows import Judged, change_of
from labelspace.data.dataset import Dataset
from labelspace.data.splits import leak_sentences
from labelspace.report.words import decimals_for, fixed, interval, percent


def caveats(
    rows: Sequence[Judged],
    dataset: Dataset | None,
    problems: Sequence[str] = (),
    groups: Tensor | None = None,
    level: float = 0.95,
) -> list[str]:
    """Return warnings, the gravest first.

    Args:
        rows: of the table, the reference first.
        dataset: the data; None where only scores are known.
        problems: runs that failed.
        groups: of the test samples.
        level: of the intervals that decide what is worth a warning.
    """
    found = [*problems]
    if dataset is not None:
        found += _data(dataset)
    return [*found, *_badly_priced(rows, groups, level), *_selective(rows, level)]


def _data(dataset: Dataset) -> list[str]:
    found = []
    counts = torch.bincount(dataset.test.y, minlength=len(dataset.names)).tolist()
    absent = [name for name, count in zip(dataset.names, counts, strict=True) if count == 0]
    if absent:
        shown = ", ".join(absent[:5]) + (f" and {len(absent) - 5} more" if len(absent) > 5 else "")
        found.append(f"No test sample is of class {shown}: nothing is known about mistakes there.")
    found += leak_sentences(dataset.source)
    return found


def _badly_priced(rows: Sequence[Judged], groups: Tensor | None, level: float) -> list[str]:
    """Return a warning where the free rival is no rival: plain one-hot labels with argmax cost less."""
    reference = rows[0]
    if reference.min_cost is None or float(reference.plain_costs.mean()) <= 0:
        return []
    dearer = change_of(reference.costs, reference.plain_costs, level, groups, fixed=True)
    if dearer is None or dearer.low is None or dearer.low <= 0:
        return []
    before, after = reference.argmax.cost, reference.min_cost.cost
    decimals = decimals_for([before, after])
    text = (
        f"Minimum-cost decisions cost {reference.spoken} {fixed(after, decimals)}, more than argmax does"
        f" ({fixed(before, decimals)}): its probabilities mislead, even after temperature."
    )
    winner = next((row for row in rows if row.winner), None)
    if winner is None:
        return [text]
    moved = metrics.paired_interval(winner.costs, reference.plain_costs, groups=groups, level=level, relative=True)
    shown = f"{percent(moved.estimate)} {interval(moved.low, moved.high)}".removesuffix(" –")
    return [f"{text} Against argmax, {winner.label}: {shown}."]


def _selective(rows: Sequence[Judged], level: float) -> list[str]:
    """Return a warning where a method saves cost but knows less well which of its decisions to doubt."""
    reference, found = rows[0], []

    def column(values: Sequence[float]) -> Tensor:
        return torch.tensor(values, dtype=torch.float64)[:, None]

    for row in rows[1:]:
        cheaper = row.role == "method" and row.moved is not None and row.moved.high is not None
        if not cheaper or row.moved is None or row.moved.high is None or row.moved.high >= 0:
            continue
        worse = metrics.paired_interval(column(row.selective), column(reference.selective), level=level)
        if worse.low is not None and worse.low > 0:
            found.append(row.label)
    if not found:
        return []
    verb = "costs" if len(found) == 1 else "cost"
    return [
        f"{', '.join(found)} {verb} less, but selective prediction gets worse: leaving the doubtful samples to"
        f" somebody else saves less than with {reference.spoken} (area under risk–coverage)."
    ]

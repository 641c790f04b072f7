"""What helps most, decisions, classifier or labels, and what it is worth for many samples."""

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from labelspace.comparison.change import change_of
from labelspace.comparison.rows import Judged
from labelspace.metrics import Interval
from labelspace.report.words import decimals_for, fixed, percent

MANY = 10_000  # samples that money is spoken of for


class Help(NamedTuple):
    """One way to do better: what it is, how it is done, and the cost per sample without and with it."""

    what: str
    how: str
    before: float
    after: float
    moved: Interval | None

    @property
    def text(self) -> str:
        """It in words; what an interval does not tell from nothing may be chance."""
        change = f", {percent(self.after / self.before - 1)}" if self.before > 0 else ""
        sure = self.moved is not None and self.moved.high is not None and self.moved.high < 0
        doubt = ", may be chance" if self.after < self.before and not sure else ""
        return f"{self.what} ({self.how}: {' → '.join(costs(self.before, self.after))}{change}{doubt})"


def costs(*values: float) -> list[str]:
    """Return costs per sample as sentences say them.

    Example:
        >>> costs(0.5561, 12.3)
        ['0.556', '12.3']
    """
    return [fixed(value, decimals_for([value])) for value in values]


def helps(rows: Sequence[Judged], groups: Tensor | None, level: float) -> str:
    """Return what saves most, the largest first; nothing where there is nothing to choose between.

    Args:
        rows: the reference first.
        groups: of the test samples.
        level: of the intervals that tell a saving from chance.
    """
    found = sorted(_ways(rows, groups, level), key=lambda way: way.after - way.before)
    if len(found) < 2:
        return ""
    saving = [way.text for way in found if way.after < way.before]
    idle = [way.text for way in found if way.after >= way.before]
    if not saving:
        return f"Nothing helps: {', '.join(idle)}."
    rest = f"; not {' or '.join(idle)}" if idle else ""
    return f"What helps most: {', then '.join(saving)}{rest}."


def _ways(rows: Sequence[Judged], groups: Tensor | None, level: float) -> list[Help]:
    reference, found = rows[0], []
    winner = next((row for row in rows if row.winner), None)
    if reference.min_cost is not None:
        moved = change_of(reference.costs, reference.plain_costs, level, groups, fixed=True)
        before, after = reference.argmax.cost, reference.min_cost.cost
        found.append(Help("decisions", "minimum cost instead of argmax", before, after, moved))
    if winner is not None:
        what = "labels" if winner.method else "the classifier"  # models from elsewhere differ as they may
        costs = reference.headline.cost, winner.headline.cost
        found.append(Help(what, f"{winner.label} instead of {reference.label}", *costs, winner.moved))
    rival = max((row for row in rows if row.role == "rival"), key=lambda row: row.merit, default=None)
    if rival is not None:
        network = max((row for row in rows if row.role in ("reference", "method")), key=lambda row: row.merit)
        same = rival.costs.shape == network.costs.shape
        moved = change_of(rival.costs, network.costs, level, groups, fixed=True) if same else None
        how = f"{rival.label} instead of the network with {network.label}"
        found.append(Help("the classifier", how, network.headline.cost, rival.headline.cost, moved))
    return found


def worth(best: Judged, reference: Judged) -> str:
    """Return what many samples cost with what is taken home, and with what there was before.

    Args:
        best: the row to take home.
        reference: the first row; by argmax it is what there was.
    """
    before, after = (MANY * value for value in (reference.argmax.cost, best.headline.cost))
    priced = best.min_cost is not None
    if best.label == reference.label and not priced:
        return ""
    unit, decides = ("", " with minimum-cost decisions") if priced else (" mistakes", "")
    plainly = f"{reference.label} with argmax" if priced else reference.label
    return (
        f"Per {MANY:,} samples: {_amount(after)}{unit} instead of {_amount(before)} ({best.label}{decides}; {plainly})."
    )


def _amount(value: float) -> str:
    """Return an amount with its thousands apart; small ones keep three digits."""
    return f"{value:,.0f}" if value >= 100 else fixed(value, decimals_for([value]))

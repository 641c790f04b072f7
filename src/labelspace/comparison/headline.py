"""What helps most, decisions, classifier or labels, what it is worth for many samples, and what to do about it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from torch import Tensor

from labelspace.comparison.change import PerSample, change_of
from labelspace.comparison.rows import Judged
from labelspace.metrics import Interval
from labelspace.report.words import decimals_for, fixed, gained, interval, per_sample, percent

MANY = 10_000  # samples that money is spoken of for
NOTHING_YET = "Take none of these home yet: what they cost means little for the reason above."


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
        if isinstance(self.moved, PerSample):
            change = f", {gained(replace(self.moved, low=None, high=None))}"
        sure = self.moved is not None and self.moved.high is not None and self.moved.high < 0
        doubt = ", may be chance" if self.after < self.before and not sure else ""
        return f"{self.what} ({self.how}: {' → '.join(costs(self.before, self.after))}{change}{doubt})"


def change_text(moved: Interval) -> str:
    """Return a change and its interval: in percent, or what is gained per sample where it is no share of a cost.

    Args:
        moved: the change.
    """
    if isinstance(moved, PerSample):
        return gained(moved)
    return f"{percent(moved.estimate)} {interval(moved.low, moved.high)}".removesuffix(" –")


def size_text(size: float, moved: Interval | None) -> str:
    """Return how large a change is, without its sign, in the unit of another.

    Args:
        size: such as a margin, see ``within``.
        moved: the change whose unit it has.
    """
    if isinstance(moved, PerSample):
        return f"{per_sample(size, sign=False)} per sample"
    return percent(size, sign=False)


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
        moved = saved_by_decisions(reference, level, groups)
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
        refits = rival.refits_beside(network)
        moved = change_of(rival.costs, network.costs, level, groups, True, refits) if same else None
        how = f"{rival.label} instead of the network with {network.label}"
        found.append(Help("the classifier", how, network.headline.cost, rival.headline.cost, moved))
    return found


def saved_by_decisions(row: Judged, level: float, groups: Tensor | None) -> Interval | None:
    """Return the change of the cost from calling the likeliest class to decisions of least expected cost.

    Args:
        row: of one method or model.
        level: of the interval.
        groups: of the test samples.
    """
    return change_of(row.costs, row.plain_costs, level, groups, True, row.refits_beside_argmax())


def worth(best: Judged, reference: Judged) -> str:
    """Return what many samples cost with what is taken home, with what there was before, and with the free rival.

    Args:
        best: the row to take home, of all rows.
        reference: the first row; by argmax it is what there was, and by minimum-cost decisions it is the free rival.
    """
    before, after = (MANY * value for value in (reference.argmax.cost, best.headline.cost))
    priced = best.min_cost is not None
    if best.label == reference.label and not priced:
        return ""
    unit, decides = ("", " with minimum-cost decisions") if priced else (" mistakes", "")
    plainly = f"{reference.label} with argmax" if priced else reference.label
    text = (
        f"Per {MANY:,} samples: {_amount(after)}{unit} instead of {_amount(before)} ({best.label}{decides}; {plainly})"
    )
    if best.label == reference.label or not priced:
        return f"{text}."
    free = _amount(MANY * reference.headline.cost)
    return f"{text}; {reference.label} with minimum-cost decisions, which train nothing more: {free}."


def advice(rows: Sequence[Judged], best: int, groups: Tensor | None, level: float) -> str:
    """Return the sentence that a person would act on: what to take, and what saves nothing beside it.

    Args:
        rows: the reference first.
        best: the place of the one to take home.
        groups: of the test samples.
        level: of the intervals that tell a saving from chance.
    """
    taken = rows[best]
    how, unit = (
        ("", "mistakes per sample") if taken.min_cost is None else (" with minimum-cost decisions", "per sample")
    )
    which = f" ({'; '.join(_counted(row, taken) for row in models_of(rows, taken))})" if taken.mixed else ""
    first = f"Take {taken.spoken}{which}{how}: {costs(taken.headline.cost)[0]} {unit}."
    beside = [_several(rows, taken), _dearer(rows, taken, groups, level), _labels_beside(rows, taken)]
    beside += [_rival_beside(rows, taken), _decided(taken, groups, level)]
    rest = "; ".join(text for text in beside if text)
    said = f"{first} {rest[0].upper()}{rest[1:]}." if rest else first
    return f"{said} {_apart(rows, taken)}".rstrip()


def _apart(rows: Sequence[Judged], taken: Judged) -> str:
    """Return that verdict and recommendation answer two questions, where somebody might think that they disagree."""
    winner, reference, models = next((row for row in rows if row.winner), None), rows[0], models_of(rows, taken)
    if winner is None or models == [winner]:
        return ""
    saved = winner.moved
    if models == [reference] and (saved is None or saved.high is None or saved.high >= 0):
        return ""
    return f"The verdict is about {winner.spoken} against {reference.spoken}, this choice about all rows."


def models_of(rows: Sequence[Judged], taken: Judged) -> list[Judged]:
    """Return the rows whose models are taken: of several models that are one all of these, else the row itself.

    Args:
        rows: all of them.
        taken: one of them.
    """
    if taken.mixed:
        single = [row for row in rows if row.role not in ("ensemble", "control")]
        return [row for row in single if not set(row.runs).isdisjoint(taken.runs)]
    return [next((row for row in rows if taken.role == "ensemble" and row.label == taken.of), taken)]


def _counted(row: Judged, taken: Judged) -> str:
    """Return how many models of a row are taken."""
    count = len(set(row.runs) & set(taken.runs))
    return row.label if count == 1 else f"{count} × {row.label}"


def _several(rows: Sequence[Judged], taken: Judged) -> str:
    """Return what several models as one take, and what one of them would cost."""
    models = models_of(rows, taken)
    if models == [taken]:
        return ""
    one, count = max(models, key=lambda row: row.merit), len(taken.runs)
    alone, longer = costs(one.headline.cost)[0], f"it takes {count} times as long to run as one"
    if taken.mixed:
        return f"validation data do not tell them apart; {longer} ({one.label}: {alone})"
    return f"{longer}, which costs {alone}"


def _cheapest(rows: Sequence[Judged], taken: Judged) -> Judged:
    """Return the row that costs least on test data, the one that is taken where no other costs less."""
    others = [row for row in rows if row.role != "control"]
    return min([taken, *others], key=lambda row: row.headline.cost)


def _dearer(rows: Sequence[Judged], taken: Judged, groups: Tensor | None, level: float) -> str:
    """Return which row is the cheapest on test data where that is another one, and whether it may be so by chance.

    Of several rows the luckiest is the cheapest: the interval holds for whichever of them it might have been.
    """
    least, among = _cheapest(rows, taken), sum(row.role != "control" for row in rows) - 1
    cost, mine, other = costs(least.headline.cost)[0], taken.costs, least.costs
    if cost == costs(taken.headline.cost)[0]:  # itself, or what nobody can tell from it in the table
        return ""
    refits = taken.refits_beside(least)
    if len(mine) != len(other):  # one model beside several
        mine, other, refits = mine.mean(dim=0, keepdim=True), other.mean(dim=0, keepdim=True), None
    moved = change_of(mine, other, 1 - (1 - level) / max(among, 1), groups, True, refits)
    if moved is None or moved.low is None or moved.low <= 0:
        return f"on test data {least.label} costs less ({cost}), which may be chance"
    text = f"on test data it is dearer than {least.label} ({cost}), beyond chance: {change_text(moved)}"
    return f"{text}, which validation data did not show"


def _labels_beside(rows: Sequence[Judged], taken: Judged) -> str:
    """Return what labels add to what is taken."""
    winner, reference = next((row for row in rows if row.winner), None), rows[0]
    if winner is None:
        return ""
    models = models_of(rows, taken)
    if winner in models and taken.mixed:
        return ""
    if winner not in models:
        what = "better labels save" if winner.method else "another model saves"
        return _not_taken(rows, winner, taken, f"{what} nothing on top")
    saved = winner.moved
    if saved is None or saved.high is None or saved.high >= 0:
        return f"that this costs less than {reference.spoken} ({costs(reference.headline.cost)[0]}) is not shown"
    if isinstance(saved, PerSample):
        more = per_sample(-saved.estimate, sign=False)
        return f"{'the labels gain' if winner.method else 'it gains'} {more} more per sample than {reference.spoken}"
    what = "the labels save" if winner.method else "it saves"
    return f"{what} {percent(-saved.estimate, sign=False)} against {reference.spoken}"


def _rival_beside(rows: Sequence[Judged], taken: Judged) -> str:
    """Return that no rival costs less, where one stands beside a network that is taken."""
    rival = max((row for row in rows if row.role == "rival"), key=lambda row: row.merit, default=None)
    own = any(row.role == "rival" for row in models_of(rows, taken))
    return "" if rival is None or own else _not_taken(rows, rival, taken, "no rival costs less")


def _not_taken(rows: Sequence[Judged], row: Judged, taken: Judged, said: str) -> str:
    """Return that a row is no better; where it is on test data, that the choice could not know it.

    Of the cheapest one on test data it is said already, see ``_dearer``.
    """
    cost, own = costs(row.headline.cost, taken.headline.cost)
    if cost == own or row.headline.cost >= taken.headline.cost:
        return f"{said} ({row.label}: {cost})"
    if row is _cheapest(rows, taken):
        return ""
    return f"on test data {row.label} costs less ({cost}), which validation data did not show"


def _decided(taken: Judged, groups: Tensor | None, level: float) -> str:
    """Return what decisions save of what is taken."""
    if taken.min_cost is None:
        return ""
    moved, before = saved_by_decisions(taken, level, groups), costs(taken.argmax.cost)[0]
    if moved is None or moved.high is None or moved.high >= 0:
        return f"that these decisions cost less than argmax ({before}) is not shown"
    if isinstance(moved, PerSample):
        return f"the decisions gain {per_sample(-moved.estimate, sign=False)} more per sample than argmax ({before})"
    return f"the decisions save {percent(-moved.estimate, sign=False)} of what argmax costs ({before})"


def _amount(value: float) -> str:
    """Return an amount with its thousands apart; small ones keep three digits."""
    if abs(value) < 100:
        return fixed(value, decimals_for([value]))
    return f"{value:,.0f}".replace("-", "−")

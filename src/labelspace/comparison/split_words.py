"""What several splits of the same data say together, in sentences, and what a reader should know of them."""

from collections.abc import Sequence

from labelspace.comparison.headline import costs
from labelspace.report.words import THIN, interval, percent
from labelspace.results import Change, Kind
from labelspace.results.many import LeftOut, Place
from labelspace.results.splits import Line

ENOUGH = 3  # splits, below which nothing is decided


def main(winner: Line, reference: Line, kind: Kind, margin: float) -> str:
    """Return what came out for the winner.

    Args:
        winner: the method that was chosen in each split.
        reference: what it is compared with.
        kind: the verdict.
        margin: relative changes within ± this do not matter.
    """
    count = len(winner.costs)
    before, after = costs(reference.cost, winner.cost)
    text = f"Over {count} splits {winner.label} {'costs' if winner.role is None else 'labels cost'} {after} per sample"
    if winner.change is None:
        return f"{text}, {reference.label} {before}: no relative change can be given."
    moved = changed(winner.change)
    if count < ENOUGH:
        few = f"Undecided, since {count} splits say too little of how much splits differ: {ENOUGH} or more decide."
        return f"{text}, {reference.label} {before}: {moved}. {few}"
    if kind == "undecided":
        return f"{text}, {reference.label} {before}: {moved}.{_doubt(winner.change, margin)}"
    if kind == "no difference":
        return f"{text}, {reference.label} {before}: {moved}, inside ±{percent(margin, sign=False)}."
    return f"{text} instead of {before}: {moved}."


def _doubt(change: Change, margin: float) -> str:
    """Return why nothing is decided."""
    if change.low is None or change.high is None:
        return ""
    if -margin <= change.low and change.high <= margin:
        return " So few samples differ that splits agree by that alone."
    if change.low <= 0 <= change.high:
        return " Splits differ too much to tell."
    return f" It is there, but may well be inside ±{percent(margin, sign=False)}."


def changed(change: Change) -> str:
    r"""Return a change and its interval; the level is named where it is not the usual one.

    Args:
        change: over splits.

    Example:
        >>> changed(Change(estimate=-0.3, low=-0.4, high=-0.2, level=0.9))
        '−30\u202f% [−40, −20] (90\u202f% interval)'
    """
    if change.low is None or change.high is None:
        return percent(change.estimate)
    named = "" if change.level == 0.95 else f" ({100 * change.level:g}{THIN}% interval)"
    return f"{percent(change.estimate)} {interval(change.low, change.high)}{named}"


def taken(line: Line, reference: Line, regret: Change | None) -> str:
    """Return what it costs to do as each split says.

    Args:
        line: of what was recommended.
        reference: what it is compared with.
        regret: against the cheapest row of each split.
    """
    (cost,) = costs(line.cost)
    moved = "" if line.change is None else f", {changed(line.change)} against {reference.label}"
    if regret is None:
        return f"What each split recommends costs {cost} on average{moved}."
    if not regret.estimate:
        return (
            f"What each split recommends costs {cost} on average{moved}: in every split the cheapest row on test data."
        )
    more = percent(regret.estimate, sign=False)
    return (
        f"What each split recommends costs {cost} on average{moved}: {more} more than the cheapest row of each split on"
        " test data, which nobody knows beforehand."
    )


def steady(rows: Sequence[Line], places: Sequence[Place]) -> str:
    """Return which row was recommended most often; empty where that is none of those that all splits have.

    Args:
        rows: that all splits have.
        places: the splits.
    """
    often = max(rows, key=lambda row: row.recommended)
    if not often.recommended:
        return ""
    return f"Recommended most often: {often.label}, in {often.recommended} of {len(places)} splits."


def warnings(places: Sequence[Place], thin: int, left_out: Sequence[LeftOut]) -> tuple[str, ...]:
    """Return what a reader should know.

    Args:
        places: the splits.
        thin: in how many splits the winner's change had no test of its own.
        left_out: rows that some splits lack.
    """
    found = []
    if thin:
        found.append(
            f"In {thin} of {len(places)} splits the winner's change rests on so few costly samples that the split alone"
            " has no test. Splits share samples: what is dear and rare stays rare in all of them together."
        )
    found += [f"Not in the table: {each.label}, missing in {', '.join(each.missing)}." for each in left_out]
    return tuple(found)

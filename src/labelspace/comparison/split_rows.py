"""The rows of several splits of the same data: which are the same, what they cost on average, and how that moved."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from labelspace import metrics
from labelspace.comparison.ranks import Costs
from labelspace.metrics import Interval
from labelspace.results import Change, Result, Role, Row
from labelspace.results.many import LeftOut
from labelspace.results.splits import Line

WINNER, RECOMMENDED = "the winner of each split", "the recommendation of each"
ALIKE = "the average of rows that are alike"
OF = {"reference": "the reference", "method": "the winner", "rival": "the best rival"}  # what ensembles are of


class Key(NamedTuple):
    """What makes rows of several splits one row; an ensemble is what the row it is of is, and not its name."""

    role: Role
    label: str = ""
    method: str = ""
    of: str = ""


def change_over(mine: Sequence[float], reference: Sequence[float], share: float, level: float) -> Interval | None:
    """Return the relative change of a mean cost over splits; None where the reference costs nothing on average.

    It is ``metrics.corrected_interval`` of the differences, in units of the reference's mean: a test of the mean with
    the variance of Nadeau and Bengio. A split in which nothing costs anything is no hindrance. Tests of ratios, in
    which it cancels that some test parts are dear for everybody, take rare dear samples for an effect.

    Args:
        mine: costs, one per split.
        reference: costs of the same splits.
        share: test samples per sample that is trained or chosen with.
        level: of the interval.

    Example:
        >>> found = change_over([0.7, 0.8, 0.6], [1.0, 1.0, 1.0], share=0.2, level=0.95)
        >>> round(found.estimate, 3), round(found.low, 3), round(found.high, 3)
        (-0.3, -0.614, 0.014)
    """
    costs: Costs = np.array([mine, reference])
    below = costs[1].mean()
    if below <= 0:
        return None
    found = metrics.corrected_interval(((costs[0] - costs[1]) / below).tolist(), share, level)
    if found.low is not None and costs.min() >= 0:  # without gains nothing costs less than nothing
        found = replace(found, low=max(found.low, -1.0))
    return found


class Counted:
    """The rows of several splits.

    Args:
        results: one per split.
        share: test samples per sample that is trained or chosen with.
        level: of the intervals.
    """

    def __init__(self, results: Sequence[Result], share: float, level: float) -> None:
        """Find out which rows are the same."""
        self.results, self.share, self.level = results, share, level
        self.keyed = [{_key(each, row): row for row in each.rows if row.role != "control"} for each in results]
        self.reference = [each.reference.headline.cost for each in results]

    def rows(self, names: Sequence[str]) -> tuple[tuple[Line, ...], tuple[LeftOut, ...]]:
        """Return the rows that all splits have, the reference first, and of the others where they are missing."""
        every = dict.fromkeys(key for each in self.keyed for key in each)
        missing = {
            key: tuple(name for name, each in zip(names, self.keyed, strict=True) if key not in each) for key in every
        }
        shared = sorted((key for key, absent in missing.items() if not absent), key=lambda key: key.role != "reference")
        left_out = [LeftOut(label=self._label(key), missing=absent) for key, absent in missing.items() if absent]
        lines = []
        for key in shared:
            mine = [each[key] for each in self.keyed]
            homes = sum(taken_of(result) is row for result, row in zip(self.results, mine, strict=True))
            lines.append(
                self._line(self._label(key), key.role, mine, self.level).model_copy(update={"recommended": homes})
            )
        return tuple(lines), tuple(left_out)

    def winner(self) -> Line:
        """Return what the method that each split chose costs."""
        # of a higher level where splits chose it on the networks that are judged
        level = max(self.level, *(each.verdict.level for each in self.results))
        return self._drawn([winner_of(each) for each in self.results], WINNER, level)

    def recommendation(self) -> Line | None:
        """Return what each split's recommendation costs; None where one has none."""
        taken = [row for row in map(taken_of, self.results) if row is not None]
        return self._drawn(taken, RECOMMENDED, self.level) if len(taken) == len(self.results) else None

    def _drawn(self, rows: Sequence[Row], otherwise: str, level: float) -> Line:
        same = len({(row.role, row.label) for row in rows}) == 1
        label, role = (rows[0].label, rows[0].role) if same else (otherwise, None)
        return self._line(label, role, rows, level)

    def _line(self, label: str, role: Role | None, rows: Sequence[Row], level: float) -> Line:
        costs = [row.headline.cost for row in rows]
        moved = None if role == "reference" else change_over(costs, self.reference, self.share, level)
        change = None if moved is None else Change.of(moved)
        return Line(label=label, role=role, costs=tuple(costs), cost=float(np.mean(costs)), change=change)

    def _label(self, key: Key) -> str:
        """Return how a row is shown: an ensemble by what it is of, where that is not the same in all splits."""
        rows = [each[key] for each in self.keyed if key in each]
        if rows[0].mixed:
            return ALIKE
        if key.role != "ensemble" or len({row.label for row in rows}) == 1:
            return rows[0].label
        return f"{rows[0].label.removesuffix(rows[0].of or '')}{OF.get(key.of, key.of)}"


def _key(result: Result, row: Row) -> Key:
    if row.role == "reference":
        return Key("reference")  # tuned or not
    if row.role != "ensemble":
        return Key(row.role, row.label, row.method)
    return Key("ensemble", of=next((each.role for each in result.rows if each.label == row.of), row.of or ""))


def winner_of(result: Result) -> Row:
    """Return the best method of a split, chosen on validation data.

    Args:
        result: of the split.
    """
    return next(row for row in result.rows if row.winner)


def taken_of(result: Result) -> Row | None:
    """Return the row that a split recommends, or None.

    Args:
        result: of the split.
    """
    best = result.best
    return None if best is None else next((row for row in result.rows if row.label == best.label), None)

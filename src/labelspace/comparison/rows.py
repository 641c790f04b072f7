"""The rows of the table: each method's numbers, its change against the free rival, and whether that is luck."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Self, TypedDict, TypeVar, Unpack

import torch
from pydantic import ConfigDict, Field
from torch import Tensor

from labelspace import metrics
from labelspace.comparison.outcome import Outcome
from labelspace.metrics import Interval
from labelspace.results import Change, Control, Listed, Options, Role, Row, Strength, Trial


class Compared(Row):
    """A row with its change against the reference, which ``change`` says too.

    Args:
        moved: the change.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    moved: Interval | None = None

    def against(self, moved: Interval | None, p_holm: float | None, winner: bool) -> Self:
        """Return it with its change, whether that is luck, and whether it won."""
        p_value = None if moved is None else moved.p_value
        return self.model_copy(
            update={
                "moved": moved,
                "change": None if moved is None else Change.of(moved),
                "p_value": p_value,
                "p_holm": p_holm,
                "marked": moved is not None and p_holm is not None and p_holm <= 1 - moved.level,
                "winner": winner,
            }
        )

    def row(self) -> Row:
        """Return what is written of it; of what it was never given there is nothing to write."""
        fields = [name for name in Row.model_fields if name in self.model_fields_set or getattr(self, name) is not None]
        return Row(**{name: getattr(self, name) for name in fields})


class Judged(Compared):
    """A row of classifiers with what only the judges look at: the cost of every seed and test sample.

    Args:
        selective: area under risk–coverage, one per seed.
        costs: test cost under the headline rule, ``(seeds, samples)``.
        right: 1 where the headline decision was right.
        plain_right: 1 where the likeliest class was right.
        plain_costs: test cost when the likeliest class is called.
    """

    validation_cost: float
    selective: Listed[float]
    costs: Tensor = Field(repr=False)
    right: Tensor = Field(repr=False)
    plain_right: Tensor = Field(repr=False)
    plain_costs: Tensor = Field(repr=False)


class About(TypedDict, total=False):
    """What a row is of: the fields of ``Row`` that no score says."""

    label: str
    method: str
    role: Role
    of: str | None
    control: Control | None
    structured: bool
    strength: Strength | None
    trials: tuple[Trial, ...]
    runs: tuple[str, ...]
    options: Options


def make_row(outcome: Outcome, **about: Unpack[About]) -> Judged:
    """Return a row with everything that does not depend on the other rows."""
    rule = outcome.judge.rule
    unsaid: About = {"of": None, "control": None, "strength": None, "trials": ()}
    return Judged.model_validate(
        {
            **unsaid,
            **about,
            **outcome.calibration(),
            "temperatures": outcome.temperatures,
            "calibrations": outcome.calibrations,
            "validation_cost": outcome.validation_cost,
            "argmax": outcome.numbers("argmax"),
            "min_cost": outcome.numbers("min_cost") if outcome.judge.priced else None,
            "selective": outcome.selective,
            "inverted": outcome.targets is not None,
            "costs": outcome.costs(rule),
            "right": outcome.right(rule),
            "plain_right": outcome.right("argmax"),
            "plain_costs": outcome.costs("argmax"),
        }
    )


def against_reference(rows: Sequence[Judged], level: float, groups: Tensor | None, fixed: bool = False) -> list[Judged]:
    """Return the rows with their changes, corrected p-values, and the winner; the first row is the reference.

    Args:
        rows: the reference first.
        level: of the intervals.
        groups: of the test samples.
        fixed: whether the question is about these very models, see ``change_of``.
    """
    return corrected(rows, [change_of(row.costs, rows[0].costs, level, groups, fixed) for row in rows[1:]])


AnyCompared = TypeVar("AnyCompared", bound=Compared)


def corrected(rows: Sequence[AnyCompared], changes: Sequence[Interval | None]) -> list[AnyCompared]:
    """Return the rows with their changes, p-values corrected for the number of methods, and the winner.

    Controls are no candidates: they are not among the comparisons that are corrected, and cannot win.

    Args:
        rows: the reference first.
        changes: of the other rows against it.
    """
    moved = [None, *changes]
    methods = [number for number, row in enumerate(rows) if row.role == "method"]
    tested = [(number, change.p_value) for number, change in enumerate(moved) if number in methods and change]
    known = [(number, p_value) for number, p_value in tested if p_value is not None]
    holm = dict(
        zip((number for number, _ in known), metrics.holm([p for _, p in known]).tolist(), strict=True) if known else []
    )
    winner = max(methods, key=lambda number: rows[number].merit) if methods else None
    return [row.against(moved[number], holm.get(number), number == winner) for number, row in enumerate(rows)]


def change_of(
    costs: Tensor, reference: Tensor, level: float, groups: Tensor | None = None, fixed: bool = False
) -> Interval | None:
    """Return the relative change of the mean cost; None where the reference makes no costly mistake.

    Args:
        costs: ``(seeds, samples)``.
        reference: of the same seeds and samples.
        level: of the interval.
        groups: of the samples.
        fixed: whether the question is about these very models. One model each then has an interval, over samples
            alone; it says nothing about what another training would give.
    """
    if float(reference.mean()) <= 0:
        return None
    if torch.equal(costs, reference) and (fixed or len(costs) > 1):
        return _unmoved(costs, level, groups)
    single = fixed and len(costs) == 1 and (groups is None or len(torch.unique(groups)) > 1)
    # the one model twice: seeds that do not differ add nothing to the variance, and only samples are left to chance
    times = 2 if single else 1
    tables = costs.repeat(times, 1), reference.repeat(times, 1)
    found = metrics.paired_interval(tables[0], tables[1], groups=groups, level=level, relative=True)
    return replace(found, seeds=1, note="over test samples alone: these models, not others") if single else found


def _unmoved(costs: Tensor, level: float, groups: Tensor | None) -> Interval:
    """Return the interval where no decision differs: what n samples did not show may still happen to 3 in n of them.

    The 3 is ``−log(1 − level)`` at 95 percent: where p of all samples differ, n of them show none with probability
    ``(1 − p)^n``, about ``e^(−pn)``.
    """
    seeds, samples = costs.shape
    units = samples if groups is None else len(torch.unique(groups))
    half = -math.log(1 - level) / units * float(costs.max()) / float(costs.mean())
    drawn = "" if groups is None else f"; {units} groups of samples"
    return Interval(0.0, -half, half, level, seeds, samples, f"no decision differs{drawn}", 1.0)

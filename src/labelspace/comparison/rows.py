"""The rows of the table: each method's numbers, its change against the free rival, and whether that is luck."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from labelspace import metrics
from labelspace.comparison.outcome import Outcome
from labelspace.metrics import Interval


@dataclass(frozen=True)
class Row:
    """One method, or one model, judged on test data.

    Args:
        label: how it is shown.
        method: its registry name; empty for scores that were made elsewhere.
        role: reference, method or control.
        of: whose control it is.
        control: shuffled or random.
        structured: whether it has a label space that says something about the classes.
        strength: name, symbol and value of what was tuned.
        trials: what was tried, on validation data.
        runs: names of its runs, one per seed.
        temperatures: one per seed.
        validation_cost: under the headline rule, mean over seeds.
        argmax: its numbers when the likeliest class is called.
        min_cost: its numbers when the class of least expected cost is called; None where mistakes cost the same.
        calibration: ece, ece_after, nll_after and risk_coverage.
        selective: area under risk–coverage, one per seed.
        costs: test cost under the headline rule, ``(seeds, samples)``.
        right: 1 where the headline decision was right.
        plain_right: 1 where the likeliest class was right.
        plain_costs: test cost when the likeliest class is called.
        change: relative change of the cost against the reference.
        p_holm: its p-value, corrected for the number of methods.
        winner: the method of least validation cost.
        inverted: whether its probabilities had a known smoothing undone.
        options: what its method was given beside the strength.
    """

    label: str
    method: str
    role: str
    of: str | None
    control: str | None
    structured: bool
    strength: dict[str, Any] | None
    trials: list[dict[str, Any]]
    runs: list[str]
    temperatures: list[float]
    validation_cost: float
    argmax: dict[str, float]
    min_cost: dict[str, float] | None
    calibration: dict[str, float]
    selective: list[float]
    costs: Tensor = field(repr=False)
    right: Tensor = field(repr=False)
    plain_right: Tensor = field(repr=False)
    plain_costs: Tensor = field(repr=False)
    change: Interval | None = None
    p_holm: float | None = None
    winner: bool = False
    inverted: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def headline(self) -> dict[str, float]:
        """The numbers under the rule that the comparison is about."""
        return self.argmax if self.min_cost is None else self.min_cost

    @property
    def marked(self) -> bool:
        """Whether the change excludes zero after Holm's correction."""
        return self.change is not None and self.p_holm is not None and self.p_holm <= 1 - self.change.level

    @property
    def shown(self) -> str:
        """How a sentence begins that speaks of it."""
        if self.control == "shuffled":
            return "The control with shuffled classes"
        if self.control == "random":
            return "The control with random rows"
        return self.spoken[0].upper() + self.spoken[1:] if self.method else self.spoken

    @property
    def spoken(self) -> str:
        """How a sentence speaks of it: a method by its labels, a model that was trained elsewhere by its name."""
        return f"{self.label} labels" if self.method else self.label

    def plain(self) -> dict[str, Any]:
        """Return it as JSON data."""
        moved = None if self.change is None else asdict(self.change)
        names = "label method role of control structured strength trials runs temperatures validation_cost argmax"
        found = {
            name: getattr(self, name)
            for name in [*names.split(), "min_cost", "winner", "marked", "inverted", "options"]
        }
        return {
            **found,
            **self.calibration,
            "change": moved,
            "p_value": None if self.change is None else self.change.p_value,
            "p_holm": self.p_holm,
        }


def make_row(outcome: Outcome, **facts: Any) -> Row:
    """Return a row with everything that does not depend on the other rows."""
    rule = outcome.judge.rule
    return Row(
        **facts,
        temperatures=outcome.temperatures,
        validation_cost=outcome.validation_cost,
        argmax=outcome.numbers("argmax"),
        min_cost=outcome.numbers("min_cost") if outcome.judge.priced else None,
        calibration=outcome.calibration(),
        selective=outcome.selective,
        inverted=outcome.targets is not None,
        costs=outcome.costs(rule),
        right=outcome.right(rule),
        plain_right=outcome.right("argmax"),
        plain_costs=outcome.costs("argmax"),
    )


def against_reference(rows: Sequence[Row], level: float, groups: Tensor | None, fixed: bool = False) -> list[Row]:
    """Return the rows with their changes, corrected p-values, and the winner; the first row is the reference.

    Controls are no candidates: they are not among the comparisons that are corrected, and cannot win.

    Args:
        rows: the reference first.
        level: of the intervals.
        groups: of the test samples.
        fixed: whether the question is about these very models, see ``change_of``.
    """
    reference = rows[0]
    moved = [None, *(change_of(row.costs, reference.costs, level, groups, fixed) for row in rows[1:])]
    methods = [number for number, row in enumerate(rows) if row.role == "method"]
    tested = [(number, change.p_value) for number, change in enumerate(moved) if number in methods and change]
    known = [(number, p_value) for number, p_value in tested if p_value is not None]
    corrected = dict(
        zip((number for number, _ in known), metrics.holm([p for _, p in known]).tolist(), strict=True) if known else []
    )
    winner = min(methods, key=lambda number: rows[number].validation_cost) if methods else None
    return [
        replace(row, change=moved[number], p_holm=corrected.get(number), winner=number == winner)
        for number, row in enumerate(rows)
    ]


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

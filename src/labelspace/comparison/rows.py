"""The rows of the table: each method's numbers, its change against the free rival, and whether that is luck."""

from collections.abc import Sequence
from typing import NamedTuple, Self, TypedDict, TypeVar, Unpack

from pydantic import ConfigDict, Field
from torch import Tensor

from labelspace import metrics
from labelspace.comparison.change import PerSample, Refits, change_of, unit_for, unit_of
from labelspace.comparison.outcome import Outcome
from labelspace.comparison.refitted import refitted_costs
from labelspace.metrics import Interval
from labelspace.results import Change, Control, Listed, Numbers, Options, Role, Row, Strength, Trial, Unit


class Compared(Row):
    """A row with its change against the reference, which ``change`` says too.

    Args:
        moved: the change.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    moved: Interval | None = None

    def against(self, moved: Interval | None, p_holm: float | None, level: float, winner: bool) -> Self:
        """Return it with its change, whether that is luck at a level, and whether it won."""
        p_value = None if moved is None else moved.p_value
        return self.model_copy(
            update={
                "moved": moved,
                "change": None if moved is None else self._written(moved),
                "p_value": p_value,
                "p_holm": p_holm,
                "marked": moved is not None and p_holm is not None and p_holm <= 1 - level,
                "winner": winner,
            }
        )

    def _written(self, moved: Interval) -> Change:
        unit: Unit = unit_of(moved) if self.quality is None else "points"
        return Change.of(moved, unit, moved.stake if isinstance(moved, PerSample) else None)

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
        refits: mean test costs after refits without some validation data, see ``refitted_costs``.
    """

    validation_cost: float
    selective: Listed[float]
    costs: Tensor = Field(repr=False)
    right: Tensor = Field(repr=False)
    plain_right: Tensor = Field(repr=False)
    plain_costs: Tensor = Field(repr=False)
    refits: Tensor | None = Field(None, repr=False)

    def refits_beside(self, other: "Judged") -> Refits | None:
        """Return the refits of this row and of another; None where either has none."""
        return None if self.refits is None or other.refits is None else (self.refits, other.refits)

    def refits_beside_argmax(self) -> Refits | None:
        """Return the refits of this row, and those of calling the likeliest class, which none of them changes."""
        return None if self.refits is None else (self.refits, self.plain_costs.mean().expand(len(self.refits)))


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
            "refits": refitted_costs(outcome),
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
    winner = winner_of(rows)
    if winner is not None and fixed and len(rows[0].costs) == 1:
        # these very models: validation data chose, and test data are others
        winner = Winner(winner.number, 1)
    level_of = level if winner is None else winner.level(level)
    unit = _unit(rows, rows[0], level_of, groups)

    def change(number: int, row: Judged) -> Interval | None:
        wanted = level_of if winner is not None and number == winner.number else level
        return change_of(row.costs, rows[0].costs, wanted, groups, fixed, row.refits_beside(rows[0]), unit)

    return corrected(rows, [change(number, row) for number, row in enumerate(rows[1:], 1)], winner)


def _unit(rows: Sequence[Judged], reference: Judged, level: float, groups: Tensor | None) -> Unit:
    """Return what the changes of all rows of a table are measured in."""
    return unit_for([row.costs for row in rows], reference.costs, level, groups, reference.refits)


def beside_reference(
    rows: Sequence[Judged], reference: Judged, level: float, groups: Tensor | None, unit: Unit | None = None
) -> list[Judged]:
    """Return rows of one model each with their changes against the mean of the reference's: samples alone are chance.

    Args:
        rows: of one model each.
        reference: of several.
        level: of the intervals.
        groups: of the test samples.
        unit: of the other rows' changes, which these stand beside.
    """
    mean = reference.costs.mean(dim=0, keepdim=True)
    moved = [change_of(row.costs, mean, level, groups, fixed=True, unit=unit) for row in rows]
    return [row.against(each, None, level, False) for row, each in zip(rows, moved, strict=True)]


def pooled(rows: Sequence[Judged], label: str) -> Judged:
    """Return one row for several, whose numbers are their means; it has no change, as it is no one training.

    Args:
        rows: of one method with several label spaces.
        label: how it is shown.
    """

    def mean(name: str) -> float:
        return float(sum(getattr(row, name) for row in rows)) / len(rows)

    def numbers(rule: str) -> Numbers | None:
        found = [each.model_dump() for row in rows if (each := row.under(rule)) is not None]
        shared = [name for name in found[0] if all(name in each for each in found)] if found else []
        means = {name: sum(each[name] for each in found) / len(found) for name in shared}
        return Numbers.model_validate(means) if found else None

    return rows[0].model_copy(
        update={
            "label": label,
            "argmax": numbers("argmax"),
            "min_cost": numbers("min_cost"),
            **{name: mean(name) for name in ("ece", "ece_after", "nll_after", "risk_coverage", "validation_cost")},
            "temperatures": tuple(value for row in rows for value in row.temperatures or ()),
            "calibrations": None,
            "runs": tuple(name for row in rows for name in row.runs),
            "trials": (),
        }
    )


class Winner(NamedTuple):
    """The method that a verdict is about.

    Args:
        number: its place among the rows.
        among: how many it was chosen from on the very networks that are judged; 1 where it was chosen on others.
    """

    number: int
    among: int

    def level(self, level: float) -> float:
        """Return the level at which its interval holds for whichever method might have won (Bonferroni)."""
        return 1 - (1 - level) / self.among


def winner_of(rows: Sequence[Compared]) -> Winner | None:
    """Return the winner on validation data: by trials on other networks than those judged, where all methods have them.

    Chosen on the networks that are judged, the one that was lucky wins; its interval must hold for all of them then.
    Controls and rivals are no candidates.
    """
    methods = [number for number, row in enumerate(rows) if row.role == "method"]
    if not methods:
        return None
    tried = [rows[number].tried_merit for number in methods]
    known = [merit for merit in tried if merit is not None]
    if len(known) == len(tried):
        return Winner(methods[known.index(max(known))], 1)
    return Winner(max(methods, key=lambda number: rows[number].merit), len(methods))


AnyCompared = TypeVar("AnyCompared", bound=Compared)


def corrected(
    rows: Sequence[AnyCompared], changes: Sequence[Interval | None], winner: Winner | None
) -> list[AnyCompared]:
    """Return the rows with their changes, p-values corrected for the number of methods, and the winner.

    The winner comes first, as the verdict does: its p-value is corrected where it was chosen on the networks that are
    judged, and not where it was chosen before. Those of the other methods are corrected by Holm's method, and are not
    below the winner's: where nothing is shown of it, nothing is of them. Controls are not corrected and cannot win.

    Args:
        rows: the reference first.
        changes: of the other rows against it.
        winner: from ``winner_of``.
    """
    moved = [None, *changes]
    methods = [number for number, row in enumerate(rows) if row.role == "method"]
    tested = [(number, change.p_value) for number, change in enumerate(moved) if number in methods and change]
    known = [(number, p_value) for number, p_value in tested if p_value is not None]
    won = None if winner is None else winner.number
    first = 1.0 if winner is None else min(1.0, winner.among * dict(known).get(winner.number, 1.0))
    others = [(number, p_value) for number, p_value in known if number != won]
    later = metrics.holm([p for _, p in others]).tolist() if others else []
    holm = {number: max(first, p) for (number, _), p in zip(others, later, strict=True)}
    if won in dict(known):
        holm[won] = first
    level = min((change.level for change in changes if change is not None), default=1.0)
    return [row.against(moved[number], holm.get(number), level, number == won) for number, row in enumerate(rows)]

"""Whether scores are logits or probabilities: decided once for all of them, and refused where it is unclear."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from torch import Tensor

from labelspace import _checks, _inputs

Kind = Literal["logits", "probabilities"]
KINDS = ("logits", "probabilities")
EXACT = 1e-3  # how far a row of probabilities may be from 1, more in half precision
NEAR = 0.05  # a row this far from 1 was meant to be probabilities, and is scaled where that is said
SMALLEST = 1e-30  # stands for a probability of 0, which has no logarithm
REMEDY = "Say what they are: --logits or --probabilities (kind='logits' or 'probabilities')."


class Table(NamedTuple):
    """Finite scores of one part of one model, and where they come from."""

    origin: str
    values: Tensor  # (seeds, N, K), in their own type


def as_logits(tables: Sequence[Table], kind: Kind | None) -> tuple[Kind, list[Tensor]]:
    """Return what the scores are, and all of them as float64 logits: probabilities as their logarithms.

    Args:
        tables: every part of every model.
        kind: what they are, where it was said.
    """
    if kind is not None:
        _checks.choice("compare", "kind", kind, KINDS)
        for table in tables if kind == "probabilities" else ():
            _check_near(table)
    found: Kind = kind or _kind_of(tables)
    values = [table.values.double() for table in tables]
    return found, [each.clamp_min(SMALLEST).log() for each in values] if found == "probabilities" else values


def _kind_of(tables: Sequence[Table]) -> Kind:
    odd = [(table, row) for table in tables if (row := _first(~sums_to_one(table))) is not None]
    if not odd:
        return "probabilities"
    exact = len(odd) < len(tables)
    like = next((table for table in tables if exact or _is_like_probabilities(table)), None)
    if like is None:
        return "logits"
    expected = "probabilities in every row of every part, or logits in all of them"
    raise _checks.fail("compare", "scores", expected, _told(*odd[0]), REMEDY)


def _is_like_probabilities(table: Table) -> bool:
    """Return whether scores that are not all probabilities look as if they were meant to be.

    Most rows nearly sum to 1, or nothing is outside of [0, 1], or all rows are percentages.
    """
    values = table.values.double()
    if bool(sums_to_one(table, NEAR).double().mean() > 0.5):
        return True
    percentages = ((values.sum(dim=2) - 100).abs() <= 100 * EXACT).all()
    return bool((values >= 0).all()) and bool(percentages | (values <= 1).all())


def _check_near(table: Table) -> None:
    row = _first(~sums_to_one(table, NEAR))
    if row is not None:
        expected = f"probabilities: not negative, rows summing to 1 within {NEAR:g}"
        raise _checks.fail("compare", "scores", expected, _told(table, row), "Logits need --logits (kind='logits').")


def sums_to_one(table: Table, tolerance: float | None = None) -> Tensor:
    """Return which rows are probabilities, ``(seeds, N)``.

    Args:
        table: finite scores.
        tolerance: how far a row may be from 1; if left out, what its precision asks for.
    """
    values = table.values.double()
    within = max(EXACT, _inputs.TOLERANCE.get(table.values.dtype, 0)) if tolerance is None else tolerance
    return (values >= 0).all(dim=2) & ((values.sum(dim=2) - 1).abs() <= within)


def _first(rows: Tensor) -> tuple[int, int] | None:
    places = rows.nonzero()
    return (int(places[0, 0]), int(places[0, 1])) if len(places) else None


def _told(table: Table, place: tuple[int, int]) -> str:
    seed, row = place
    values = table.values[seed, row].double()
    which = f"row {row}" + (f" of seed {seed}" if len(table.values) > 1 else "")
    lowest = f", smallest entry {values.min().item():g}" if values.min() < 0 else ""
    return f"{which} of {table.origin}, which sums to {values.sum().item():.6g}{lowest}"

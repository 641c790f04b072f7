"""How two label spaces differ: how far they agree, and the classes about which they agree least."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from torch import Tensor

from labelspace import _checks
from labelspace.analysis import Agreement, agreement
from labelspace.compressed import chunks
from labelspace.space import LabelSpace

# rows that differ by less are equal: float32 and renormalising move the last digits
SAME = 1e-5


class RowDifference(NamedTuple):
    """A class, how far its two rows differ, and the class about which they differ most, before and after."""

    name: str
    amount: float
    about: str
    first: float
    second: float


@dataclass(frozen=True)
class Difference:
    """What ``difference`` found.

    Args:
        agreement: rank correlation of the distances between classes, or None where there is none.
        reason: why there is none.
        unit: what the amounts are.
        rows: the classes whose rows differ, most different first.
    """

    agreement: Agreement | None
    reason: str
    unit: str
    rows: list[RowDifference]

    def lines(self, k: int) -> list[str]:
        """Return the whole thing in lines of text, with the ``k`` classes that differ most."""
        if self.agreement is None:
            said = f"agreement cannot be measured: {self.reason}"
        else:
            chance = f"p = {self.agreement.p_value:.3g}"
            said = f"agreement {self.agreement.value:.3f} (rank correlation of distances, {chance})"
        if not self.rows:
            return [said, "no class differs"]
        width = max(len(row.name) for row in self.rows[:k])
        shown = [
            f"  {row.name:<{width}}  {row.amount:.3g}  most about {row.about}: {row.first:.3g} → {row.second:.3g}"
            for row in self.rows[:k]
        ]
        number = "1 class differs" if len(self.rows) == 1 else f"{len(self.rows)} classes differ"
        return [said, f"{number}; most ({self.unit}):", *shown]

    def to_json(self, k: int) -> dict[str, Any]:
        """Return it as plain JSON data."""
        found = self.agreement
        return {
            "agreement": None if found is None else found.value,
            "p_value": None if found is None else found.p_value,
            "reason": self.reason,
            "unit": self.unit,
            "differing": len(self.rows),
            "rows": [row._asdict() for row in self.rows[:k]],
        }


def difference(first: LabelSpace, second: LabelSpace) -> Difference:
    """Return how two spaces of the same classes differ; prices are compared as prices, all else as relations.

    Example:
        >>> from labelspace import ordinal, uniform
        >>> found = difference(ordinal(["low", "mid", "high"]), uniform(["high", "mid", "low"]))
        >>> [row.name for row in found.rows], round(found.rows[0].amount, 3)
        (['low', 'high'], 0.167)
    """
    _checks.known_names("labels", "second", second.names, first.names)
    _checks.known_names("labels", "second", first.names, second.names)
    second = second if second.names == first.names else second.subset(first.names)
    found, reason = None, ""
    try:
        found = agreement(first, second)
    except ValueError as error:
        reason = str(error)
    prices = first.kind == second.kind == "cost"
    one, two = (space if prices else space.relations() for space in (first, second))
    # few rows at a time: compressed spaces have no matrix to be compared as a whole
    parts = (_rows(first.names, places, one.rows(places), two.rows(places), prices) for places in chunks(len(first)))
    rows = sorted((row for part in parts for row in part), key=lambda row: -row.amount)
    unit = "largest change of a price" if prices else "share of mass that lies elsewhere"
    return Difference(found, reason, unit, rows)


def _rows(names: Sequence[str], places: Tensor, before: Tensor, after: Tensor, prices: bool) -> list[RowDifference]:
    gaps = (after.double() - before.double()).abs()
    amounts = gaps.amax(dim=1) if prices else gaps.sum(dim=1) / 2
    rows = []
    for row in (amounts > SAME).nonzero().flatten().tolist():
        about = int(gaps[row].argmax())
        values = (float(before[row, about]), float(after[row, about]))
        rows.append(RowDifference(names[int(places[row])], float(amounts[row]), names[about], *values))
    return rows

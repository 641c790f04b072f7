"""Label spaces on a terminal: shades, nearest classes, how two of them differ; and files to fill in."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import _checks
from labelspace._cells import guarded
from labelspace.analysis import Agreement, agreement, neighbours
from labelspace.compressed import chunks
from labelspace.space import LabelSpace
from labelspace.spec.prices import cost_words
from labelspace.spec.words import spread_words, words

SHADES = "·░▒▓█"
MEANING = {"relations": "more mass", "vectors": "more alike", "cost": "dearer"}
LONGEST_NAME = 24


def heat_map(space: LabelSpace) -> list[str]:
    r"""Return one line per class, rows and columns in the order of the classes; columns have their numbers.

    Example:
        >>> from labelspace import groups
        >>> print("\n".join(heat_map(groups([["cat", "dog"], ["car", "bus"]]))))
               0 1 2 3
        0 cat    ██· ·
        1 dog  ██  · ·
        2 car  · ·   ██
        3 bus  · · ██
        darker: more mass
    """
    values = _values(space)
    numbers = [str(index) for index in range(len(space))]
    labels = [_label(number, name, len(numbers[-1])) for number, name in zip(numbers, space.names, strict=True)]
    width = max(len(label) for label in labels)
    lines = [" " * width + "  " + "".join(f"{number:<2}" for number in numbers)]
    for row, label in enumerate(labels):
        cells = ["  " if row == column else _cell(float(values[row, column])) for column in range(len(space))]
        lines.append(f"{label:<{width}}  {''.join(cells)}")
    return [line.rstrip() for line in [*lines, f"darker: {MEANING[space.kind]}"]]


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    r"""Return a name in one short line.

    Example:
        >>> shortened("a rather long name\nof a class", 12)
        'a rather lo…'
    """
    line = " ".join(name.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _label(number: str, name: str, width: int) -> str:
    # digits are their own numbers
    return number.rjust(width) if number == name else f"{number:>{width}} {shortened(name)}"


def _values(space: LabelSpace) -> Tensor:
    """Return what is shown, from 0 to 1 over the pairs of different classes: entries, or how near vectors are."""
    table = space.matrix.double()
    if space.metric is not None:
        between = space.distances().double()
        table = -between if space.metric == "euclidean" else 1 - between
    others = table[~torch.eye(len(table), dtype=torch.bool)]
    if not len(others):
        return table
    low, high = float(others.min()), float(others.max())
    # what is never far from equal is shown by its differences
    low = low if low < 0 or low > high / 4 else 0.0
    return ((table - low) / (high - low)).clamp(0, 1) if high > low else torch.ones_like(table)


def _cell(value: float) -> str:
    # the faintest shade is for next to nothing; the others share the rest
    shade = 0 if value < 0.02 else min(1 + int(value * 4), 4)
    return "· " if shade == 0 else SHADES[shade] * 2


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

    def to_json(self, k: int) -> dict[str, object]:
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
    except _checks.InputError as error:
        asked = {"space_a": "first", "space_b": "second"}.get(error.argument)
        reason = str(error.about(owner="labels diff", argument=asked))
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


def nearest(space: LabelSpace, chosen: Sequence[str], k: int) -> dict[str, list[tuple[str, float]]]:
    """Return the k nearest classes of some classes, with the number that says how near."""
    everyone = len(chosen) == len(space)
    found = neighbours(space, k=k) if everyone else {name: space.nearest(name, k) for name in chosen}
    # larger is nearer, so that a distance comes with a minus; people know distances without
    plain = space.metric == "euclidean"
    return {name: [(other, abs(value) if plain else value) for other, value in found[name]] for name in chosen}


def cheapest(space: LabelSpace, chosen: Sequence[str], k: int) -> dict[str, list[tuple[str, float]]]:
    """Return the cheapest mistakes for each true class: prices may differ by direction, which distances do not."""
    _checks.whole("labels", "k", k, low=1)
    found = {}
    for name in chosen:
        row = space.index(name)
        order = [place for place in space.matrix[row].argsort(stable=True).tolist() if place != row]
        found[name] = [(space.names[place], float(space.matrix[row, place])) for place in order[:k]]
    return found


def summary(space: LabelSpace) -> dict[str, object]:
    """Return what a space is, as plain data."""
    mass = {"mass": spread_words(space)} if spread_words(space) else {}
    form = {} if space.rule is None else {"form": space.rule.form}
    return {"kind": space.kind, "words": words(space), **mass, **form, "classes": list(space.names)}


def title(space: LabelSpace) -> list[str]:
    """Return what a space is, in lines."""
    example = [cost_words(space)[1]] if space.kind == "cost" else []
    mass = [spread_words(space)] if spread_words(space) else []
    form = "" if space.rule is None else f", compressed ({space.rule.form})"
    return [words(space), f"{space.kind} of {len(space)} classes{form}", *mass, *example]


def cost_template(names: Sequence[str], long: bool = False) -> str:
    r"""Return a table in which every mistake costs 1; in a spreadsheet too, a class called =1+1 stays what it is.

    Args:
        names: the classes.
        long: one line for all mistakes, to which others are added, instead of a matrix.

    Example:
        >>> print(cost_template(["well", "ill"]), end="")
        true\predicted,well,ill
        well,0,1
        ill,1,0
    """
    rows: list[list[object]] = [["true", "predicted", "cost"], ["*", "*", 1]]
    if not long:
        heads = [guarded(name) for name in names]
        prices = ([head, *(int(place != other) for other in range(len(heads)))] for place, head in enumerate(heads))
        rows = [["true\\predicted", *heads], *prices]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def space_template(names: Sequence[str]) -> str:
    """Return lines in which every class is in the same group.

    Example:
        >>> print(space_template(["cat", "dog"]), end="")
        # Replace GROUP by the group of each class; groups may lie in groups: Apparel > Shoes > Boots
        GROUP > cat
        GROUP > dog
    """
    about = "# Replace GROUP by the group of each class; groups may lie in groups: Apparel > Shoes > Boots"
    return "\n".join([about, *(f"GROUP > {name}" for name in names), ""])

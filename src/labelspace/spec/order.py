"""Classes in an order that somebody wrote down, or that numbers have by themselves."""

import math
from collections.abc import Sequence

import torch

from labelspace import _checks
from labelspace.sources.ordinal import ordinal
from labelspace.space import LabelSpace
from labelspace.spec.naming import OWNER, listed, matched

STEEPEST = 1e6  # a power beyond which only the nearest count
EXPECTED = "an order that names every class once, lowest first"


def order(text: str, names: Sequence[str] | None = None) -> LabelSpace:
    """Return ordinal relations from an order in one line, the classes in the order of ``names``.

    Args:
        text: every class once, lowest first, with ``<`` between them.
        names: the classes of the data; by default those of the text.

    Example:
        >>> space = order("low < mid < high", ["high", "low", "mid"])
        >>> space.names, space.nearest("low", k=1)[0][0]
        (('high', 'low', 'mid'), 'mid')
        >>> order_of(space)
        ('low', 'mid', 'high')
    """
    parts = _parts(text, [] if names is None else names)
    if len(parts) < 2 or not all(parts):
        remedy = "Write for example 'low<mid<high'."
        raise _checks.fail(OWNER, "space", EXPECTED, repr(text), remedy)
    remedy = "Put it where it belongs; an order is never guessed."
    return ordered(matched("space", EXPECTED, parts, parts if names is None else names, remedy=remedy), names)


def numeric_order(names: Sequence[str]) -> list[str] | None:
    """Return class names that are numbers, by value, or None where some name is not or two are equal.

    Example:
        >>> numeric_order(["10", "9", "-1.5"])
        ['-1.5', '9', '10']
    """
    values = {name: _number(name) for name in names}
    numbers = {name: value for name, value in values.items() if value is not None}
    if len(numbers) < len(values) or len(set(numbers.values())) < len(numbers):
        return None
    return sorted(numbers, key=lambda name: numbers[name])


def by_value(names: Sequence[str]) -> LabelSpace:
    """Return ordinal relations of classes whose names are numbers, by value wherever they stand in ``names``.

    Example:
        >>> by_value(["10", "2", "1"]).nearest("10", k=1)[0][0]
        '2'
    """
    found = numeric_order(names)
    if found is None:
        remedy = "Text has no order of its own: write it, lowest first, as in 'low<mid<high'."
        expected = "'ordinal' only where class names are different numbers"
        raise _checks.fail(OWNER, "space", expected, listed(list(names), most=6), remedy)
    return ordered(found, names)


def ordered(order: Sequence[str], names: Sequence[str] | None = None) -> LabelSpace:
    """Return ``ordinal(order)`` with its classes in the order of ``names``; the source keeps the order."""
    space = ordinal(order)
    placed = space if names is None or tuple(names) == space.names else space.subset(list(names))
    return with_order(placed, order)


def with_order(space: LabelSpace, order: Sequence[str]) -> LabelSpace:
    """Return the same space with the order of its classes written into its source."""
    return LabelSpace(space.names, space.matrix, space.kind, {**space.source, "order": list(order)}, space.hops)


def order_of(space: LabelSpace | None) -> tuple[str, ...] | None:
    """Return the classes of an ordinal space from lowest to highest, or None where a space knows of no order.

    Example:
        >>> order_of(ordinal(["low", "mid", "high"]))
        ('low', 'mid', 'high')
    """
    if space is None or space.source.get("builder") != "ordinal":
        return None
    written = space.source.get("order")
    if isinstance(written, list) and set(space.names) <= {name for name in written if isinstance(name, str)}:
        present = set(space.names)
        return tuple(dict.fromkeys(name for name in written if isinstance(name, str) and name in present))
    power = space.source.get("power", 1.0)
    if isinstance(power, bool) or not isinstance(power, int | float) or not 0 <= power < math.inf:
        return None
    # a source without an order: that of the names, unless a subset has moved them
    as_built = ordinal(space.names, power=min(power, STEEPEST))
    same = space.kind == "relations" and torch.allclose(space.matrix, as_built.matrix, rtol=0, atol=1e-6)
    return space.names if same else None


def _parts(text: str, names: Sequence[str]) -> list[str]:
    """Return the names between ``<``; a class may itself hold one, as "<50K" does."""
    if any("<" in name for name in names):
        found, rest = [], text.strip()
        while rest:
            fitting = [name for name in names if rest.startswith(name) and rest[len(name) :].lstrip()[:1] in ("", "<")]
            if not fitting:
                break
            found.append(max(fitting, key=len))
            rest = rest[len(found[-1]) :].lstrip()
            if not rest:
                return found
            rest = rest[1:].lstrip()
    return [part.strip() for part in text.split("<")]


def _number(name: str) -> float | None:
    try:
        value = float(name)
    except ValueError:
        return None
    # Python reads 1_000 as a number, which as a name is more likely a code
    return value if math.isfinite(value) and "_" not in name else None

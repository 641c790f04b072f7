"""Columns that nobody should learn from: they name rows, or give the label away. Rows that are alike by chance."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from labelspace.data.digests import Digests
from labelspace.data.missing import is_missing
from labelspace.data.numbers import number
from labelspace.data.tables import Columns

Rows = NDArray[np.int64]
# in fewer rows anything may happen by chance
FEWEST = 50
# rows that are looked at first: most columns are past suspicion there
FIRST = 1000
# how often a value must occur, on average, before what always goes with it means something
REPEATS = 5


def identifiers(table: Columns, kind: Mapping[str, str], parts: Iterable[Rows]) -> list[str]:
    """Return the columns whose values are all different: texts, or whole numbers in order; none if nothing is left.

    Args:
        table: columns of features.
        kind: numeric or categorical, for each.
        parts: rows of the parts that the data comes in; each may be numbered for itself.

    Example:
        >>> identifiers({"id": list(range(60)), "size": [1, 2] * 30}, {"id": "numeric", "size": "numeric"}, [range(60)])
        ['id']
    """
    ranges = [list(rows) for rows in parts]
    if not ranges or max(map(len, ranges)) < FEWEST:
        return []
    found = [
        name
        for name, values in table.items()
        if all(_names_rows([values[row] for row in rows], kind[name]) for rows in ranges)
    ]
    return found if len(found) < len(table) else []


def giving_away(table: Columns, kind: Mapping[str, str], y: Rows) -> list[list[str]]:
    """Return columns that tell the label of every row, each alone; and as a list of several those that do together.

    Alone does it a column each of whose values goes with one class, or whose numbers lie apart for all classes;
    together do columns that have one value for each class (as indicators of the classes have).

    Args:
        table: columns of features.
        kind: numeric or categorical, for each.
        y: class indices of all rows.

    Example:
        >>> y = np.arange(60) % 3
        >>> giving_away({"code": ["a", "b", "c"] * 20, "size": [1, 2] * 30}, {"code": "", "size": "numeric"}, y)
        [['code']]
    """
    if len(y) < FEWEST:
        return []
    alone, made = [], dict[str, Sequence[object]]()
    for name, values in table.items():
        if _tells(values, y, kind[name] == "numeric"):
            alone.append([name])
        elif (own := _per_class(values, y)) is not None:
            made[name] = own
    different = len(set(zip(*made.values(), strict=True)))
    return [*alone, *([list(made)] if made and different == len(np.unique(y)) else [])]


def alike_by_chance(table: Columns, digests: Digests, order: Sequence[Rows]) -> dict[str, float]:
    """Return how likely the rows of validation and test that occur earlier too would do so by chance, on average.

    As if columns were independent, from how often the other earlier rows have the values of each: near 1 in a table
    whose columns are so coarse that few different rows are possible, near 0 where a row was copied.

    Args:
        table: columns of features.
        digests: a fingerprint per row.
        order: rows of training, validation and test.
    """
    found = {}
    for place, name in ((1, "validation"), (2, "test")):
        earlier = np.concatenate(order[:place])
        rows = order[place][np.isin(digests[order[place]], digests[earlier])]
        if len(rows):
            found[name] = float(_chances(table, earlier, rows).mean())
    return found


def _chances(table: Columns, earlier: Rows, rows: Rows) -> NDArray[np.float64]:
    """Return how likely some of the earlier rows are alike each of the rows, its own copy left out."""
    share = np.ones(len(rows))
    joint = np.zeros(len(earlier), dtype=np.int64)
    for values in table.values():
        place: dict[str, int] = {}
        codes = np.asarray([place.setdefault(_text(values[row]), len(place)) for row in earlier])
        counts = np.bincount(codes)
        before = int(joint.max()) + 1
        joint = np.unique(joint * len(place) + codes, return_inverse=True)[1]
        if int(joint.max()) + 1 == before and REPEATS * before <= len(earlier):
            continue  # the columns before it say the same
        others = np.asarray([counts[place[_text(values[row])]] - 1 for row in rows])
        share *= others / len(earlier)
    return 1 - np.exp(-len(earlier) * share)


def _names_rows(values: Sequence[object], kind: str) -> bool:
    for some in (values[:FIRST], values):
        if any(is_missing(value) for value in some) or len({_text(value) for value in some}) < len(some):
            return False
        if kind == "numeric":
            numbers = np.asarray([number(value) for value in some])
            steps = np.diff(numbers)
            if (numbers % 1).any() or not ((steps > 0).all() or (steps < 0).all()):
                return False
    return True


def _tells(values: Sequence[object], y: Rows, numeric: bool) -> bool:
    """Return whether a column alone tells the label."""
    for some, classes in ((values[:FIRST], y[:FIRST]), (values, y)):
        known: dict[str, int] = {}
        if any(
            known.setdefault(_text(value), code) != code for value, code in zip(some, classes.tolist(), strict=True)
        ):
            return False
    if len(values) >= REPEATS * len(known):
        return True
    if not numeric or any(is_missing(value) for value in values):
        return False
    along = y[np.argsort([number(value) for value in values], kind="stable")]
    return int((np.diff(along) != 0).sum()) == len(np.unique(y)) - 1


def _per_class(values: Sequence[object], y: Rows) -> Sequence[object] | None:
    """Return the one value that each class has, in the order of classes; None if some has several, or all the same."""
    for some, classes in ((values[:FIRST], y[:FIRST]), (values, y)):
        known: dict[int, str] = {}
        if any(
            known.setdefault(code, _text(value)) != _text(value)
            for value, code in zip(some, classes.tolist(), strict=True)
        ):
            return None
    own = [known[code] for code in sorted(known)]
    counts = Counter(map(_text, values))
    return own if len(counts) > 1 and min(counts.values()) >= REPEATS else None


def _text(value: object) -> str:
    return str(value).strip()

"""Cells without a value: counted per column, and then only what the stated rule says."""

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from labelspace import _checks
from labelspace.data.files import OWNER
from labelspace.data.found import ranges
from labelspace.data.parquet import Columns
from labelspace.data.source import Source

RULES = ("error", "median", "indicator", "drop")
MARKED = SUGGESTED = "indicator"
# what a cell without a value is often written as
MISSING = frozenset(["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "<NA>", "#N/A"])
# "None" is a class of its own where there is also mild and severe
UNLABELLED = MISSING - {"None"}


def is_missing(value: object) -> bool:
    """Return whether a cell of numbers or categories has no value."""
    return value.strip() in MISSING if isinstance(value, str) else is_blank(value)


def is_blank(value: object) -> bool:
    """Return whether a cell is empty; "None" and "NA" are words, as texts and groups may be."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and math.isnan(value))


def labelled(
    table: Columns, counts: dict[str, int], label: str, names: Collection[str]
) -> tuple[Columns, dict[str, int], Source]:
    """Return the rows that have a label, the sizes of their parts, and how many have none.

    Args:
        table: all parts one after the other.
        counts: how many rows belong to each part.
        label: the column of labels, where NA, null and the like are no labels.
        names: of classes, if they are known; one of them may be called so.
    """
    absent = UNLABELLED.difference(names)
    bare = np.asarray(
        [value.strip() in absent if isinstance(value, str) else is_blank(value) for value in table[label]], dtype=bool
    )
    if not bare.any():
        return table, counts, {}
    empty = next((part for part, rows in ranges(counts).items() if bare[rows].all()), None)
    if empty is not None:
        where = "" if empty == "all" else f" of the {empty} part"
        remedy = "Name the column of labels, or leave out a part that has none; it can be predicted on later."
        raise _checks.fail(OWNER, "label", "a column with labels", f"none in {label!r}{where}", remedy)
    return *_without(table, counts, bare), {"rows without a label": int(bare.sum())}


def settle(
    table: Columns, counts: dict[str, int], features: Sequence[str], others: Sequence[str], rule: str
) -> tuple[Columns, dict[str, int], Source]:
    """Return the table, the sizes of its parts and what was met, after the rule for missing values.

    Args:
        table: all parts one after the other.
        counts: how many rows belong to each part.
        features: columns of numbers and categories, where NA, null and the like are missing values too.
        others: columns of groups, texts and factors, where only an empty cell is; they are never filled in.
        rule: one of ``RULES``.
    """
    gaps = gaps_of(table, features, others)
    found = {name: int(mask.sum()) for name, mask in gaps.items()}
    if not found:
        return table, counts, {}
    never = {name: count for name, count in found.items() if name in others}
    if rule == "drop":
        return _dropped(table, counts, gaps, found)
    if never:
        drop = _checks.Setting("missing", "drop")
        remedy = (
            "Groups, texts and what prices are multiplied by are not made up: leave these rows out with ",
            drop,
            ".",
        )
        raise _fail(table, never, "'drop' where such cells have no value", remedy)
    if rule == "error":
        said = (
            "Say ",
            _checks.Setting("missing", SUGGESTED),
            ", which fills them from the training part and marks where.",
        )
        raise _fail(table, found, "a rule, because cells have no value", said)
    return table, counts, {"missing": found}


def gaps_of(table: Columns, features: Sequence[str], others: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return which rows of a column have no value, for the columns where there are such rows."""
    gaps = {name: np.asarray([is_missing(value) for value in table[name]], dtype=bool) for name in features}
    gaps |= {name: np.asarray([is_blank(value) for value in table[name]], dtype=bool) for name in others}
    return {name: mask for name, mask in gaps.items() if mask.any()}


def _dropped(
    table: Columns, counts: Mapping[str, int], gaps: Mapping[str, NDArray[np.bool_]], found: dict[str, int]
) -> tuple[Columns, dict[str, int], Source]:
    bad = np.logical_or.reduce(list(gaps.values()))
    if bad.all():
        remedy = ("Every row has an empty cell: leave columns out with ", _checks.Setting("ignore"), ".")
        raise _fail(table, found, "a rule that leaves rows", remedy)
    return *_without(table, counts, bad), {"missing": found, "dropped rows": int(bad.sum())}


def _without(table: Columns, counts: Mapping[str, int], bad: NDArray[np.bool_]) -> tuple[Columns, dict[str, int]]:
    left = {part: int((~bad[rows]).sum()) for part, rows in ranges(counts).items()}
    rows = np.flatnonzero(~bad).tolist()
    return {name: [values[row] for row in rows] for name, values in table.items()}, left


def _fail(table: Columns, found: Mapping[str, int], expected: str, remedy: _checks.Remedy) -> ValueError:
    total = len(next(iter(table.values())))
    listed = ", ".join(f"{count} in {name!r}" for name, count in found.items())
    return _checks.fail(OWNER, "missing", expected, f"{listed} (of {total} rows)", remedy)

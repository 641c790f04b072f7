"""Rows without labels, for a model that has learned: columns by name, and a reason for each row that will not do."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from labelspace import _checks
from labelspace.data import missing
from labelspace.data.columns import Encoding, is_number
from labelspace.data.table_files import Columns, is_missing

OWNER = "Run"


def row_problems(encoding: Encoding, table: Columns, rule: str, start: int) -> dict[int, str]:
    """Return why rows cannot be encoded; missing values stop everything where training allowed none."""
    gaps = missing.gaps_of(table, [column.name for column in encoding.columns], [])
    if gaps and rule == "error":
        name, mask = next(iter(gaps.items()))
        got = f"{int(mask.sum())} without a value in {name!r} (first: row {start + int(mask.argmax())})"
        remedy = "Fill these cells, or train with missing='median' (--data-option missing=median)."
        raise _checks.fail(OWNER, "x", "rows without gaps, as in training (missing='error')", got, remedy)
    problems = {}
    if rule == "drop":
        problems = {int(row): f"no value in {name!r}" for name, mask in gaps.items() for row in np.flatnonzero(mask)}
    for column in encoding.columns:
        for row, value in enumerate(table[column.name] if column.categories is None else ()):
            if not is_missing(value) and not _fits(value):
                problems.setdefault(row, f"{value!r} in {column.name!r}, which is no finite number")
    return problems


def _fits(value: Any) -> bool:
    return is_number(value) and abs(float(value)) <= float(np.finfo(np.float32).max)


def without(table: Columns, problems: Mapping[int, str]) -> Columns:
    """Return a table without the rows that have problems."""
    if not problems:
        return table
    return {name: [value for row, value in enumerate(values) if row not in problems] for name, values in table.items()}


def slices(table: Columns, size: int) -> Iterator[Columns]:
    """Yield a table so many rows at a time."""
    for start in range(0, len(next(iter(table.values()))), size):
        yield {name: values[start : start + size] for name, values in table.items()}


def check_columns(wanted: Sequence[str], table: Columns) -> None:
    """Refuse a table that lacks columns, and suggest the nearest that it has."""
    absent = [name for name in wanted if name not in table]
    if absent:
        near = get_close_matches(absent[0], list(table), n=1)
        listed = ", ".join(repr(name) for name in list(table)[:8]) + (" …" if len(table) > 8 else "")
        remedy = f"Did you mean {near[0]!r}?" if near else f"It has {listed}."
        got = f"none called {', '.join(repr(name) for name in absent[:5])}{' …' if len(absent) > 5 else ''}"
        raise _checks.fail(OWNER, "x", "rows with the columns of training", got, remedy)

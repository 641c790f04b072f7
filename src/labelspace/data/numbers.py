"""Numbers in the cells of a table, and those whose decimal mark is a comma."""

from collections.abc import Sequence
from typing import cast

from labelspace import _tables
from labelspace.data import tables
from labelspace.data.missing import is_missing
from labelspace.data.tables import Columns


def number(value: object) -> float:
    """Return the number in a cell that ``is_number`` holds for."""
    return float(cast(str, value))


def is_number(value: object) -> bool:
    """Return whether a cell holds a number."""
    if isinstance(value, bool):
        return False
    try:
        number(value)
    except (TypeError, ValueError, OverflowError):
        return False
    # Python reads 1_000 as a number, which in a table is more likely a code
    return "_" not in str(value)


def with_points(columns: Columns, names: Sequence[str], separator: str) -> Columns:
    """Return columns with points for decimal commas, where every value of a column is then a number.

    Args:
        columns: of a table.
        names: those to look at.
        separator: what separates the cells.

    Example:
        >>> with_points({"size": ["1,5", "2", ""], "code": ["1,5", "x", "y"]}, ["size", "code"], ";")
        {'size': ['1.5', '2', ''], 'code': ['1,5', 'x', 'y']}
    """
    if separator == ",":
        return columns
    return tables.pointed(
        columns, tables.decimal(columns, filter(lambda name: _has_commas(columns[name]), names), separator)
    )


def _has_commas(values: Sequence[object]) -> bool:
    texts = [value for value in values if isinstance(value, str) and not is_missing(value)]
    return any("," in text for text in texts) and all(is_number(_tables.pointed(text)) for text in texts)

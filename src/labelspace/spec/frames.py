"""Prices in a DataFrame, read as the same table in a file would be; the packages that make frames are not imported."""

import math
from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from labelspace import _checks
from labelspace._tables import Row
from labelspace.spec.naming import OWNER


class Rows(Protocol):
    """What is used of an array."""

    def tolist(self) -> list[list[object]]:
        """Return its rows."""


@runtime_checkable
class Frame(Protocol):
    """What is used of a DataFrame; one of pandas has an ``index``, too."""

    @property
    def columns(self) -> Iterable[object]:
        """The names of the columns."""

    def to_numpy(self) -> Rows:
        """Return the cells."""


def cells(frame: Frame) -> list[Row]:
    r"""Return a table of prices as a file would have it: the names of the columns, then the rows.

    The index names the true classes. Where it only counts rows, as in a frame that was read from a file, the first
    column must. Names of the axes are kept in the corner: ``predicted\true`` says that rows are decisions.

    Args:
        frame: of pandas, or anything like it.
    """
    columns, index = list(map(str, frame.columns)), getattr(frame, "index", None)
    rows = [[_text(cell) for cell in row] for row in frame.to_numpy().tolist()]
    expected = "a DataFrame whose index names the true classes and whose columns name the decided ones"
    if not rows or not columns:
        raise _checks.fail(OWNER, "cost", expected, "one without rows")
    labels = None if index is None else list(map(str, index))
    counted = labels is None or (labels == list(map(str, range(len(rows)))) and set(labels) != set(columns))
    if not counted:
        assert labels is not None
        corner = f"{_title(index)}\\{_title(frame.columns)}"
        return _numbered([[corner, *columns], *([label, *row] for label, row in zip(labels, rows, strict=True))])
    if all(_is_price(row[0]) for row in rows):
        raise _checks.fail(OWNER, "cost", expected, "one whose index counts rows", "Set it: frame.index = [classes].")
    return _numbered([columns, *rows])


def _numbered(rows: Sequence[list[str]]) -> list[Row]:
    return [Row(line, row) for line, row in enumerate(rows, 1)]


def _title(axis: object) -> str:
    name = getattr(axis, "name", None)
    return "" if name is None else str(name)


def _text(cell: object) -> str:
    # pandas writes a missing value as an object of its own
    if cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return str(cell).strip()


def _is_price(cell: str) -> bool:
    try:
        float(cell or 0)
    except ValueError:
        return False
    return True

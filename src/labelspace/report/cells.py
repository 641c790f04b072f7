"""What tables are made of: cells, columns of them, and a table as a page shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from labelspace.report import words
from labelspace.report.reading import Drawn
from labelspace.results import Role, Row


class Cell(NamedTuple):
    """What a row shows, what it is sorted by, a note, and what is printed in a terminal where that is another text."""

    text: str
    sort: float | str | None
    note: str | None = None
    brief: str | None = None

    @property
    def printed(self) -> str:
        """The text in a terminal."""
        return self.text if self.brief is None else self.brief


class Heads(NamedTuple):
    """The group that a column stands under, and its own head."""

    group: str
    head: str


@dataclass(frozen=True)
class Column:
    """A column.

    Args:
        heads: on a page.
        says: what it is, in words.
        cells: one for every row.
        printed: its heads in a terminal; None where it is not printed.
    """

    heads: Heads
    says: str
    cells: tuple[Cell, ...]
    printed: Heads | None = None

    @property
    def used(self) -> bool:
        """Whether any row has a value."""
        return any(cell.sort is not None for cell in self.cells)


@dataclass(frozen=True)
class Line:
    """A row as a page shows it."""

    label: str
    role: Role
    winner: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """A table as a page shows it: groups with the number of their columns, columns, and rows."""

    groups: tuple[tuple[str, int], ...]
    columns: tuple[Column, ...]
    rows: tuple[Line, ...]


def number_cells(values: Sequence[float | None], decimals: int | None = None) -> tuple[Cell, ...]:
    """Return numbers as cells, with as many decimals as the largest of them asks for where it is not said."""
    shown = words.decimals_for(values) if decimals is None else decimals
    return tuple(Cell(words.fixed(number, shown), number) for number in values)


def page_table(shown: Sequence[Column], rows: Sequence[Row | Drawn]) -> Table:
    """Return a table as a page shows it."""
    groups = [(group, len(list(parts))) for group, parts in groupby(shown, key=lambda column: column.heads.group)]
    lines = [
        Line(row.label, row.role, row.winner, tuple(column.cells[place] for column in shown))
        for place, row in enumerate(rows)
    ]
    return Table(tuple(groups), tuple(shown), tuple(lines))

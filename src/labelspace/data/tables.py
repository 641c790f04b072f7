"""Tables in files → columns of values, whole or some rows at a time: text by its one reader, Parquet by pyarrow."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from labelspace import _checks, _tables
from labelspace._opening import Asked, damaged
from labelspace.data import files, parquet
from labelspace.data.files import OWNER
from labelspace.data.parquet import Columns as Columns

ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")
PARTS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing"),
}
# a row is a list of its own: with few of them at a time a table takes a third of the memory
ROWS = 4096
# so many columns are listed in a message
SHOWN = 20
DECIMAL_COMMA = ";"  # the separator beside which commas are decimal marks, whatever they look like


class Table(NamedTuple):
    """The columns of a table, and what separates its cells, None where nothing does."""

    columns: Columns
    separator: str | None


def is_table(path: Path) -> bool:
    """Return whether the name of a file is that of a table."""
    return path.name.lower().endswith(ENDINGS)


def of_folder(folder: Path) -> dict[str, Path]:
    """Return the tables called train, validation and test in a folder."""
    tables = {}
    for part, stems in PARTS.items():
        paths = [folder / f"{stem}{ending}" for stem in stems for ending in ENDINGS]
        present = [path for path in paths if path.is_file()]
        if present:
            tables[part] = present[0]
    return tables


def read(path: Path, delimiter: str | None = None) -> Table:
    """Return a table to train on.

    Args:
        path: a file whose name says what it is: ``.csv``, ``.tsv`` (also with ``.gz``) or ``.parquet``.
        delimiter: what separates cells; found by looking if not given.
    """
    if _is_parquet(path):
        with _said(path, files.ASKED):
            columns = parquet.columns(path, files.ASKED)
        if not columns or not next(iter(columns.values())):
            raise _without_rows(path, files.ASKED)
        return Table(columns, None)
    written = _tables.Pieces(path, files.ASKED, delimiter, option=True)
    read: dict[str, list[object]] = {}
    for piece in written.of(ROWS):
        for name, values in piece.items():
            read.setdefault(name, []).extend(values)
    if len(read) < 2:
        remedy = ("The first line must name the columns", *_tables.AND_WHAT_SEPARATES)
        got = f"{path.name} with {next(iter(read))!r} alone"
        raise _checks.fail(*files.ASKED, "a table whose columns have different names", got, remedy)
    return Table(read, written.separator)


def pieces(
    path: Path, size: int, asked: Asked, wanted: Sequence[str] = (), numeric: Iterable[str] = ()
) -> Iterator[Columns]:
    """Yield the columns of a table, so many rows at a time; the last piece may be shorter.

    Args:
        path: CSV, TSV (also gzipped) or Parquet.
        size: how many rows a piece has.
        asked: whose argument it is.
        wanted: columns to look for; they decide what separates the cells.
        numeric: columns of numbers, which may have decimal commas where the separator allows it.
    """
    if _is_parquet(path):
        yield from _of_parquet(path, size, asked)
        return
    written = _tables.Pieces(path, asked, wanted=wanted)
    for piece in written.of(size):
        yield piece if written.separator == "," else pointed(piece, decimal(piece, numeric, written.separator))


def decimal(columns: Columns, names: Iterable[str], separator: str) -> list[str]:
    """Return which of some columns of numbers may have decimal commas, beside what separates the cells.

    Example:
        >>> decimal({"price": ["1,500", "2,000"]}, ["price"], ";"), decimal({"price": ["1,500"]}, ["price"], "|")
        (['price'], [])
    """
    there = [name for name in names if name in columns]
    return [name for name in there if separator == DECIMAL_COMMA or not _tables.marks_thousands(columns[name])]


def pointed(columns: Columns, numeric: Iterable[str]) -> Columns:
    """Return columns with points for the decimal commas in some of them."""
    names = set(numeric)
    return {
        name: [_tables.pointed(value) if isinstance(value, str) else value for value in values]
        if name in names
        else values
        for name, values in columns.items()
    }


def rows_in(path: Path, asked: Asked) -> int | None:
    """Return how many rows a table has where that takes no reading of it (Parquet), else None."""
    if not _is_parquet(path):
        return None
    with _said(path, asked):
        return parquet.count(path, asked)


def check_columns(option: str, wanted: Iterable[str], present: Iterable[str]) -> None:
    """Refuse names that are no column of the table; suggest the nearest one, and list what there is.

    Example:
        >>> check_columns("label", ["Clas"], ["Class", "age"])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        labelspace._checks.InputError: ...Got 'Clas', which it does not have. Did you mean 'Class'? Its columns \
are: 'Class', 'age'.
    """
    columns = list(present)
    unknown = next((name for name in wanted if name not in columns), None)
    if unknown is None:
        return
    # as people mistype: letters left out or exchanged, and the wrong case
    lower = {name.lower(): name for name in reversed(columns)}
    near = get_close_matches(str(unknown).lower(), list(lower), n=1)
    listed = ", ".join(repr(name) for name in columns[:SHOWN]) + (" …" if len(columns) > SHOWN else "")
    remedy = f"Did you mean {lower[near[0]]!r}? " if near else ""
    got = f"{unknown!r}, which it does not have"
    raise _checks.fail(OWNER, option, "a column of the table", got, f"{remedy}Its columns are: {listed}.")


def _is_parquet(path: Path) -> bool:
    return path.name.lower().endswith(".parquet")


def _of_parquet(path: Path, size: int, asked: Asked) -> Iterator[Columns]:
    with _said(path, asked):
        names, rows = parquet.rows(path, asked)
        empty = True
        while piece := list(islice(rows, size)):
            yield {name: list(values) for name, values in zip(names, zip(*piece, strict=True), strict=True)}
            empty = False
    if empty:
        raise _without_rows(path, asked)


@contextmanager
def _said(path: Path, asked: Asked) -> Iterator[None]:
    """Say in words what keeps a Parquet file from being read."""
    try:
        yield
    except ImportError as error:
        remedy = 'Install it with: pip install "labelspace[parquet]"'
        raise _checks.fail(*asked, "a Parquet file read with pyarrow", "no pyarrow", remedy) from error
    except parquet.Unreadable as error:
        raise damaged(path, str(error), asked) from error


def _without_rows(path: Path, asked: Asked) -> _checks.InputError:
    return _checks.fail(*asked, "a table with rows", f"{path.name}, which has none")

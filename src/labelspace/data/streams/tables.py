"""Tables a piece at a time, for rows without labels: a file may be larger than memory, and any delimiter will do."""

import csv
import io
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from labelspace import _checks, _limits
from labelspace.data import files, parquet
from labelspace.data.table_files import ENDINGS, LARGEST_LIMIT, LONGEST_CELL, Columns

OWNER = "Run"
DELIMITERS = (",", ";", "\t", "|")
# enough for a header of any sane table
HEAD = 1 << 20
ASKED = parquet.Asked(OWNER, "x")


def is_table(path: Path) -> bool:
    """Return whether the name of a file is that of a table."""
    return path.name.lower().endswith(ENDINGS)


def pieces(path: Path, size: int, wanted: Sequence[str] = ()) -> Iterator[Columns]:
    """Yield the columns of a table, so many rows at a time; the last piece may be shorter.

    Args:
        path: CSV, TSV (also gzipped) or Parquet.
        size: how many rows a piece has.
        wanted: columns to look for; they decide which delimiter it must be.
    """
    if path.name.lower().endswith(".parquet"):
        yield from _of_parquet(path, size)
        return
    try:
        with _opened(path) as file:
            yield from _of_text(path, file, _delimiter(path, wanted), size)
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"text that is not UTF-8 ({error.reason})") from error
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, str(error)) from error


def rows_in(path: Path) -> int | None:
    """Return how many rows a table has where that takes no reading of it (Parquet), else None."""
    if not path.name.lower().endswith(".parquet"):
        return None
    try:
        return parquet.count(path, ASKED)
    except parquet.Unreadable as error:
        raise _unreadable(path, str(error)) from error


def _of_text(path: Path, file: TextIO, delimiter: str, size: int) -> Iterator[Columns]:
    reader = csv.reader(_lines(path, file), delimiter=delimiter, strict=True)
    header = next(iter(_rows(path, reader, 1)), [])
    if len(set(header)) < len(header) or not header or not all(name.strip() for name in header):
        twice = [name for name, times in Counter(header).items() if times > 1]
        got = ", ".join(repr(name) for name in (twice or header)[:8]) or "nothing"
        raise _unreadable(path, f"a first line that does not name the columns: {got}")
    found = False
    while rows := _rows(path, reader, size):
        wrong = next((row for row in rows if len(row) != len(header)), None)
        if wrong is not None:
            got = f"{len(wrong)} cells where the header has {len(header)}, near line {reader.line_num}"
            raise _unreadable(path, got)
        yield {name: list(values) for name, values in zip(header, zip(*rows, strict=True), strict=True)}
        found = True
    if not found:
        raise _unreadable(path, "no rows")


def _rows(path: Path, reader: Any, size: int) -> list[list[str]]:
    # the limit is the process's: it is put back before anyone else runs
    before = csv.field_size_limit(min(_limits.cap(LONGEST_CELL), LARGEST_LIMIT))
    try:
        return list(islice((row for row in reader if row), size))
    except csv.Error as error:
        raise _unreadable(path, f"line {reader.line_num}: {error}") from error
    finally:
        csv.field_size_limit(before)


def _delimiter(path: Path, wanted: Sequence[str]) -> str:
    """Return the delimiter that gives most of the wanted columns; the one that the file's name says, if none does."""
    usual = "\t" if ".tsv" in path.name.lower() else ","
    with _opened(path) as file:
        line = file.readline(HEAD)
    names = set(wanted)

    def found(delimiter: str) -> int:
        try:
            return len(names.intersection(next(csv.reader([line], delimiter=delimiter), [])))
        except csv.Error:
            return 0

    return max((usual, *DELIMITERS), key=found)


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """Open the text, unpacked if it is gzipped, with the bound on unpacking that training data have."""
    with (
        files.opened(path, owner=OWNER, argument="x") as file,
        io.TextIOWrapper(file, "utf-8-sig", newline="") as text,
    ):
        yield text


def _lines(path: Path, text: TextIO) -> Iterator[str]:
    longest = _limits.cap(LONGEST_CELL)
    while line := text.readline(longest):
        if len(line) == longest:
            raise _unreadable(path, f"a line of more than {longest:,} characters", _limits.REMEDY)
        yield line


def _of_parquet(path: Path, size: int) -> Iterator[Columns]:
    try:
        names, rows = parquet.rows(path, ASKED)
        empty = True
        while piece := list(islice(rows, size)):
            yield {name: list(values) for name, values in zip(names, zip(*piece, strict=True), strict=True)}
            empty = False
    except ImportError as error:
        raise ImportError("Parquet files need the package 'pyarrow': pip install \"labelspace[parquet]\"") from error
    except parquet.Unreadable as error:
        raise _unreadable(path, str(error)) from error
    if empty:
        raise _unreadable(path, "no rows")


def _unreadable(path: Path, why: str, remedy: str = "") -> ValueError:
    return _checks.fail(OWNER, "x", f"a table that can be read ({path.name})", why, remedy)

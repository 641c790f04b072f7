"""Tables on disk → columns of values: CSV by the standard library, Parquet by pyarrow."""

import csv
import io
import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from labelspace import _checks, _limits
from labelspace.data import files, parquet

OWNER = "data.load"
ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")
# what a cell without a value is often written as
MISSING = frozenset(["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "<NA>", "#N/A"])
PARTS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing"),
}
# characters of a line, and of a cell: a review may be long; the reader's own limit is 131,072 a cell.
# $LABELSPACE_MAX_UNPACKED takes its place.
LONGEST_CELL = 1 << 26
LARGEST_LIMIT = (1 << 31) - 1  # what the reader's own limit can be everywhere
ROWS = 4096
# so many columns are listed in a message
SHOWN = 20

Columns = dict[str, list[Any]]


def of_folder(folder: Path) -> dict[str, Path]:
    """Return the tables called train, validation and test in a folder."""
    found = {}
    for part, stems in PARTS.items():
        paths = [folder / f"{stem}{ending}" for stem in stems for ending in ENDINGS]
        present = [path for path in paths if path.is_file()]
        if present:
            found[part] = present[0]
    return found


def read(path: Path, delimiter: str | None = None) -> Columns:
    """Return the columns of a table.

    Args:
        path: a file whose name says what it is: ``.csv``, ``.tsv`` (also with ``.gz``) or ``.parquet``.
        delimiter: what separates cells; by the name of the file if not given.
    """
    if path.name.lower().endswith(".parquet"):
        return _parquet(path)
    return _separated(path, delimiter or ("\t" if ".tsv" in path.name.lower() else ","))


def is_missing(value: Any) -> bool:
    """Return whether a cell of numbers or categories has no value."""
    return value.strip() in MISSING if isinstance(value, str) else is_blank(value)


def is_blank(value: Any) -> bool:
    """Return whether a cell is empty; "None" and "NA" are words, as labels and texts may be."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and math.isnan(value))


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


def _separated(path: Path, delimiter: str) -> Columns:
    if len(delimiter) != 1:
        raise _checks.fail(OWNER, "delimiter", "one character", repr(delimiter))
    before = csv.field_size_limit(min(_limits.cap(LONGEST_CELL), LARGEST_LIMIT))
    try:
        with files.reading(path) as file:
            return _columns(path, csv.reader(_lines(path, file), delimiter=delimiter, strict=True))
    except UnicodeDecodeError as error:
        raise files.damaged(path, "text that is not UTF-8", _to_utf8(path)) from error
    finally:
        csv.field_size_limit(before)


def _lines(path: Path, file: BinaryIO) -> Iterator[str]:
    longest = _limits.cap(LONGEST_CELL)
    with io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        while line := text.readline(longest):
            if len(line) == longest:
                raise files.damaged(path, f"a line of more than {longest:,} characters", _limits.REMEDY)
            yield line


def _columns(path: Path, reader: Any) -> Columns:
    try:
        header: list[str] = next(reader, [])
        _check_header(path, header)
        rows = (_checked(path, reader.line_num, row, len(header)) for row in reader if row)
        columns: list[list[Any]] = [[] for _ in header]
        # a row is a list of its own: with few of them at a time a table takes a third of the memory
        while some := list(islice(rows, ROWS)):
            for column, values in zip(columns, zip(*some, strict=True), strict=True):
                column.extend(values)
    except csv.Error as error:
        raise files.damaged(path, f"line {reader.line_num}: {error}", f"Repair that line: {path}") from error
    if not columns[0]:
        raise _checks.fail(OWNER, "name_or_path", "a table with rows", f"{path.name}, which has none")
    return dict(zip(header, columns, strict=True))


def _to_utf8(path: Path) -> str:
    """Return how to turn a file of another encoding into one that can be read."""
    plain = Path(re.sub(r"\.gz$", "", path.name, flags=re.IGNORECASE))
    new = shlex.quote(str(path.with_name(f"{plain.stem}-utf8{plain.suffix}")))
    show = "gzip -dc" if files.packed(path) else "cat"
    command = f"{show} {shlex.quote(str(path))} | iconv -f {_encoding(path)} -t UTF-8 > {new}"
    return f"Save it as UTF-8 (in a spreadsheet: CSV UTF-8) and use that file, for example: {command}"


def _encoding(path: Path) -> str:
    """Return the likeliest encoding of a text that is not UTF-8."""
    if files.beginning(path, 2) in (b"\xff\xfe", b"\xfe\xff"):
        return "UTF-16"
    with files.reading(path) as file:
        blocks = iter(lambda: file.read(files.BLOCK), b"")
        # Windows' own encoding leaves these five bytes out; Latin-1, which it extends, can read anything
        undefined = any(byte in block for block in blocks for byte in b"\x81\x8d\x8f\x90\x9d")
    return "ISO-8859-1" if undefined else "WINDOWS-1252"


def _check_header(path: Path, header: Sequence[str]) -> None:
    repeated = [name for name, times in Counter(header).items() if times > 1]
    if len(header) < 2 or repeated or not all(name.strip() for name in header):
        got = f"{path.name} with {', '.join(repr(name) for name in header[:8]) or 'nothing'}"
        delimiter = _checks.Setting("delimiter")
        remedy = ("The first line must name the columns; ", delimiter, " says what separates them.")
        raise _checks.fail(OWNER, "name_or_path", "a table whose columns have different names", got, remedy)


def _checked(path: Path, line: int, row: list[str], width: int) -> list[str]:
    if len(row) != width:
        delimiter = _checks.Setting("delimiter")
        remedy = ("Repair that line, or say with ", delimiter, f" what separates the cells: {path}")
        raise files.damaged(path, f"{len(row)} cells where the header has {width}, at line {line}", remedy)
    return row


def _parquet(path: Path) -> Columns:
    try:
        columns = parquet.columns(path)
    except ImportError as error:
        remedy = "Install it with: pip install 'labelspace[parquet]'"
        raise _checks.fail(OWNER, "name_or_path", "a Parquet file read with pyarrow", "no pyarrow", remedy) from error
    except parquet.Unreadable as error:
        raise files.damaged(path, str(error)) from error
    if not columns or not next(iter(columns.values())):
        raise _checks.fail(OWNER, "name_or_path", "a table with rows", f"{path.name}, which has none")
    return columns

"""Tables on disk → columns of values: CSV by the standard library, Parquet by pyarrow."""

import csv
import importlib
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labelspace import _checks
from labelspace.data import files

OWNER = "data.load"
ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")
# what a cell without a value is often written as
MISSING = frozenset(["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "<NA>", "#N/A"])
PARTS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing"),
}
# a review may be long; the reader's own limit is 131,072 characters a cell
LONGEST_CELL = 1 << 28

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
    if path.name.endswith(".parquet"):
        return _parquet(path)
    return _separated(path, delimiter or ("\t" if ".tsv" in path.name else ","))


def is_missing(value: Any) -> bool:
    """Return whether a cell of numbers or categories has no value."""
    return value.strip() in MISSING if isinstance(value, str) else is_blank(value)


def is_blank(value: Any) -> bool:
    """Return whether a cell is empty; "None" and "NA" are words, as labels and texts may be."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and math.isnan(value))


def _separated(path: Path, delimiter: str) -> Columns:
    try:
        text = files.contents(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise files.damaged(path, f"text that is not UTF-8 (byte {error.start})") from error
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        header = next(reader, [])
        _check_header(path, header)
        rows = [_checked(path, reader.line_num, row, len(header)) for row in reader if row]
    except csv.Error as error:
        raise files.damaged(path, f"line {reader.line_num}: {error}") from error
    finally:
        csv.field_size_limit(before)
    if not rows:
        raise _checks.fail(OWNER, "name_or_path", "a table with rows", f"{path.name}, which has none")
    return {name: list(values) for name, values in zip(header, zip(*rows, strict=True), strict=True)}


def _check_header(path: Path, header: Sequence[str]) -> None:
    repeated = sorted({name for name in header if header.count(name) > 1})
    if len(header) < 2 or repeated or not all(name.strip() for name in header):
        got = f"{path.name} with {', '.join(repr(name) for name in header[:8]) or 'nothing'}"
        remedy = "The first line must name the columns; delimiter= says what separates them."
        raise _checks.fail(OWNER, "name_or_path", "a table whose columns have different names", got, remedy)


def _checked(path: Path, line: int, row: list[str], width: int) -> list[str]:
    if len(row) != width:
        raise files.damaged(path, f"{len(row)} cells where the header has {width}, at line {line}")
    return row


def _parquet(path: Path) -> Columns:
    try:
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        remedy = "Install it with: pip install 'labelspace[parquet]'"
        raise _checks.fail(OWNER, "name_or_path", "a Parquet file read with pyarrow", "no pyarrow", remedy) from error
    try:
        table = parquet.read_table(path)
        columns = {str(name): table.column(name).to_pylist() for name in table.column_names}
    except Exception as error:  # pyarrow's own classes, known only where it is installed
        raise files.damaged(path, str(error)) from error
    if not columns or not next(iter(columns.values())):
        raise _checks.fail(OWNER, "name_or_path", "a table with rows", f"{path.name}, which has none")
    return columns

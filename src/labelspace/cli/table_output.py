"""Columns → a CSV or Parquet file, whole or not at all, or CSV on stdout while they come."""

import csv
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import typer

from labelspace import _checks, _files
from labelspace._cells import guarded
from labelspace.cli.screen import errors, print_file
from labelspace.cli.stopping import exit_code, farewell
from labelspace.data.tables import Columns

TABLES = (".csv", ".parquet")

Write = Callable[[Columns], None]


def check_output(owner: str, path: Path, source: str | Path, endings: Sequence[str] = TABLES) -> None:
    """Refuse a file that cannot be written, or that is the one to be read, before any work is done."""
    if path.suffix.lower() not in endings:
        expected = f"a file that ends in {' or '.join(endings)}"
        raise _checks.fail(owner, "--output", expected, repr(str(path)))
    if path.exists() and Path(source).exists() and path.samefile(source):
        raise _checks.fail(owner, "--output", "another file than the one that is read", repr(str(path)))
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        remedy = "Choose another place, or make the folder first."
        raise _checks.fail(owner, "--output", "a file in a folder that can be written to", repr(str(path)), remedy)
    if path.suffix.lower() == ".parquet":
        _pyarrow("pyarrow")


@contextmanager
def table_file(path: Path | None, spreadsheet: bool = False) -> Iterator[Write]:
    """Give a function that takes the columns piece by piece; the file is in its place only after the last one.

    Args:
        path: a .csv or .parquet file; None for CSV on stdout.
        spreadsheet: write text that a spreadsheet would take for a formula with a ' before it.
    """
    if path is None:
        yield _csv_writer(_Printed(), spreadsheet)
        return
    with _files.replacing(path) as temporary:
        if path.suffix.lower() == ".csv":
            with temporary.open("w", encoding="utf-8", newline="") as file:
                yield _csv_writer(file, spreadsheet)
        else:
            pieces: list[Any] = []
            yield lambda columns: pieces.append(_pyarrow("pyarrow").table(columns))
            _write_parquet(temporary, pieces)


@contextmanager
def stopped_cleanly() -> Iterator[None]:
    """Say that no file was written where Ctrl-C ends it, and nothing where whoever read from us has seen enough."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt as error:
        errors.print(farewell("no file was written."), style="yellow")
        raise typer.Exit(exit_code(error)) from error
    except BrokenPipeError:
        # Python must not try to write the rest when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Printed:
    """Stdout, as a file to write to."""

    def write(self, text: str) -> None:
        """Print the content of a file."""
        print_file(text)


def _csv_writer(file: "TextIO | _Printed", spreadsheet: bool) -> Write:
    writer = csv.writer(file, lineterminator="\n")
    begun = False

    def write(columns: Columns) -> None:
        nonlocal begun
        if not begun:
            writer.writerow([_cell(name, spreadsheet) for name in columns])
            begun = True
        rows = zip(*columns.values(), strict=True)
        writer.writerows([_cell(value, spreadsheet) for value in row] for row in rows)

    return write


def _cell(value: object, spreadsheet: bool) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return guarded(value) if spreadsheet and isinstance(value, str) else value


def _write_parquet(path: Path, pieces: list[Any]) -> None:
    pyarrow, parquet = _pyarrow("pyarrow"), _pyarrow("pyarrow.parquet")
    # a piece without a single value in some column does not know its type
    table = pyarrow.concat_tables(pieces, promote_options="permissive")
    parquet.write_table(table, path)


def _pyarrow(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError("Parquet files need the package 'pyarrow': pip install \"labelspace[parquet]\"") from error

"""Tables as text, by one set of rules: what people write by hand, what they train on, and what they predict on.

Encoding: UTF-8 with or without a mark, UTF-16 with its mark. A small file that a person wrote may also be as Windows
writes it; data of another encoding are refused, because letters that come out wrong there are noticed by nobody.
Separator: the one that cuts most lines alike among tab, semicolon, comma and, where the first line has it, a vertical
bar; for data what the ending of the file says stands as long as it cuts every line like the first. A semicolon makes
commas decimal marks; beside a tab or a bar they may also be marks of thousands, and are left where all look so. Lines,
cells and what a gzipped file unpacks to have caps.
"""

import csv
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple, NoReturn, Protocol, TextIO, TypeVar

from labelspace import _checks, _opening
from labelspace._opening import Asked, damaged, decoded, opened, text_of

# prices of 2,000 classes fit; a file beyond this is data, not something a person wrote
LARGEST = 64 * 2**20
# characters of a line, and of a cell: a review may be long; the reader's own limit is 131,072 a cell.
# $LABELSPACE_MAX_UNPACKED takes its place.
LONGEST = 1 << 26
LARGEST_LIMIT = (1 << 31) - 1  # what the reader's own limit can be everywhere
# of equals the first: commas are also decimal marks
SEPARATORS = ("\t", ";", ",", "|")
THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")
# lines, and characters of them, that show how a table is written
SHOWN_LINES, SHOWN = 200, 1 << 20
T = TypeVar("T")
OWNER = "labelspace"  # what people write in files belongs to no function
CLOSE = "A quotation mark that opens must close; two stand for one inside quotation marks."
AND_WHAT_SEPARATES = ("; ", _checks.Setting("delimiter"), " says what separates them.")


class _Reader(Protocol):
    @property
    def line_num(self) -> int: ...


class Row(NamedTuple):
    """The cells of a line, without outer blanks, and the number of the line."""

    line: int
    cells: list[str]


def is_there(path: Path) -> bool:
    """Return whether a file or folder has this name; what cannot be a name (too long) is not there."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def pointed(cell: str) -> str:
    """Return a number with its decimal comma turned into a point, and any other cell as it is.

    Example:
        >>> pointed("1,5"), pointed("1,500,000"), pointed("cat")
        ('1.5', '1,500,000', 'cat')
    """
    return cell.replace(",", ".") if re.fullmatch(r"\s*[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?\s*", cell) else cell


def marks_thousands(cells: Iterable[object]) -> bool:
    """Return whether every comma in a column of numbers may be a mark of thousands, and there are such.

    Example:
        >>> marks_thousands(["1,500", "20"]), marks_thousands(["1,500", "0,250"])
        (True, False)
    """
    written = [cell for cell in cells if isinstance(cell, str) and "," in cell]
    return bool(written) and all(THOUSANDS.fullmatch(cell) for cell in written)


def read_text(argument: str, path: Path) -> str:
    """Return the text of a small file that a person wrote, in whatever encoding; its lines end alike."""
    if not is_there(path):
        raise FileNotFoundError(f"`{argument}` names the file {path}, which does not exist.")
    largest = _opening.cap(LARGEST)
    try:
        with opened(path, Asked(OWNER, argument), largest) as file:
            content = file.read(largest + 1)
    except (OSError, EOFError, zlib.error) as error:
        got = f"{path}: {getattr(error, 'strerror', None) or error}"
        raise _checks.fail(OWNER, argument, "a file that can be read", got) from error
    if len(content) > largest:
        got = f"{path.name} of {path.stat().st_size / 2**20:.0f} MB"
        raise _checks.fail(OWNER, argument, f"a text file of at most {largest / 2**20:.0f} MB", got, _opening.REMEDY)
    text = decoded(content)
    if "\0" in text:
        raise _checks.fail(OWNER, argument, "a text file", f"{path.name}, which is none")
    if not text.strip():
        raise _checks.fail(OWNER, argument, "a file with something in it", f"{path.name}, which is empty")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def table(argument: str, path: Path, text: str) -> tuple[list[Row], str]:
    """Return the rows of a table that are not empty, without columns that are, and what separates its cells."""
    separator = separator_of(text.split("\n"))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True)
    written = (Row(reader.line_num, [cell.strip() for cell in cells]) for cells in reader)
    rows = _taken(path, reader, written, None, Asked(OWNER, argument))
    width = max((index + 1 for row in rows for index, cell in enumerate(row.cells) if cell), default=0)
    if not width:
        raise _checks.fail(OWNER, argument, "a table", f"{path.name}, whose cells are all empty")
    return [Row(row.line, row.cells[:width]) for row in rows if any(row.cells)], separator


class Pieces:
    """The columns of a table whose first line names them, some rows at a time; the file may be larger than memory.

    Args:
        path: a text, plain or gzipped.
        asked: whose argument it is.
        separator: what separates the cells; found by looking if None.
        wanted: columns to look for, which decide before anything else what separates the cells.
        option: whether one may say what separates them with an option ``delimiter``, for messages.
    """

    def __init__(
        self,
        path: Path,
        asked: Asked,
        separator: str | None = None,
        wanted: Sequence[str] = (),
        option: bool = False,
    ) -> None:
        """Look how the table is written."""
        self.path, self.asked, self.option = path, asked, option
        if separator is not None and len(separator) != 1:
            raise _checks.fail(asked.owner, "delimiter", "one character", repr(separator))
        self.separator = separator or self._looked(wanted)

    def of(self, size: int) -> Iterator[dict[str, list[str]]]:
        """Yield the columns, so many rows at a time; the last piece may be shorter."""
        with text_of(self.path, self.asked) as file:
            reader = csv.reader(_lines(self.path, file, self.asked), delimiter=self.separator, strict=True)
            rows = (cells for cells in reader if cells)
            header = next(iter(_taken(self.path, reader, rows, 1, self.asked)), [])
            _check_header(self.path, header, self.asked, self.option)
            width = len(header)
            whole = (
                cells if len(cells) == width else self._refuse(len(cells), width, reader.line_num) for cells in rows
            )
            empty = True
            while some := _taken(self.path, reader, whole, size, self.asked):
                yield {name: list(values) for name, values in zip(header, zip(*some, strict=True), strict=True)}
                empty = False
            if empty:
                raise _checks.fail(*self.asked, "a table with rows", f"{self.path.name}, which has none")

    def _refuse(self, count: int, width: int, line: int) -> NoReturn:
        also = (", or say with ", _checks.Setting("delimiter"), " what separates the cells") if self.option else ()
        why = f"{count} cells where the header has {width}, at line {line}"
        raise damaged(self.path, why, self.asked, ("Repair that line", *also, f": {self.path}"))

    def _looked(self, wanted: Sequence[str]) -> str:
        with text_of(self.path, self.asked) as file:
            lines = list(_lines(self.path, io.StringIO(file.read(SHOWN), newline=""), self.asked))
        whole = sum(map(len, lines)) < SHOWN
        usual = "\t" if ".tsv" in self.path.name.lower() else ","
        return separator_of(lines if whole else lines[:-1] or lines, usual, wanted)


def separator_of(lines: Sequence[str], usual: str | None = None, wanted: Sequence[str] = ()) -> str:
    r"""Return what gives the most lines the same number of cells, more than one; a name may hold the others.

    Args:
        lines: the first ones of a table.
        usual: what it is where others do no better; the first line then names the columns, and the others are to have
            as many cells. None for a table that a person wrote in whatever form.
        wanted: names of columns; what gives most of them comes first.

    Example:
        >>> separator_of(["size;label", "1,5;small", "2,5;large"], usual=",")
        ';'
    """
    shown = [line for line in lines if line.strip()][:SHOWN_LINES]
    names = set(wanted)

    def regularity(separator: str) -> tuple[int, int, int]:
        try:
            with _long_cells():
                rows = [cells for cells in csv.reader(shown, delimiter=separator) if cells]
        except csv.Error:  # a quotation mark that never closes; reading the table says so
            return 0, 0, 0
        rows = rows[:-1] if len(shown) == SHOWN_LINES else rows  # the last one may go on
        first = rows[0] if rows else []
        widths = Counter(len(cells) for cells in rows)
        if usual is not None or separator == "|":
            best = (widths[len(first)], 0) if len(first) > 1 else (0, 0)
        else:
            best = max(((count, width) for width, count in widths.items() if width > 1), default=(0, 0))
        return len(names.intersection(first)), *best

    ranked = {each: regularity(each) for each in ((usual, ",", ";", *SEPARATORS) if usual else SEPARATORS)}
    return max(ranked, key=ranked.__getitem__) if any(map(any, ranked.values())) else usual or ","


def _lines(path: Path, text: TextIO, asked: Asked) -> Iterator[str]:
    longest = _opening.cap(LONGEST)
    while line := text.readline(longest):
        if len(line) == longest:
            raise damaged(path, f"a line of more than {longest:,} characters", asked, _opening.REMEDY)
        yield line


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let cells be as long as they may; the limit is the process's, and is put back before anyone else runs."""
    before = csv.field_size_limit(min(_opening.cap(LONGEST), LARGEST_LIMIT))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _taken(path: Path, reader: _Reader, rows: Iterator[T], size: int | None, asked: Asked) -> list[T]:
    """Return the next so many of the rows that are made of what a reader reads; all of them for None."""
    try:
        with _long_cells():
            return list(islice(rows, size))
    except csv.Error as error:
        got = f"line {reader.line_num}: {error}"
        raise damaged(path, got, asked, f"Repair that line: {path}. {CLOSE}") from error


def _check_header(path: Path, header: Sequence[str], asked: Asked, option: bool) -> None:
    repeated = [name for name, times in Counter(header).items() if times > 1]
    # the first column may lack a name: pandas and R write the numbers of rows so
    if not header or repeated or not all(name.strip() for name in header[1:]) or header == [""]:
        got = f"{path.name} with {', '.join(repr(name) for name in (repeated or header)[:8]) or 'nothing'}"
        remedy = ("The first line must name the columns", *(AND_WHAT_SEPARATES if option else ["."]))
        raise _checks.fail(*asked, "a table whose columns have different names", got, remedy)

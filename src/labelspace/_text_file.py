"""Small text files that people write by hand or in a spreadsheet: whatever their encoding, line ends and separators."""

import csv
import io
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from labelspace import _checks, _limits

# prices of 2,000 classes fit; a file beyond this is data, not something a person wrote
LARGEST = 64 * 2**20
# of equals the first: commas are also decimal marks
SEPARATORS = ("\t", ";", ",")
OWNER = "labelspace"  # what people write in files belongs to no function


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


def read_text(argument: str, path: Path) -> str:
    """Return the text of a file, in UTF-8, UTF-16 with its mark, or else as Windows writes it; lines end alike."""
    if not is_there(path):
        raise FileNotFoundError(f"`{argument}` names the file {path}, which does not exist.")
    _limits.check_regular(OWNER, argument, path)
    largest = _limits.cap(LARGEST)
    if path.stat().st_size > largest:
        got = f"{path.name} of {path.stat().st_size / 2**20:.0f} MB"
        raise _checks.fail(OWNER, argument, f"a text file of at most {largest / 2**20:.0f} MB", got, _limits.REMEDY)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _checks.fail(OWNER, argument, "a file that can be read", f"{path}: {error.strerror}") from error
    text = _decoded(content)
    if "\0" in text:
        raise _checks.fail(OWNER, argument, "a text file", f"{path.name}, which is none")
    if not text.strip():
        raise _checks.fail(OWNER, argument, "a file with something in it", f"{path.name}, which is empty")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def table(argument: str, path: Path, text: str) -> tuple[list[Row], str]:
    """Return the rows of a table that are not empty, without columns that are, and what separates its cells."""
    separator = _separator(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True)
    try:
        rows = [Row(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except csv.Error as error:
        remedy = "A quotation mark that opens must close; two stand for one inside quotation marks."
        raise _checks.fail(
            OWNER, argument, "a table", f"{path.name}, line {reader.line_num}: {error}", remedy
        ) from error
    width = max((index + 1 for row in rows for index, cell in enumerate(row.cells) if cell), default=0)
    if not width:
        raise _checks.fail(OWNER, argument, "a table", f"{path.name}, whose cells are all empty")
    return [Row(row.line, row.cells[:width]) for row in rows if any(row.cells)], separator


def _decoded(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")


def _separator(text: str) -> str:
    """Return what gives the most lines the same number of cells, more than one; a name may hold the others."""
    lines = [line for line in text.split("\n") if line.strip()][:200]

    def regularity(separator: str) -> tuple[int, int]:
        try:
            widths = Counter(len(cells) for cells in csv.reader(lines, delimiter=separator))
        except csv.Error:  # a quotation mark that never closes; reading the table says so
            return 0, 0
        return max(((count, width) for width, count in widths.items() if width > 1), default=(0, 0))

    return max(SEPARATORS, key=regularity) if any(regularity(separator)[0] for separator in SEPARATORS) else ","

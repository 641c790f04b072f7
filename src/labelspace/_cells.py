"""Names as people and programs write them: between commas, and in cells that a spreadsheet may open."""

import csv
import re
from collections.abc import Collection

from labelspace import _checks

# what spreadsheets take for the beginning of a formula, unless it is a number
FORMULA = re.compile(r"'*[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-](inf|nan)", re.IGNORECASE)


def names_in(owner: str, argument: str, text: str) -> list[str]:
    """Return the names between commas; quotation marks keep a comma.

    Example:
        >>> names_in("labels", "classes", 'cat, "dog, small",')
        ['cat', 'dog, small']
    """
    try:
        cells = next(csv.reader([text.strip()], skipinitialspace=True), [])
    except csv.Error as error:  # a break of the line, or a name of a hundred thousand letters
        got = f"{text[:60]!r}: {error}"
        raise _checks.fail(owner, argument, "names with commas between, in one line", got) from error
    return [cell.strip() for cell in cells if cell.strip()]


def guarded(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula; a number stays what it is.

    Example:
        >>> guarded("=1+1"), guarded("-1.5"), guarded("cat")
        ("'=1+1", '-1.5', 'cat')
    """
    return f"'{cell}" if FORMULA.match(cell) and not NUMBER.fullmatch(cell) else cell


def unguarded(cell: str, names: Collection[str]) -> str:
    """Return what a guarded cell stands for; one that is a name as it is stays what it is.

    Example:
        >>> unguarded("'=1+1", ["=1+1"]), unguarded("'=1+1", ["'=1+1"]), unguarded("'cat", [])
        ('=1+1', "'=1+1", "'cat")
    """
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) and cell not in names else cell

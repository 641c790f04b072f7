"""Small tables, as lines of text and as Markdown, and the sentences below them."""

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from labelspace.spec.naming import plain

GAP = "  "
# heads of columns that are no numbers
TEXTS = ("labels", "group", "data", "split", "verdict", "recommended", "cheapest on test")
NARROWEST = 10  # the words before sentences stand in a column of at least this width


class Grid(NamedTuple):
    """A small table: heads, and the cells of every line; the first column says what a line is of."""

    heads: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


def said(word: str, text: str, width: int, column: int = NARROWEST) -> list[str]:
    """Return a text as lines, its word before the first.

    Args:
        word: such as the verdict.
        text: sentences.
        width: characters in a line.
        column: characters that the word may take.

    Example:
        >>> said("Mind", "Few datasets.", 60)
        ['Mind      Few datasets.']
    """
    lines = textwrap.wrap(text, width - column, break_on_hyphens=False, break_long_words=False)
    return [f"{word if not number else '':<{column}}{line}" for number, line in enumerate(lines)]


def aligned(grid: Grid, width: int) -> list[str]:
    """Return a table whose numbers stand below each other; texts give way, and what still does not fit comes below.

    Args:
        grid: the table.
        width: characters in a line.
    """
    table = [grid.heads, *grid.lines]
    texts = [place for place, head in enumerate(grid.heads) if head in TEXTS]
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]

    def taken(places: Sequence[int]) -> int:
        return sum(widths[place] + len(GAP) for place in places) - len(GAP)

    while taken(range(len(widths))) > width and max(widths[place] for place in texts) > NARROWEST:
        widths[max(texts, key=widths.__getitem__)] -= 1
    blocks: list[list[int]] = [[0]]
    for place in range(1, len(widths)):
        if len(blocks[-1]) > 1 and taken([*blocks[-1], place]) > width:
            blocks.append([0])  # every block says what its lines are of
        blocks[-1].append(place)
    return [_cells(line, block, widths, texts) for block in blocks for line in table]


def _cells(line: Sequence[str], block: Sequence[int], widths: Sequence[int], texts: Sequence[int]) -> str:
    cells = [
        f"{shortened(line[place], widths[place]):{'<' if place in texts else '>'}{widths[place]}}" for place in block
    ]
    return GAP.join(cells).rstrip()


def shortened(text: str, width: int) -> str:
    """Return a text that fits.

    Args:
        text: any.
        width: characters that it may take.

    Example:
        >>> shortened("semantic", 5), shortened("lls", 5)
        ('sema…', 'lls')
    """
    return text if len(text) <= width else f"{text[: width - 1]}…"


def in_markdown(grid: Grid) -> str:
    """Return a table as Markdown.

    Args:
        grid: the table.

    Example:
        >>> print(in_markdown(Grid(("data", "cost"), (("digits", "0.25"),))))
        | data | cost |
        | --- | ---: |
        | digits | 0.25 |
    """
    rule = "|".join(" --- " if head in TEXTS else " ---: " for head in grid.heads)
    return "\n".join([_line(grid.heads), f"|{rule}|", *map(_line, grid.lines)])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(plain(cell) for cell in cells) + " |"

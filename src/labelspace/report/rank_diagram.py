"""The critical-difference diagram: where rows lie by their mean ranks, and which of them are not told apart."""

from collections.abc import Sequence
from typing import NamedTuple

from labelspace.results.many import Standing, Summary

HEAD = "mean ranks"
LONGEST = 20  # letters of a label in a diagram
LEFT, RIGHT, TOP, STEP = 210.0, 550.0, 62.0, 20.0  # pixels: the axis, and between lines


class Mark(NamedTuple):
    """A row in the figure: its name and rank, where it lies on the axis, and where its name stands."""

    text: str
    x: float
    y: float
    end: float
    anchor: str


class Diagram(NamedTuple):
    """A figure: its height, the ticks of its axis, the marks of rows, bars over rows that are not told apart."""

    height: float
    low: float
    high: float
    axis: float
    ticks: tuple[tuple[int, float], ...]
    marks: tuple[Mark, ...]
    bars: tuple[tuple[float, float, float], ...]
    difference: float | None
    reach: float


def rank_lines(summary: Summary, width: int = 100) -> list[str]:
    """Return the diagram as text: a line for each row, and its place among ranks.

    Args:
        summary: what many comparisons found.
        width: characters in a line.
    """
    rows = summary.standings
    label = min(max(len(text) for text in (HEAD, *(row.label for row in rows))), LONGEST)
    room = max(min(width - label - 16, 60), 10)

    def place(rank: float) -> int:
        return round((rank - 1) / (len(rows) - 1) * (room - 1))

    axis = ["─"] * room
    for tick in range(1, len(rows) + 1):
        axis[place(tick)] = "┬"
    numbers = [" "] * (room + 1)
    for tick in range(1, len(rows) + 1):
        for offset, digit in enumerate(str(tick)):
            numbers[place(tick) + offset] = digit
    lines = [f"{HEAD:<{label}}  {''.join(numbers).rstrip()}", f"{'':<{label}}  {''.join(axis)}"]
    if summary.difference is not None:
        reach = min(1 + summary.difference, float(len(rows)))
        bar = "├" + "─" * max(place(reach) - 1, 0) + ("┤" if reach < len(rows) else "…")
        named = f"CD {summary.difference:.2f}"
        lines.append(f"{named:<{label}}  {bar}")
    for row in rows:
        dotted = f"{'·' * place(row.rank)}●"
        lines.append(f"{row.label[:label]:<{label}}  {dotted:<{room}}  {row.rank:.2f}  {row.group}".rstrip())
    return lines


def diagram(summary: Summary) -> Diagram:
    """Return the diagram as places of a figure: the better half of the rows is named on the left.

    Args:
        summary: what many comparisons found.
    """
    rows = summary.standings
    count = len(rows)

    def x(rank: float) -> float:
        return round(LEFT + (rank - 1) / (count - 1) * (RIGHT - LEFT), 1)

    spans = _spans(rows)
    bars = tuple((x(rows[low].rank) - 3, x(rows[high].rank) + 3, TOP + 10 + 7 * n) for n, (low, high) in spans)
    half, below = (count + 1) // 2, TOP + 24 + 7 * len(bars)
    marks = []
    for number, row in enumerate(rows):
        left = number < half
        y = below + STEP * (number if left else count - 1 - number)
        label = row.label if len(row.label) <= LONGEST else f"{row.label[: LONGEST - 1]}…"
        end = LEFT - 12 if left else RIGHT + 12
        marks.append(Mark(f"{label} {row.rank:.2f}", x(row.rank), y, end, "end" if left else "start"))
    ticks = tuple((tick, x(tick)) for tick in range(1, count + 1))
    reach = x(min(1 + (summary.difference or 0.0), float(count)))
    return Diagram(below + STEP * half, LEFT, RIGHT, TOP, ticks, tuple(marks), bars, summary.difference, reach)


def _spans(rows: Sequence[Standing]) -> list[tuple[int, tuple[int, int]]]:
    """Return, numbered, from which to which row the letters reach that more than one has."""
    letters = list(dict.fromkeys(letter for row in rows for letter in row.group))
    found = []
    for letter in letters:
        having = [place for place, row in enumerate(rows) if letter in row.group]
        if len(having) > 1:
            found.append((having[0], having[-1]))
    return list(enumerate(found))

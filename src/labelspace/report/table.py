"""The table of a comparison as text for a terminal or a message, and as Markdown; laid out from ``report.columns``."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from labelspace.report import words
from labelspace.report.columns import columns
from labelspace.report.glossary import BRIEF, chosen_text, honest_by, strength_words
from labelspace.results import Result, Row
from labelspace.spec.naming import plain

GAP = "  "
NARROWEST = 10  # the words before sentences stand in a column of at least this width


class Printed(NamedTuple):
    """A column as it is printed: the group it stands under, its own title, and a text for every row."""

    group: str
    title: str
    cells: list[str]

    @property
    def width(self) -> int:
        """Characters that its widest cell or title takes."""
        return max(len(text) for text in (self.title, *self.cells))


def text_table(result: Result, width: int = 100, places: Mapping[str, str] | None = None) -> str:
    """Return title, table, legend and verdict; columns that do not fit beside each other come below each other.

    Args:
        result: what a comparison found.
        width: characters in a line.
        places: further lines below the verdict, by the word they begin with.
    """
    labels = _labels(result.lines)
    blocks = _blocks(_columns(result), max(len(label) for label in ("labels", *labels)), width)
    parts = [_wrapped(result.title, width), *(_block(result.lines, labels, block) for block in blocks)]
    legend = _legend(result, width)
    return "\n".join([*parts, *(["", *legend] if legend else []), "", verdict_text(result, width, places)])


def verdict_text(result: Result, width: int = 100, places: Mapping[str, str] | None = None) -> str:
    """Return the verdict, the warnings, where to go on, and last what to do."""
    kind = result.verdict.kind.upper()
    said = [(kind, " ".join(result.verdict.sentences)), *(("Mind", text) for text in result.warnings)]
    column = max(NARROWEST, len(kind) + 2)
    lines = [line for word, text in said for line in _said(word, text, column, width)]
    further = {**({"Next": result.next} if result.next else {}), **(places or {})}
    last = _said("Do", result.verdict.advice, column, width)
    return "\n".join([*lines, *(f"{word:<{column}}{text}" for word, text in further.items()), *last])


def markdown_table(result: Result) -> str:
    """Return the table and the verdict as Markdown."""
    shown = _columns(result)
    heads = ["labels", *(f"{column.group} {column.title}".strip() for column in shown)]
    lines = [f"**{plain(result.title)}**", "", _line(heads), f"| --- |{' ---: |' * len(shown)}"]
    for number, row in enumerate(result.lines):
        name = f"{row.label} ({row.role})" if row.role in ("control", "rival", "ensemble") else row.label
        lines.append(_line([name, *(column.cells[number] for column in shown)]))
    if result.measure is not None:
        searched = f", texts by a {plain(result.measure.search)}" if result.measure.search else ""
        lines += ["", f"{plain(result.measure.title)}: `{result.measure.signature}`{searched}"]
    lines += ["", f"**{plain(result.verdict.kind.upper())}** {plain(' '.join(result.verdict.sentences))}"]
    lines += [f"\n> {plain(warning)}" for warning in result.warnings]
    lines += ["", f"**{plain(result.verdict.advice)}**"] if result.verdict.advice else []
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(plain(cell) for cell in cells) + " |"


def _columns(result: Result) -> list[Printed]:
    """Return what ``report.columns`` says is printed."""
    return [
        Printed(*column.printed, [cell.printed for cell in column.cells])
        for column in columns(result)
        if column.printed is not None
    ]


def _labels(rows: Sequence[Row]) -> list[str]:
    return [_label(row) for row in rows]


def _label(row: Row) -> str:
    """Return how a row is called; controls and rivals stand below a line of their own, a little to the right."""
    if row.role in ("rival", "ensemble"):
        return f"  {row.label}"
    return f"  {row.control}" if row.role == "control" and row.control else row.label


def _blocks(columns: Sequence[Printed], label_width: int, width: int) -> list[list[Printed]]:
    """Return columns that fit beside each other."""
    blocks: list[list[Printed]] = [[]]
    for column in columns:
        if blocks[-1] and label_width + sum(len(GAP) + w for w in _widths([*blocks[-1], column])) > width:
            blocks.append([])
        blocks[-1].append(column)
    return blocks


def _widths(columns: Sequence[Printed]) -> list[int]:
    """Return the widths of columns, the last of a group widened so that the group's title has room."""
    widths = [column.width for column in columns]
    for start, end in _groups(columns):
        room = sum(widths[start:end]) + len(GAP) * (end - start - 1)
        widths[end - 1] += max(0, len(columns[start].group) - room)
    return widths


def _groups(columns: Sequence[Printed]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for number, column in enumerate(columns):
        if found and columns[found[-1][0]].group == column.group:
            found[-1] = (found[-1][0], number + 1)
        else:
            found.append((number, number + 1))
    return found


def _block(rows: Sequence[Row], labels: Sequence[str], columns: Sequence[Printed]) -> str:
    first, widths = max(len("labels"), *(len(label) for label in labels)), _widths(columns)
    tops = []
    for start, end in _groups(columns):
        room = sum(widths[start:end]) + len(GAP) * (end - start - 1)
        tops.append(f"{columns[start].group:>{room}}")
    lines = [
        "",
        GAP.join([" " * first, *tops]),
        _aligned("labels", [column.title for column in columns], first, widths),
    ]
    told: set[str] = set()
    for number, row in enumerate(rows):
        if row.role == "control" and row.of is not None and row.of not in told:
            told.add(row.of)
            lines.append(f"controls for {row.of}")
        if row.role in ("rival", "ensemble") and row.role not in told:
            told.add(row.role)
            lines.append(f"{row.role}s")
        lines.append(_aligned(labels[number], [column.cells[number] for column in columns], first, widths))
    return "\n".join(line.rstrip() for line in lines)


def _aligned(label: str, cells: Sequence[str], first: int, widths: Sequence[int]) -> str:
    return GAP.join([f"{label:<{first}}", *(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))])


def _legend(result: Result, width: int) -> list[str]:
    rows = result.rows
    tried = sorted({len(row.trials) for row in rows if row.strength is not None})
    parts = [chosen_text(result), "● excludes 0 after Holm"] if len(rows) > 1 else []
    if len(rows) > 1 and result.measure is not None:
        parts[1:] = ["● excludes 0, p after Holm"]
    if any(row.change is not None and row.change.low is not None for row in rows):
        grouped = "groups of " if result.data.test_groups else ""
        # scores of one model each: the question is about these models, and only samples are left to chance
        tested = f"{grouped}test samples" if result.measure is None else "test texts"
        parts.append(f"brackets: {'seeds × ' if len(result.seeds) > 1 else ''}{tested}, paired")
    elif any(row.quality is not None and row.quality.low is not None for row in rows):
        parts.append("brackets: test texts; of these very models, one of each")
    if result.unit == "per sample" and len(rows) > 1:
        parts.append("per sample: the difference in cost, below 0 more is gained")
    if result.partly_called:
        parts.append("accuracy: of samples that are called a class, each row's own; others get an action")
    if any(extra.key == "kappa" for extra in result.extra):
        parts.append("κ²: quadratic-weighted kappa")
    parts += _signs(result)
    if tried and tried[-1] > 1:
        count = f"{tried[-1]} on validation, the same for all" if len(tried) == 1 else f"{tried[0]}–{tried[-1]}"
        parts.append(f"strength: best of {count}; {words.MISSING} has none to tune")
    if any(row.role == "rival" for row in rows):
        parts.append("rivals: classifiers that are no networks, with as many trials")
    for row in result.lines:
        if row.role == "constant":
            parts.append(f"{row.label}: {words.calls_text(row.options)}")
        elif row.options and row.role != "control":
            parts.append(f"{row.label}: {row.method} with {words.options_text(row.options)}")
    if result.measure is not None:
        parts.append(f"{result.measure.title}: {result.measure.signature}")
        parts += [f"texts: {result.measure.search}"] if result.measure.search else []
    return _packed(parts, width)


def _signs(result: Result) -> list[str]:
    """Return what the words of heads and the signs of strengths mean."""
    several, priced = len(result.rows) > 1, result.decision == "min_cost"
    used = {"argmax": priced, "min-cost": priced, honest_by(result): result.measure is None, "Holm": several}
    signs = {symbol: text.partition(",")[0] for symbol, text in strength_words(result.rows).items()}
    signs = {symbol: text for symbol, text in signs.items() if symbol != text}
    return [f"{word}: {text}" for word, text in {**{word: BRIEF[word] for word in used if used[word]}, **signs}.items()]


def _said(word: str, text: str, column: int, width: int) -> list[str]:
    lines = textwrap.wrap(text, width - column, break_on_hyphens=False, break_long_words=False)
    return [f"{word if not number else '':<{column}}{line}" for number, line in enumerate(lines)]


def _packed(parts: Sequence[str], width: int) -> list[str]:
    """Return parts in as few lines as they fit in; only one that is longer than a line is broken."""
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + 3 + len(part) <= width:
            lines[-1] += f"   {part}"
        else:
            lines += textwrap.wrap(part, width, break_on_hyphens=False, break_long_words=False)
    return lines


def _wrapped(text: str, width: int) -> str:
    return "\n".join(textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False))

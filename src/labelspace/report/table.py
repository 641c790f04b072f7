"""The table of a comparison as text for a terminal or a message, and as Markdown; from ``comparison.json`` alone."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from labelspace.report import words
from labelspace.spec.naming import plain

GAP = "  "
LONGEST = 24  # letters of a name that a title repeats
NARROWEST = 10  # the words before sentences stand in a column of at least this width


class Column(NamedTuple):
    """A column: the group it stands under, its own title, and a cell for every row."""

    group: str
    title: str
    cells: list[str]

    @property
    def width(self) -> int:
        """Characters that its widest cell or title takes."""
        return max(len(text) for text in (self.title, *self.cells))


def text_table(content: dict[str, Any], width: int = 100, places: Mapping[str, str] | None = None) -> str:
    """Return title, table, legend and verdict; columns that do not fit beside each other come below each other.

    Args:
        content: what ``comparison.json`` holds.
        width: characters in a line.
        places: further lines below the verdict, by the word they begin with.
    """
    labels = _labels(content["rows"])
    blocks = _blocks(_columns(content), max(len(label) for label in ("labels", *labels)), width)
    parts = [_wrapped(content["title"], width), *(_block(content["rows"], labels, block) for block in blocks)]
    legend = _legend(content, width)
    return "\n".join([*parts, *(["", *legend] if legend else []), "", verdict_text(content, width, places)])


def verdict_text(content: dict[str, Any], width: int = 100, places: Mapping[str, str] | None = None) -> str:
    """Return the verdict, the warnings and where to go on."""
    kind = content["verdict"]["kind"].upper()
    said = [(kind, " ".join(content["verdict"]["sentences"])), *(("Mind", text) for text in content["warnings"])]
    column = max(NARROWEST, len(kind) + 2)
    lines = [line for word, text in said for line in _said(word, text, column, width)]
    further = {**({"Next": content["next"]} if content.get("next") else {}), **(places or {})}
    return "\n".join([*lines, *(f"{word:<{column}}{text}" for word, text in further.items())])


def markdown_table(content: dict[str, Any]) -> str:
    """Return the table and the verdict as Markdown."""
    columns = _columns(content)
    heads = ["labels", *(f"{column.group} {column.title}".strip() for column in columns)]
    lines = [f"**{plain(content['title'])}**", "", _line(heads), f"| --- |{' ---: |' * len(columns)}"]
    for number, row in enumerate(content["rows"]):
        name = f"{row['label']} (control)" if row["role"] == "control" else row["label"]
        lines.append(_line([name, *(column.cells[number] for column in columns)]))
    verdict = content["verdict"]
    lines += ["", f"**{plain(verdict['kind'].upper())}** {plain(' '.join(verdict['sentences']))}"]
    lines += [f"\n> {plain(warning)}" for warning in content["warnings"]]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(plain(cell) for cell in cells) + " |"


def _columns(content: dict[str, Any]) -> list[Column]:
    rows, priced = content["rows"], content["decision"] == "min_cost"
    rules = [("argmax", "argmax"), ("min_cost", "min-cost")] if priced else [("argmax", "")]
    columns = [Column("", "strength", [_strength(row) for row in rows])]
    columns += [_numbers("cost per sample ↓", title, [row[rule]["cost"] for row in rows]) for rule, title in rules]
    reference = rows[0]["label"] if len(rows[0]["label"]) <= LONGEST else "the first"
    group = f"{'min-cost ' if priced else ''}vs {reference}"
    level = next((f"{100 * row['change']['level']:g} % interval" for row in rows if row["change"]), "interval")
    if len(rows) > 1:
        columns += [
            Column(group, "change", [_change(row) for row in rows]),
            Column(group, level, [_interval(row) for row in rows]),
        ]
    columns += [_numbers("accuracy ↑", title, [row[rule]["accuracy"] for row in rows], 3) for rule, title in rules]
    columns += [_numbers("ECE ↓", "after T", [row["ece_after"] for row in rows], 3)]
    headline = content["decision"]
    for extra in content["extra"]:
        columns.append(_numbers(extra["title"], "", [row[headline].get(extra["key"]) for row in rows], 3))
    return columns


def _numbers(group: str, title: str, values: Sequence[float | None], decimals: int | None = None) -> Column:
    shown = words.decimals_for(values) if decimals is None else decimals
    return Column(group, title, [words.fixed(value, shown) for value in values])


def _strength(row: dict[str, Any]) -> str:
    mark = "▸ " if row["winner"] else ""
    if row["strength"] is None:
        return mark + words.MISSING
    return f"{mark}{row['strength']['symbol']} {row['strength']['value']:g}"


def _change(row: dict[str, Any]) -> str:
    if row["change"] is None:
        return f"{words.MISSING}  "
    return words.percent(row["change"]["estimate"]) + (" ●" if row["marked"] else "  ")


def _interval(row: dict[str, Any]) -> str:
    return words.MISSING if row["change"] is None else words.interval(row["change"]["low"], row["change"]["high"])


def _labels(rows: Sequence[dict[str, Any]]) -> list[str]:
    return [f"  {row['control']}" if row["role"] == "control" and row["control"] else row["label"] for row in rows]


def _blocks(columns: Sequence[Column], label_width: int, width: int) -> list[list[Column]]:
    """Return columns that fit beside each other."""
    blocks: list[list[Column]] = [[]]
    for column in columns:
        if blocks[-1] and label_width + sum(len(GAP) + w for w in _widths([*blocks[-1], column])) > width:
            blocks.append([])
        blocks[-1].append(column)
    return blocks


def _widths(columns: Sequence[Column]) -> list[int]:
    """Return the widths of columns, the last of a group widened so that the group's title has room."""
    widths = [column.width for column in columns]
    for start, end in _groups(columns):
        room = sum(widths[start:end]) + len(GAP) * (end - start - 1)
        widths[end - 1] += max(0, len(columns[start].group) - room)
    return widths


def _groups(columns: Sequence[Column]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for number, column in enumerate(columns):
        if found and columns[found[-1][0]].group == column.group:
            found[-1] = (found[-1][0], number + 1)
        else:
            found.append((number, number + 1))
    return found


def _block(rows: Sequence[dict[str, Any]], labels: Sequence[str], columns: Sequence[Column]) -> str:
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
        if row["role"] == "control" and row["of"] not in told:
            told.add(row["of"])
            lines.append(f"controls for {row['of']}")
        lines.append(_aligned(labels[number], [column.cells[number] for column in columns], first, widths))
    return "\n".join(line.rstrip() for line in lines)


def _aligned(label: str, cells: Sequence[str], first: int, widths: Sequence[int]) -> str:
    return GAP.join([f"{label:<{first}}", *(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))])


def _legend(content: dict[str, Any], width: int) -> list[str]:
    tried = sorted({len(row["trials"]) for row in content["rows"] if row["strength"] is not None})
    parts = ["▸ chosen on validation", "● excludes 0 after Holm"] if len(content["rows"]) > 1 else []
    if any(row["change"] and row["change"]["low"] is not None for row in content["rows"]):
        grouped = "groups of " if content["data"].get("test_groups") else ""
        # scores of one model each: the question is about these models, and only samples are left to chance
        parts.append(f"brackets: {'seeds × ' if len(content['seeds']) > 1 else ''}{grouped}test samples, paired")
    if any(extra["key"] == "kappa" for extra in content["extra"]):
        parts.append("κ²: quadratic-weighted kappa")
    if tried and tried[-1] > 1:
        count = f"{tried[-1]} on validation, the same for all" if len(tried) == 1 else f"{tried[0]}–{tried[-1]}"
        parts.append(f"strength: best of {count}; {words.MISSING} has none to tune")
    for row in content["rows"]:
        if row.get("options") and row["role"] != "control":
            parts.append(f"{row['label']}: {row['method']} with {words.options_text(row['options'])}")
    return _packed(parts, width)


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

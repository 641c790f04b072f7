"""What was found in a dataset, as a table, as facts and problems, and as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labelspace.data.dataset import PARTS

# at most this many classes are printed whole; of more, the largest and the smallest
SHOWN = 20
ENDS = 5


@dataclass(frozen=True)
class DataReport:
    """What was found in a dataset.

    Args:
        title: the dataset in one line.
        names: class names.
        counts: samples per class, for each part.
        shape: the shape of one sample.
        dtype: of the stored samples.
        groups: the number of groups in each part, if there are any.
        missing: cells without a value, per column.
        repeated: rows that repeat an earlier row of the same part.
        leakage: what is in training and in another part too.
        problems: what should be repaired or decided before training.
        notes: what is worth knowing.
        source: where the data came from.
        options: of the reader, each as it would be written for these data, and what it does.
    """

    title: str
    names: tuple[str, ...]
    counts: Mapping[str, Sequence[int]]
    shape: tuple[int, ...]
    dtype: str
    groups: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)
    repeated: Mapping[str, int] = field(default_factory=dict)
    leakage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    source: Mapping[str, Any] = field(default_factory=dict)
    options: Sequence[tuple[str, str]] = ()

    @property
    def heading(self) -> str:
        """What the first column of ``rows`` is."""
        return "class"

    def rows(self) -> list[tuple[str, ...]]:
        """Return a line per class (class, train, validation, test); of many classes the largest and smallest."""
        lines = [(name, *(str(self.counts[part][i]) for part in PARTS)) for i, name in enumerate(self.names)]
        if len(lines) > SHOWN:
            order = sorted(range(len(lines)), key=lambda i: (-self.counts["train"][i], i))
            gap = (f"… {len(lines) - 2 * ENDS} more", "", "", "")
            lines = [lines[i] for i in order[:ENDS]] + [gap] + [lines[i] for i in order[-ENDS:]]
        return [*lines, ("all", *(str(sum(self.counts[part])) for part in PARTS))]

    def facts(self) -> list[tuple[str, str]]:
        """Return the other facts as (what, value)."""
        said = [("sample", f"{'×'.join(str(size) for size in self.shape)} {self.dtype}")]
        for what, values in (
            ("groups", self.groups),
            ("missing values", self.missing),
            ("repeated rows", self.repeated),
        ):
            listed = ", ".join(f"{name} {count}" for name, count in values.items() if count)
            said += [(what, listed or "none")] if listed or what != "groups" else []
        leaks = ", ".join(f"{part} {counts.get('rows', 0)} of {counts['of']}" for part, counts in self.leakage.items())
        return [*said, ("same content in two parts", leaks or "none")]

    def option_lines(self) -> list[str]:
        """Return a heading and a line per option of the reader; nothing if none are known."""
        width = max((len(written) for written, _ in self.options), default=0)
        lines = [f"  {written.ljust(width)}  {about}" for written, about in self.options]
        return ["options for these data, by example:", *lines] if lines else []

    def to_json(self) -> dict[str, object]:
        """Return the report as plain JSON data."""
        counts = {part: dict(zip(self.names, values, strict=True)) for part, values in self.counts.items()}
        return {
            "title": self.title,
            "classes": list(self.names),
            "counts": counts,
            "shape": list(self.shape),
            "dtype": self.dtype,
            "groups": dict(self.groups),
            "missing": dict(self.missing),
            "repeated": dict(self.repeated),
            "leakage": {part: dict(found) for part, found in self.leakage.items()},
            "problems": list(self.problems),
            "notes": list(self.notes),
            "source": dict(self.source),
            "options": [list(example) for example in self.options],
        }

    def __str__(self) -> str:
        """Return the report as plain text."""
        table = [(self.heading, *PARTS), *self.rows()]
        widths = [max(len(row[column]) for row in table) for column in range(4)]
        lines = [self.title, ""]
        for name, *numbers in table:
            cells = [number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)]
            lines.append("  ".join([name.ljust(widths[0]), *cells]).rstrip())
        lines += ["", *(f"{what}: {value}" for what, value in self.facts())]
        lines += [f"note: {note}" for note in self.notes]
        lines += [f"problem: {problem}" for problem in self.problems] or ["no problems found"]
        lines += ["", *self.option_lines()] if self.options else []
        return "\n".join(lines)

"""Looking at data before anyone trains: counts, shapes and problems."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from labelspace import _checks
from labelspace.data.dataset import PARTS, Dataset, repeated_rows
from labelspace.data.loading import loaded, options_of, reader_of
from labelspace.data.source import Source
from labelspace.data.splits import Say, leak_sentences

# at most this many classes are printed whole; of more, the largest and the smallest
SHOWN = 20
ENDS = 5
# a largest class this many times the smallest is worth a word
IMBALANCE = 10.0


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
    source: Source = field(default_factory=Source)

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
        }

    def __str__(self) -> str:
        """Return the report as plain text."""
        table = [("class", *PARTS), *self.rows()]
        widths = [max(len(row[column]) for row in table) for column in range(4)]
        lines = [self.title, ""]
        for name, *numbers in table:
            cells = [number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)]
            lines.append("  ".join([name.ljust(widths[0]), *cells]).rstrip())
        lines += ["", *(f"{what}: {value}" for what, value in self.facts())]
        lines += [f"note: {note}" for note in self.notes]
        lines += [f"problem: {problem}" for problem in self.problems] or ["no problems found"]
        return "\n".join(lines)


def check(name_or_path: object, *, data_dir: str | Path | None = None, say: Say = str, **options: object) -> DataReport:
    """Return what is found in a dataset, and what is wrong with it.

    Missing values and unreadable pictures, on which ``load`` stops, are listed as problems here. What cannot be
    read at all is an error, as it is there.

    Args:
        name_or_path: as for ``load``.
        data_dir: as for ``load``.
        say: how settings that would help are written in the problems.
        options: as for ``load``.

    Example:
        >>> report = check("digits")
        >>> report.problems, report.rows()[-1]
        ([], ('all', '800', '300', '697'))
    """
    read, _ = reader_of(name_or_path, data_dir)
    lenient: dict[str, object] = {"missing": "median", "skip_unreadable": True}
    asked = {name: value for name, value in lenient.items() if name in options_of(read) and name not in options}
    with warnings.catch_warnings():
        # leakage is listed among the problems instead
        warnings.simplefilter("ignore", UserWarning)
        dataset = loaded(name_or_path, {"data_dir": data_dir, **options, **asked})
    return _report(dataset, asked, say)


def _report(dataset: Dataset, asked: Collection[str], say: Say) -> DataReport:
    counts = {
        name: torch.bincount(part.y, minlength=len(dataset.names)).tolist() for name, part in dataset.parts.items()
    }
    groups = {name: len(torch.unique(part.groups)) for name, part in dataset.parts.items() if part.groups is not None}
    leaks = dataset.source.get("leakage", {})
    repeated = {name: repeated_rows(part) for name, part in dataset.parts.items()}
    return DataReport(
        title=f"{dataset.source['path']}: {dataset!r}",
        names=dataset.names,
        counts=counts,
        shape=dataset.input_shape,
        dtype=str(dataset.train.x.dtype).removeprefix("torch."),
        groups=groups,
        missing=dataset.source.get("missing", {}),
        repeated=repeated,
        leakage=leaks,
        problems=_problems(dataset, asked, say) + leak_sentences(dataset.source, say),
        notes=_notes(dataset, counts, repeated),
        source=dataset.source,
    )


def _problems(dataset: Dataset, asked: Collection[str], say: Say) -> list[str]:
    said = []
    empty = dataset.source.get("missing", {})
    if empty and "missing" in asked:
        listed = ", ".join(f"{count} in {name!r}" for name, count in empty.items())
        rules = " or ".join(say(_checks.Setting("missing", rule)) for rule in ("median", "drop"))
        said.append(f"Values are missing: {listed}. Training stops on them unless {rules} is given.")
    skipped = dataset.source.get("skipped")
    if skipped and "skip_unreadable" in asked:
        files = ", ".join(skipped["files"][:5]) + (" …" if skipped["count"] > 5 else "")
        needed = say(_checks.Setting("skip_unreadable", True))
        said.append(f"{skipped['count']} pictures cannot be read: {files}. Training stops unless {needed} is given.")
    return said


def _notes(dataset: Dataset, counts: Mapping[str, Sequence[int]], repeated: Mapping[str, int]) -> list[str]:
    said = []
    most, least = max(counts["train"]), min(counts["train"])
    if most >= IMBALANCE * least:
        names = [dataset.names[list(counts["train"]).index(count)] for count in (most, least)]
        said.append(
            f"The largest class has {most} training samples ({names[0]!r}), the smallest {least} ({names[1]!r})."
        )
    if not len(dataset.validation):
        said.append("There are no validation samples: nothing can be tuned, stopped early or calibrated.")
    for part in ("validation", "test") if len(dataset.validation) else ("test",):
        absent = [name for name, count in zip(dataset.names, counts[part], strict=True) if count == 0]
        if absent:
            said.append(f"{len(absent)} classes have no {part} samples ({', '.join(map(repr, absent[:5]))}).")
    if repeated["train"]:
        said.append(f"Training samples that repeat another one: {repeated['train']}.")
    if dataset.source.get("cache"):
        said.append(f"The array cache was {dataset.source['cache']}.")
    return said

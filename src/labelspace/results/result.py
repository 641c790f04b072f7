"""Everything a comparison found: written as ``comparison.json``, and read again."""

from pathlib import Path
from typing import Literal

from pydantic import ValidationError
from pydantic import model_validator as checked_by

from labelspace import _checks, _files
from labelspace.results.decided import Called
from labelspace.results.parts import (
    Best,
    Confusion,
    Data,
    Extra,
    Known,
    Listed,
    Options,
    Part,
    Prices,
    Rehearsed,
    Rule,
    Unit,
    Verdict,
)
from labelspace.results.row import Row
from labelspace.results.texts import Measure, Neighbourhood, Translation

NAME, FORMAT = "comparison.json", 1
# what a report is drawn from beside it
DRAWN_FROM = ("cost.safetensors", "space.safetensors", "geometry.safetensors")
EXPECTED = "the folder of a finished comparison"
PLAN = "plan.toml"
REMEDY = "The same compare command writes it again."


class Result(Part):
    """Everything a comparison found.

    Args:
        format: of the file.
        title: the data, the model, how much of it, and what mistakes cost.
        data: what was compared on.
        model: its name; None for scores that were made elsewhere.
        backbone: the frozen network whose features were learned from.
        epochs: of every run.
        training: how every model was trained, in words.
        rehearsal: what was tried for the reference to know how.
        label_noise: in training labels.
        seeds: which.
        cost: what mistakes cost.
        space: what is known about the classes.
        decision: the rule of the headline numbers.
        extra: further columns.
        rows: of the table, the reference first.
        constant: what the same decision for every sample costs; None where there is none.
        verdict: the answer.
        warnings: what a reader should know, the gravest first.
        costliest: the confusions that carry most of the cost.
        best: the model to take home.
        command: how it was asked for.
        versions: of what computed it.
        next: where to go on.
        measure: what texts are judged by; None where mistakes have costs.
        translations: texts of the test part on which the rows differ most.
        neighbours: which labels lie near each other in what was learned.
        decided: of classifiers, how often each class is called by the model to take home, and found.
    """

    format: Literal[1] = 1
    title: str
    data: Data
    model: str | None = None
    backbone: str | None = None
    epochs: int | None = None
    training: str | None = None
    rehearsal: Listed[Rehearsed] = ()
    label_noise: str | None = None
    seeds: Listed[int]
    cost: Prices
    space: Known | None = None
    decision: Rule
    extra: Listed[Extra]
    rows: Listed[Row]
    verdict: Verdict
    warnings: Listed[str]
    costliest: Listed[Confusion]
    best: Best | None = None
    command: str
    versions: dict[str, str] = {}
    next: str | None = None
    measure: Measure | None = None
    translations: Listed[Translation] = ()
    neighbours: Neighbourhood | None = None
    constant: Row | None = None
    decided: Listed[Called] = ()

    @checked_by(mode="after")
    def _whole(self) -> "Result":
        if not self.rows:
            raise ValueError("without 'rows'")
        if self.decision == "min_cost" and any(row.min_cost is None for row in self.rows):
            raise ValueError("with rows without 'min_cost'")
        if self.decision == "min_cost" and self.constant is not None and self.constant.min_cost is None:
            raise ValueError("with a constant without 'min_cost'")
        if self.measure is not None and any(row.quality is None for row in self.rows):
            raise ValueError("with rows without 'quality'")
        if any(len(each.rows) != len(self.rows) for each in self.translations):
            raise ValueError("with 'translations' of other rows")
        return self

    @property
    def reference(self) -> Row:
        """The row that the others are compared with."""
        return next((row for row in self.rows if row.role == "reference"), self.rows[0])

    @property
    def unit(self) -> Unit:
        """What the changes of all rows are measured in."""
        if self.measure is not None:
            return "points"
        return next((row.change.unit for row in self.rows if row.change is not None), self.verdict.unit)

    @property
    def partly_called(self) -> bool:
        """Whether actions stand beside classes, so that accuracy is that of the samples which are called a class."""
        rates = {each.name: max(each.argmax, each.min_cost or 0.0) for each in self.decided}
        classes = set(self.data.names)
        return not set(rates) <= classes and any(rates.get(name, 0.0) > 0 for name in classes)

    @property
    def lines(self) -> tuple[Row, ...]:
        """What the table shows: the rows, and below them what knows nothing."""
        return self.rows if self.constant is None else (*self.rows, self.constant)

    @property
    def elsewhere(self) -> str | None:
        """The row that the verdict is about, where another one is to be taken home; None where they are the same."""
        judged = next((row.label for row in self.rows if row.winner), None)
        return None if self.best is None or judged in (None, self.best.label) else judged

    def plain(self) -> Options:
        """Return it as JSON data: what was said when it was made, and nothing that is left to its default."""
        return {"format": self.format, **self.model_dump(mode="json", exclude_unset=True)}

    def write(self, folder: Path) -> None:
        """Write it, whole or not at all, with the digests of its plan and of what its report is drawn from."""
        paths = [folder / name for name in (*DRAWN_FROM, PLAN)]
        digests = {path.name: _files.digest(path.read_bytes()) for path in paths if path.is_file()}
        _files.write_json(folder / NAME, _files.sealed({**self.plain(), "files": digests}))


def fault(content: object) -> str | None:
    """Return what is wrong with the numbers of a comparison, in a few words, or None.

    Example:
        >>> fault({"title": "digits"})
        "without 'data'"
    """
    try:
        Result.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        said = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
        wrong = f"whose {place!r} is wrong ({said})" if place else said
        return f"without {place!r}" if first["type"] == "missing" else wrong
    return None


def read(owner: str, folder: Path, allow_damaged: bool = False) -> tuple[Result, dict[str, str]]:
    """Return a finished comparison, and the digests of its plan and of what its report is drawn from.

    Args:
        owner: who reads, for messages.
        folder: of the comparison.
        allow_damaged: read also what is not what was written, and warn.
    """
    path = folder / NAME
    facts = _facts(owner, path)
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        got = f"{facts.get('format') if isinstance(facts, dict) else None!r} in {path}"
        expected = f"a comparison of format {FORMAT}"
        raise _checks.fail(owner, "folder", expected, got, "Use the labelspace release that wrote it.")
    if not _files.holds(facts):
        _checks.damaged(owner, "folder", EXPECTED, path, "its content is not what was written", REMEDY, allow_damaged)
    digests = facts.get("files", {})
    named = isinstance(digests, dict) and set(digests) <= {*DRAWN_FROM, PLAN}
    named = named and all(isinstance(each, str) for each in digests.values())
    wrong = fault(facts) if named else "whose 'files' is wrong (names and digests)"
    if wrong is not None:
        raise _checks.fail(owner, "folder", EXPECTED, f"{path} {wrong}", REMEDY)
    return Result.model_validate(facts), digests


def _facts(owner: str, path: Path) -> object:
    if not path.is_file():
        said = ("The same compare command finishes it.", "It holds plain runs: write_runs_html shows those.")
        remedy = said[any(path.parent.glob("*/result.json"))]
        raise _checks.fail(owner, "folder", EXPECTED, f"{path.parent}, which has no {NAME}", remedy)
    try:
        return _files.read_json(path)
    except (ValueError, RecursionError) as error:
        raise _checks.fail(owner, "folder", EXPECTED, f"a damaged {path} ({error})", REMEDY) from error

"""What a comparison found, typed: made by ``compare``, written as ``comparison.json``, read, printed and drawn.

A fact that is added here is written and read from then on. Its default is what a file says that was written before.
"""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)

# isort: split
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError
from pydantic import model_validator as checked_by

from labelspace import _checks, _files
from labelspace.metrics import Interval

NAME, FORMAT = "comparison.json", 1
# what a report is drawn from beside it
DRAWN_FROM = ("cost.safetensors", "space.safetensors", "geometry.safetensors")
EXPECTED = "the folder of a finished comparison"
PLAN = "plan.toml"
REMEDY = "The same compare command writes it again."

Role = Literal["reference", "method", "control"]
Control = Literal["shuffled", "random"]
Rule = Literal["argmax", "min_cost"]
Kind = Literal["cheaper", "dearer", "no difference", "undecided"]
Cause = Literal["structure", "smoothing", "unclear"]
Options = dict[str, JsonValue]
T = TypeVar("T")


def _listed(value: object) -> object:
    if not isinstance(value, list | tuple):
        raise ValueError("a valid list")
    return tuple(value)


def _inside(name: str) -> str:
    """Refuse what is no name of a folder: a run must lie where its comparison does."""
    if name in ("", ".", "..") or "\0" in name or {PurePosixPath(name).name, PureWindowsPath(name).name} != {name}:
        raise ValueError("the name of a folder inside")
    return name


Listed = Annotated[tuple[T, ...], BeforeValidator(_listed)]
RunName = Annotated[str, AfterValidator(_inside)]


class Part(BaseModel):
    """A part of a result; what is not named in it is not read."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, protected_namespaces=())


class Strength(Part):
    """What was tuned: the keyword argument, its symbol, and the value that was chosen."""

    name: str
    symbol: str
    value: float


class Trial(Part):
    """One strength, tried on the tuning seed."""

    value: float | None = None
    validation_cost: float | None = None
    validation_accuracy: float | None = None
    temperature: float | None = None
    run: RunName | None = None


class Change(Part):
    """The relative change of the mean cost against the reference, as ``metrics.Interval`` says it."""

    estimate: float
    low: float | None
    high: float | None
    level: float
    seeds: int | None = None
    samples: int | None = None
    note: str | None = None
    p_value: float | None = None

    @classmethod
    def of(cls, interval: Interval) -> "Change":
        """Return an interval as it is written."""
        return cls(**{name: getattr(interval, name) for name in cls.model_fields})


class Numbers(Part):
    """Means over seeds under one decision rule; which others there are depends on the kind of classes."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float]

    cost: float
    accuracy: float

    @property
    def others(self) -> dict[str, float]:
        """The numbers beside cost and accuracy."""
        return dict(self.__pydantic_extra__)

    def of(self, key: str) -> float | None:
        """Return a number by its name; None where there is none."""
        return {"cost": self.cost, "accuracy": self.accuracy, **self.others}.get(key)


class Row(Part):
    """One line of the table: a method or a control at its chosen strength, or a model that was trained elsewhere.

    Args:
        label: how it is shown.
        method: its registry name; empty for scores that were made elsewhere.
        role: reference, method or control.
        of: whose control it is.
        control: shuffled or random.
        structured: whether it has a label space that says something about the classes.
        strength: what was tuned.
        trials: what was tried, on validation data.
        runs: names of its runs, one per seed.
        temperatures: one per seed.
        validation_cost: under the headline rule, mean over seeds.
        argmax: its numbers when the likeliest class is called.
        min_cost: its numbers when the class of least expected cost is called; None where mistakes cost the same.
        ece: calibration error of the model's own probabilities.
        ece_after: the same after temperature.
        nll_after: negative log-likelihood after temperature.
        risk_coverage: area under risk–coverage.
        change: relative change of the cost against the reference.
        p_value: of no change at all.
        p_holm: the same, corrected for the number of methods.
        marked: whether the change excludes zero after that correction.
        winner: the method of least validation cost.
        inverted: whether its probabilities had a known smoothing undone.
        options: what its method was given beside the strength.
    """

    label: str
    method: str = ""
    role: Role
    of: str | None
    control: Control | None
    structured: bool = False
    strength: Strength | None
    trials: Listed[Trial]
    runs: Listed[RunName] = ()
    temperatures: Listed[float] | None = None
    validation_cost: float | None = None
    argmax: Numbers
    min_cost: Numbers | None
    ece: float | None = None
    ece_after: float | None
    nll_after: float | None = None
    risk_coverage: float | None = None
    change: Change | None = None
    p_value: float | None = None
    p_holm: float | None = None
    marked: bool = False
    winner: bool = False
    inverted: bool = False
    options: Options = {}

    @property
    def headline(self) -> Numbers:
        """The numbers under the rule that the comparison is about."""
        return self.argmax if self.min_cost is None else self.min_cost

    def under(self, rule: str) -> Numbers | None:
        """Return the numbers under a decision rule."""
        return self.argmax if rule == "argmax" else self.min_cost

    @property
    def shown(self) -> str:
        """How a sentence begins that speaks of it."""
        if self.control == "shuffled":
            return "The control with shuffled classes"
        if self.control == "random":
            return "The control with random rows"
        return self.spoken[0].upper() + self.spoken[1:] if self.method else self.spoken

    @property
    def spoken(self) -> str:
        """How a sentence speaks of it: a method by its labels, a model that was trained elsewhere by its name."""
        return f"{self.label} labels" if self.method else self.label


class Verdict(Part):
    """The answer.

    Args:
        kind: cheaper, dearer, no difference (the interval is inside ± ``margin``) or undecided.
        subject: the method it speaks of, chosen on validation data.
        estimate: relative change of the mean cost against the free rival.
        low: lower end of its interval; None with one seed.
        high: upper end.
        margin: changes within ± this do not matter.
        cause: what did it: the structure of the label space, or smoothing as such; None where that is not the question.
        indicative: fewer seeds than ``enough_seeds``: six for intervals of 95 percent.
        sentences: the answer in words.
        level: of the interval.
    """

    kind: Kind
    subject: str
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    margin: float
    cause: Cause | None = None
    indicative: bool
    sentences: Annotated[Listed[str], Field(min_length=1)]
    level: float = 0.95

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)


class Data(Part):
    """What was compared on."""

    name: str
    kind: str = ""
    input_shape: Listed[int] = ()
    names: Listed[str]
    counts: dict[str, int] = {}
    key: str | None = None
    group_by: str | None = None
    test_groups: int | None = None


class Prices(Part):
    """What mistakes cost, in words; the prices themselves are in ``cost.safetensors``."""

    words: str
    example: str | None = None
    priced: bool = False


class Known(Part):
    """What is known about the classes, in words; the label space itself is in ``space.safetensors``."""

    words: str


class Extra(Part):
    """A number that belongs to this kind of classes, and the title of its column."""

    key: str
    title: str


class Confusion(Part):
    """A class that is called another, on test data: how often and at what cost, means over seeds."""

    true: str
    predicted: str
    count: float
    cost: float
    share: float


class Best(Part):
    """The model to take home."""

    label: str
    run: RunName | None = None
    rule: Rule | None = None


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
        label_noise: in training labels.
        seeds: which.
        cost: what mistakes cost.
        space: what is known about the classes.
        decision: the rule of the headline numbers.
        extra: further columns.
        rows: of the table, the reference first.
        verdict: the answer.
        warnings: what a reader should know, the gravest first.
        costliest: the confusions that carry most of the cost.
        best: the model to take home.
        command: how it was asked for.
        versions: of what computed it.
        next: where to go on.
    """

    format: Literal[1] = 1
    title: str
    data: Data
    model: str | None = None
    backbone: str | None = None
    epochs: int | None = None
    training: str | None = None
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

    @checked_by(mode="after")
    def _whole(self) -> "Result":
        if not self.rows:
            raise ValueError("without 'rows'")
        if self.decision == "min_cost" and any(row.min_cost is None for row in self.rows):
            raise ValueError("with rows without 'min_cost'")
        return self

    @property
    def reference(self) -> Row:
        """The row that the others are compared with."""
        return next((row for row in self.rows if row.role == "reference"), self.rows[0])

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

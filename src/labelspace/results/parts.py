"""The parts of a result, each with named, checked fields."""

import math
from dataclasses import fields
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from labelspace.metrics import Interval

Role = Literal["reference", "method", "control", "rival", "ensemble", "constant"]
Control = Literal["shuffled", "random"]
Rule = Literal["argmax", "min_cost"]
Kind = Literal["cheaper", "dearer", "better", "worse", "no difference", "undecided"]
Cause = Literal["structure", "smoothing", "unclear"]
Unit = Literal["relative", "per sample", "points"]  # shares of the reference's cost, costs, points of a measure
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


class Rehearsed(Part):
    """A way to train that was tried for the reference, and its validation NLL at its best temperature."""

    learning_rate: float
    weight_decay: float
    epochs: int
    nll: float


class Trial(Part):
    """One strength, tried with some seeds, none of which is judged: means over them, run and temperature of the first.

    Of sequences the quality of their texts stands for the cost.
    """

    value: float | None = None
    validation_cost: float | None = None
    validation_accuracy: float | None = None
    temperature: float | None = None
    calibration: Options | None = None
    run: RunName | None = None
    validation_quality: float | None = None
    seeds: int = 1

    @property
    def merit(self) -> float:
        """What strengths are chosen by: the largest is the best."""
        return merit(self.validation_cost, self.validation_quality)


def merit(cost: float | None, quality: float | None) -> float:
    """Return how good something is on validation data, of what costs and of what is measured alike.

    Args:
        cost: of classifiers.
        quality: of sequences, by the measure of their texts.

    Example:
        >>> merit(0.25, None), merit(None, 31.5), merit(None, None)
        (-0.25, 31.5, -inf)
    """
    if quality is not None:
        return quality
    return -math.inf if cost is None else -cost


class Change(Part):
    """The change against the reference, as ``metrics.Interval`` says it.

    It is the relative change of the mean cost, or in prices per sample where gains leave nothing to be a share of;
    where a comparison has a measure, the difference in its points.

    Args:
        unit: which of them.
        stake: of a change per sample, the mean absolute cost of the reference's decisions: margins are shares of it.
    """

    estimate: float
    low: float | None
    high: float | None
    level: float
    seeds: int | None = None
    samples: int | None = None
    note: str | None = None
    p_value: float | None = None
    unit: Unit = "relative"
    stake: float | None = None

    @classmethod
    def of(cls, interval: Interval, unit: Unit = "relative", stake: float | None = None) -> "Change":
        """Return an interval as it is written; a unit that is the usual one need not be."""
        known = {field.name: getattr(interval, field.name) for field in fields(Interval)}
        return cls(**known) if unit == "relative" else cls(**known, unit=unit, stake=stake)


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


class Likely(Part):
    """How likely the change lies below ``−margin``, within ``±margin``, above ``margin``: ``metrics.chances``."""

    below: float
    within: float
    above: float


class Shuffled(Part):
    """Where a label space stands among its shuffled forms, each trained with few seeds.

    Args:
        count: of the shuffled forms.
        seeds: of each of them.
        as_cheap: how many cost no more than the space itself.
        p_value: the exact one of that rank, ``(1 + as_cheap) / (1 + count)``.
        cost: per test sample, of the space itself, trained with as many seeds.
        mean: of the shuffled forms.
        least: of the cheapest of them.
        most: of the dearest.
    """

    count: int
    seeds: int
    as_cheap: int
    p_value: float
    cost: float
    mean: float
    least: float
    most: float


class Verdict(Part):
    """The answer.

    Args:
        kind: cheaper, dearer (of sequences better, worse), no difference (the interval is inside ± ``margin``) or
            undecided.
        subject: the method it speaks of, chosen on validation data.
        estimate: relative change of the mean cost against the free rival, or the difference in ``unit``.
        low: lower end of its interval; None with one seed.
        high: upper end.
        margin: changes within ± this do not matter; of a change per sample it is a share of ``stake``.
        cause: what did it: the structure of the label space, or smoothing as such; None where that is not the question.
        indicative: fewer seeds than ``enough_seeds``: six for intervals of 95 percent.
        advice: the sentence that a person would act on; empty where there is none.
        sentences: the answer in words.
        level: of the interval.
        chances: how likely the change is one that matters; None without an interval.
        shuffled: what the cause rests on where a structured label space won; None where that was not asked.
        unit: of estimate and interval: relative; per sample where prices are gains too and the reference's mean cost
            is not above 0 beyond doubt; points of a measure.
        stake: of a change per sample, the mean absolute cost of the reference's decisions.
    """

    kind: Kind
    subject: str
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    margin: float
    cause: Cause | None = None
    indicative: bool
    advice: str = ""
    sentences: Annotated[Listed[str], Field(min_length=1)]
    level: float = 0.95
    chances: Likely | None = None
    shuffled: Shuffled | None = None
    unit: Unit = "relative"
    stake: float | None = None

    @property
    def within(self) -> float:
        """The margin in the unit of the estimate."""
        return self.margin if self.stake is None else self.margin * self.stake

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def adding(self, sentence: str) -> "Verdict":
        """Return it with one more sentence, where there is something to say."""
        return self.model_copy(update={"sentences": (*self.sentences, sentence)}) if sentence else self

    def advising(self, advice: str) -> "Verdict":
        """Return it with the sentence that a person would act on."""
        return self.model_copy(update={"advice": advice})


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

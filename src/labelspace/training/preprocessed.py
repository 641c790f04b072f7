"""What ``preprocessing.json`` of a run holds: checked when it is read, so that a damaged file is one sentence."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NotRequired, TypedDict, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from labelspace import _checks
from labelspace._checks import DamagedError, InputError
from labelspace.data.source import ColumnFacts, Kind, LimitFacts, VocabularyFacts
from labelspace.data.vocabulary import Vocabulary
from labelspace.models.sentences import Longest
from labelspace.records import REMEDY

LARGEST = 2**28  # numbers of one sample
Size = Annotated[int, Field(ge=1, le=LARGEST)]
Number = Annotated[float, Field(allow_inf_nan=False)]


class InputFacts(TypedDict, total=False):
    """How raw samples become those of a dataset, as ``preprocessing.json`` holds it."""

    kind: Kind | None
    shape: list[int] | None
    resized: bool
    encoding: list[ColumnFacts] | None
    missing: str
    text: str | None


class Preprocessing(TypedDict):
    """What a record must hold to build a model again and to prepare its samples: ``preprocessing.json``."""

    kind: Kind
    names: list[str]
    input_shape: list[int]
    mean: list[float]
    std: list[float]
    train_samples: int
    tokens: int | None
    vocabulary: list[str] | None
    input: NotRequired[InputFacts]  # not in those of the first version
    vocabularies: NotRequired[dict[str, VocabularyFacts]]  # of ``source`` and ``target``, of sequences
    limits: NotRequired[dict[str, LimitFacts]]  # of both too; not in the first ones
    architecture: NotRequired[dict[str, object]]
    ranges: NotRequired[list[list[float]]]  # smallest and largest training values, of tables and features


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow", protected_namespaces=())


class _Column(_Part):
    name: str
    fill: Number | str
    categories: list[str] | None = None
    marked: bool = False

    @property
    def features(self) -> int:
        return (1 if self.categories is None else len(self.categories)) + self.marked

    @model_validator(mode="after")
    def _agrees(self) -> "_Column":
        if self.categories is None and isinstance(self.fill, str):
            raise ValueError(f"a number that fills gaps in {self.name!r}")
        if self.categories is not None and len(set(self.categories)) < len(self.categories):
            raise ValueError(f"different categories of {self.name!r}")
        return self


class _Input(_Part):
    kind: Kind | None = None
    shape: list[Size] | None = None
    resized: bool = False
    encoding: list[_Column] | None = None
    missing: str = "error"
    text: str | None = None


class _Limit(_Part):
    longest: Annotated[int, Field(ge=2)]
    cut: bool


class _Content(_Part):
    kind: Kind
    names: list[str]
    input_shape: list[Size]
    mean: list[Number]
    std: list[Annotated[float, Field(gt=0, allow_inf_nan=False)]]
    train_samples: Annotated[int, Field(ge=0)]
    tokens: int | None
    vocabulary: list[str] | None
    input: _Input = _Input()
    architecture: dict[str, object] | None = None
    vocabularies: dict[str, object] | None = None
    ranges: Annotated[list[list[Number]], Field(min_length=2, max_length=2)] | None = None
    limits: dict[str, _Limit] | None = None

    @model_validator(mode="after")
    def _agrees(self) -> "_Content":
        columns = 0 if self.kind in ("text", "sequences") else self.input_shape[0] if self.input_shape else 0
        if not len(self.mean) == len(self.std) == columns:
            raise ValueError(f"mean and std of {columns} numbers")
        if any(len(side) != columns for side in self.ranges or []):
            raise ValueError(f"ranges of {columns} numbers")
        if self.kind == "sequences":
            self._check_vocabularies()
        if self.tokens != (None if self.vocabulary is None else len(self.vocabulary)):
            raise ValueError("as many tokens as the vocabulary has")
        if max(math.prod(self.input_shape), math.prod(self.input.shape or [])) > LARGEST:
            raise ValueError(f"samples of at most {LARGEST} numbers")
        encoded = self.input.encoding
        if encoded and sum(column.features for column in encoded) != columns:
            raise ValueError(f"an encoding of {columns} features")
        return self

    def _check_vocabularies(self) -> None:
        sides = {side: Vocabulary.stored((self.vocabularies or {}).get(side)).tokens for side in ("source", "target")}
        if list(sides["source"]) != self.vocabulary or list(sides["target"]) != self.names:
            raise ValueError("vocabularies of the tokens that are named")
        if self.limits is not None and not self.limits.keys() >= sides.keys():
            raise ValueError("limits of both sides")


def within(limits: Mapping[str, LimitFacts], longest: Longest) -> dict[str, LimitFacts]:
    """Return how long texts may be: what the data were read with, and no more than a network has positions for.

    Args:
        limits: of both sides of the data.
        longest: of the network.

    Example:
        >>> within({"source": {"longest": 256, "cut": False}}, Longest(40, 40))
        {'source': {'longest': 40, 'cut': False}}
    """
    found: dict[str, LimitFacts] = {}
    for side, limit in limits.items():
        positions: int | None = getattr(longest, side)
        most = limit["longest"] if positions is None else min(limit["longest"], positions)
        found[side] = {"longest": most, "cut": limit["cut"]}
    return found


def checked(facts: Mapping[str, object], folder: Path) -> Preprocessing:
    """Return the facts as they are, after checking them.

    Args:
        facts: what the file held.
        folder: of the run, for the message.
    """
    try:
        _checks.class_names("Run.load", _Content.model_validate(facts).names)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        why = f"{f'at {place!r}: ' if place else ''}{first['msg'].removeprefix('Value error, ')}"
        raise _unsound(folder, why) from error
    except InputError as error:
        raise _unsound(folder, str(error)) from error
    return cast(Preprocessing, facts)


def _unsound(folder: Path, why: str) -> DamagedError:
    expected = "a run with a sound preprocessing.json"
    return DamagedError("Run.load", "folder", expected, folder / "preprocessing.json", why, REMEDY)

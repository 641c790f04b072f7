"""The plan of a comparison: every choice, made before training, so that a file of it repeats the comparison exactly."""

import itertools
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from labelspace import _checks, _files
from labelspace.decisions.choosing import Calibration
from labelspace.results import Options, Rehearsed
from labelspace.training.config import FILLED_IN, Config, make_config

TRIALS = 5
TUNING, FIRST = 3, 1000  # seeds that choices are made with, and the first of them
SHUFFLES, EACH = 19, 2  # shuffled forms of a winner's label space, and seeds of each: the fewest that can show a cause
FINALISTS = 2  # strengths that are tried with all of these, after the first
# of a configuration, what a comparison decides for each run by itself
OF_A_RUN = ("method", "method_options", "space", "teacher", "seed", *FILLED_IN)
TRAINING = tuple(name for name in Config.model_fields if name not in OF_A_RUN)
USUAL: dict[str, object] = {"batch_size": 64, "learning_rate": 3e-3, "schedule": "linear"}
NEEDED = ("data", "methods", "model", "epochs")


class Plan(BaseModel):
    """What is compared, on what, how it is trained and how it is judged.

    In its file all fields stand beside each other, those of ``config`` among them; see ``make_plan``.

    Example:
        >>> plan = make_plan(data="digits", methods=["onehot", "uniform"], model="linear", epochs=3, momentum=0.0)
        >>> plan.seeds, plan.config.momentum, plan.config.schedule
        (6, 0.0, 'linear')
    """

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    config: Config = Field(description="what all runs share; method, space and seed are each run's own")
    methods: tuple[str, ...] = Field(description="methods, or NAME=METHOD for another form of one")
    rivals: tuple[str, ...] = Field((), description="classifiers of scikit-learn beside them; auto for the usual ones")
    space: str | None = None
    cost: str | None = None
    actions: str | tuple[str, ...] | None = Field(None, description="tree: its nodes; or names of columns of prices")
    capacity: dict[str, float] | None = Field(None, description="the largest share of samples for some actions")
    seeds: int | tuple[int, ...] = Field(6, description="how many, or which; what is judged")
    tuning: int = Field(TUNING, ge=1, description="seeds that strengths and the winner are chosen with, none of seeds")
    shuffles: int = Field(SHUFFLES, ge=0, description="shuffled forms of a structured winner's space; 19 show a cause")
    strengths: dict[str, tuple[float, ...]] = Field(default_factory=dict, description="what is tried, per method")
    method_options: dict[str, Options] = Field(default_factory=dict, description="other options, per method")
    probabilities: Literal["as is", "inverted"] = "as is"
    calibration: Calibration = Field("auto", description="how scores become probabilities; auto chooses on validation")
    margin: float = Field(0.05, gt=0, description="relative changes (of sequences points) within ± this do not matter")
    level: float = Field(0.95, gt=0, lt=1)
    rehearse: bool | None = Field(
        None,
        description="choose rate, decay and epochs for the reference first; if not said, where a budget sets epochs",
    )
    rehearsal: tuple[Rehearsed, ...] = Field((), description="what was tried for that; the choice is in the plan")
    trained_as: str | None = Field(None, description="the comparison from which epochs and what else is chosen come")

    @field_validator("seeds", mode="before")
    @classmethod
    def _count_or_list(cls, value: object) -> object:
        listed = isinstance(value, list | tuple)
        given: list[object] = list(value) if isinstance(value, list | tuple) else [value]
        numbers = [number for number in given if isinstance(number, int) and not isinstance(number, bool)]
        if len(numbers) < len(given):
            raise ValueError("a number of seeds, or a list of them")
        if listed and (not numbers or len(set(numbers)) < len(numbers) or min(numbers) < 0):
            raise ValueError("different seeds, each 0 or more")
        if not listed and numbers[0] < 1:
            raise ValueError("greater than or equal to 1")
        return tuple(numbers) if listed else value

    @property
    def chosen_seeds(self) -> tuple[int, ...]:
        """The seeds themselves."""
        return tuple(range(self.seeds)) if isinstance(self.seeds, int) else self.seeds

    @property
    def trials(self) -> int:
        """How many strengths are tried of a row that has one: of all the same, where nothing else was asked for."""
        return max(map(len, self.strengths.values()), default=1)

    @property
    def tuning_seeds(self) -> tuple[int, ...]:
        """The seeds that choices are made with: none that is judged, and the same however many of those there are."""
        free = (seed for seed in itertools.count(FIRST) if seed not in self.chosen_seeds)
        return tuple(itertools.islice(free, self.tuning))

    def training(self) -> Options:
        """Return what all runs share, by the names of ``Config``."""
        return self.config.model_dump(mode="json", include=set(TRAINING))

    def plain(self) -> Options:
        """Return every choice as plain data."""
        own = self.model_dump(mode="json", exclude={"config"} if self.rehearsal else {"config", "rehearsal"})
        values = {**self.training(), **own}
        # a plan without any is what it was before there were some
        unsaid: dict[str, object] = {"rivals": [], "calibration": "auto"}
        return {name: value for name, value in values.items() if value is not None and unsaid.get(name) != value}

    def with_training(self, **values: object) -> "Plan":
        """Return the same plan, trained otherwise; values are taken as they are."""
        return self.model_copy(update={"config": self.config.model_copy(update=values)})

    def text(self) -> str:
        """Return it as TOML."""
        return "".join(f"{name} = {_toml(value)}\n" for name, value in self.plain().items())

    def save(self, path: Path) -> None:
        """Write it as TOML."""
        _files.write_bytes(path, self.text().encode())

    @classmethod
    def load(cls, path: str | Path) -> "Plan":
        """Read a plan; a wrong or unknown value gets one clear message."""
        if not Path(path).is_file():
            remedy = "A comparison leaves one in its folder."
            raise _checks.fail("compare", "plan", "a TOML file", f"{str(path)!r}, which is not there", remedy)
        try:
            return make_plan(**tomllib.loads(Path(path).read_text(encoding="utf-8")))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise _checks.fail("compare", "plan", "a TOML file", f"{path}: {error}") from error


OWN = tuple(name for name in Plan.model_fields if name != "config")


def make_plan(**values: object) -> Plan:
    """Build a plan; a wrong or unknown value gets one clear message.

    Args:
        values: the fields of ``Plan`` but ``config``, and beside them those of ``Config`` that all runs share.
    """
    for name in values:
        _checks.choice("compare", "option name", name, [*OWN, *TRAINING])
    for name in NEEDED:
        if name not in values:
            raise _checks.fail("compare", name, "given", "nothing")
    config = _config({name: value for name, value in values.items() if name in TRAINING})
    own = {name: value for name, value in values.items() if name in OWN}
    given = own.get("method_options")
    if isinstance(given, dict):
        own["method_options"] = {name: _options(name, each) for name, each in given.items()}
    try:
        return Plan.model_validate({"config": config, **own})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        expected = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
        raise _checks.fail("compare", place, expected[0].lower() + expected[1:], repr(first["input"])) from error


def _config(values: Mapping[str, object]) -> Config:
    try:
        return make_config(**{**USUAL, **values})
    except _checks.InputError as error:
        raise error.about(owner="compare") from error  # which was called, not train


def _options(name: str, given: object) -> dict[str, object]:
    """Return the options of a method as plain data, arrays as lists."""
    if not isinstance(given, dict):
        expected = "options by their names, for every method"
        raise _checks.fail_type(
            "compare", f"method_options.{name}", expected, repr(given), 'Such as {"lls": {"rank": 2}}.'
        )
    return _config({"method_options": given}).method_options


def _toml(value: object) -> str:
    """Return a plain value as TOML; JSON's finite numbers and lists are TOML already."""
    if isinstance(value, dict):
        parts = [f"{_key(name)} = {_toml(part)}" for name, part in value.items() if part is not None]
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(part) for part in value) + "]"
    if isinstance(value, str):
        return _quoted(value)
    return repr(value) if isinstance(value, float) else json.dumps(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _quoted(text: str) -> str:
    # the one character that JSON takes as it is and TOML does not
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

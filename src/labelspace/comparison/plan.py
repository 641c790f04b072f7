"""The plan of a comparison: every choice, made before training, so that a file of it repeats the comparison exactly."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from labelspace import _checks, _files
from labelspace.data import chosen

TRIALS = 5


class Plan(BaseModel):
    """What is compared, on what, how it is trained and how it is judged.

    Example:
        >>> Plan(data="digits", methods=("onehot", "uniform"), model="linear", epochs=3).seeds
        6
    """

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    data: str = Field(description="a dataset's name, or a folder or file")
    data_options: dict[str, Any] = Field(default_factory=dict)
    limit: int | str | None = None
    methods: tuple[str, ...]
    space: str | None = None
    cost: str | None = None
    model: str
    model_options: dict[str, Any] = Field(default_factory=dict)
    backbone: str | None = None
    epochs: int = Field(ge=1)
    batch_size: int = Field(64, ge=1)
    learning_rate: float = Field(3e-3, gt=0)
    optimiser: Literal["sgd", "adam", "adamw"] = "adam"
    schedule: Literal["constant", "linear"] = "linear"
    weight_decay: float = Field(0.0, ge=0)
    augment: tuple[str, ...] = ()
    seeds: int = Field(6, ge=1, description="0, 1, …; the first one is the tuning seed too")
    strengths: dict[str, tuple[float, ...]] = Field(default_factory=dict, description="what is tried, per method")
    probabilities: Literal["as is", "inverted"] = "as is"
    margin: float = Field(0.05, gt=0, le=1, description="relative changes within ± this do not matter")
    level: float = Field(0.95, gt=0, lt=1)

    @field_validator("limit", mode="before")
    @classmethod
    def _limit_is_a_number_or_a_share(cls, value: Any) -> int | str | None:
        return chosen.cap(value)

    def save(self, path: Path) -> None:
        """Write it as TOML."""
        values = {name: value for name, value in self.model_dump(mode="json").items() if value is not None}
        lines = [f"{name} = {_toml(value)}" for name, value in values.items()]
        _files.write_bytes(path, ("\n".join(lines) + "\n").encode())

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


def make_plan(**values: Any) -> Plan:
    """Build a plan; a wrong or unknown value gets one clear message."""
    for name in values:
        _checks.choice("compare", "option name", name, list(Plan.model_fields))
    try:
        return Plan(**values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        if first["type"] == "missing":
            raise _checks.fail("compare", place, "given", "nothing") from error
        expected = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
        raise _checks.fail("compare", place, expected[0].lower() + expected[1:], repr(first["input"])) from error


def _toml(value: Any) -> str:
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

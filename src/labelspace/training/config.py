"""What a run is: every choice that can change its numbers, checked, one key for all of them, and its random streams."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from labelspace import _checks
from labelspace.data import chosen

FILLED_IN = ("data_key", "space_key", "option_keys", "teacher_key", "code_key", "path", "world")  # not for users to set
DEVICES = re.compile(r"auto|cpu|mps|cuda(:\d+)?")
EARLIER = {"optimiser": "optimizer"}  # names of fields in records of earlier versions
FORMAT = 9  # of what a run computes: raised when the same configuration would give other numbers


class Config(BaseModel):
    """The configuration of one training run; two runs with equal keys and seeds are bit-identical on one machine.

    Example:
        >>> Config(data="digits", method="uniform").learning_rate
        0.001
    """

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    data: str = Field("digits", description="a dataset's name, or a folder or file")
    data_options: dict[str, object] = Field(default_factory=dict, description="options of the reader")
    data_key: str = Field("", description="digest of the data's content and split; filled in when it is read")
    limit: int | str | None = Field(None, description="cap on training samples: a number, or a share such as 50%")
    method: str = Field("onehot", description="registry name of the criterion")
    method_options: dict[str, object] = Field(default_factory=dict, description="options of the criterion")
    space: str | None = Field(None, description="label space: a word, an order, groups, a taxonomy or a label file")
    space_key: str = Field("", description="digest of the label space; filled in when it is built")
    option_keys: dict[str, str] = Field(
        default_factory=dict, description="digests of options that are label spaces; filled in when they are read"
    )
    model: str = Field("auto", description="a model's name, or auto")
    model_options: dict[str, object] = Field(default_factory=dict, description="options of the model")
    backbone: str | None = Field(None, description="frozen network whose features are trained on")
    teacher: str | None = Field(None, description="folder of a finished run whose model teaches (kd)")
    teacher_key: str = Field("", description="digest of the teacher's weights; filled in when it is read")
    code_key: str = Field("", description="digest of a method or model that is not ours; filled in when it is found")
    epochs: int = Field(20, ge=1)
    batch_size: int = Field(128, ge=1)
    optimizer: Literal["sgd", "adam", "adamw"] = "adam"
    learning_rate: float = Field(1e-3, gt=0)
    momentum: float = Field(0.9, ge=0, lt=1, description="of sgd")
    weight_decay: float = Field(0.0, ge=0)
    head_l2: float = Field(0.0, ge=0, description="λ of a penalty λ·Σw² on the weights of the last linear layer")
    schedule: Literal["constant", "linear", "step", "exponential"] = "constant"
    milestones: tuple[int, ...] = Field((), description="epochs at which the step schedule multiplies by gamma")
    gamma: float = Field(0.1, gt=0, description="factor of the rate: at each milestone, or (exponential) every epoch")
    warmup_epochs: int = Field(0, ge=0, description="epochs over which the rate rises linearly to its start")
    clip: float | None = Field(None, gt=0, description="largest norm of the gradient")
    augment: tuple[str, ...] = Field(
        (), description="crop, flip, rotate, resized-crop, cutout, randaugment, mixup, cutmix"
    )
    label_noise: str | None = Field(None, description="pairwise:RATE or symmetric:RATE, training labels only")
    precision: Literal["float32", "float64", "bfloat16", "float16"] = Field(
        "float32", description="bfloat16 and float16 (cuda only) are autocast"
    )
    channels_last: bool = False
    patience: int | None = Field(None, ge=1, description="stop after so many epochs without a better one, see best_by")
    best_by: Literal["last", "nll", "calibrated", "error"] = Field(
        "last",
        description="epoch that is kept: the last, or the first of least validation nll, of least nll at its best"
        " temperature (calibrated), or of least error",
    )
    record: tuple[Literal["test-curve"], ...] = Field(
        (), description="test-curve: test accuracy, nll and seconds of every epoch; no choice looks at them"
    )
    beam: int = Field(10, ge=1, description="width of the search for translations, of sequences")
    seed: int = Field(0, ge=0)
    threads: int = Field(1, ge=1, description="of torch; part of the key, as sums depend on it")
    device: str = Field("cpu", description="auto, cpu, cuda, cuda:1 or mps; part of the key, as sums depend on it")
    path: Literal["loop", "vectorised"] = Field("loop", description="how it was computed; part of the key")
    world: int = Field(1, ge=1, description="ranks of a distributed run; part of the key")

    @field_validator("limit", mode="before")
    @classmethod
    def _limit_is_a_number_or_a_share(cls, value: object) -> int | str | None:
        return chosen.cap(value)

    @field_validator("device")
    @classmethod
    def _device_has_a_name(cls, value: str) -> str:
        if DEVICES.fullmatch(value) is None:
            raise ValueError("auto, cpu, cuda, cuda:1 or mps")
        return value

    @model_validator(mode="before")
    @classmethod
    def _filled_in(cls, values: object) -> object:
        if not isinstance(values, dict):
            return values
        if values.get("best_by") is None:
            values = {**values, "best_by": "last" if values.get("patience") is None else "nll"}
        return {**values, "record": [values["record"]]} if isinstance(values.get("record"), str) else values

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if self.schedule == "step" and not self.milestones:
            raise _wrong("milestones", "given for schedule='step': the epochs at which the rate falls")
        if self.schedule == "exponential" and "gamma" not in self.model_fields_set:
            # the default is a step's; taken every epoch it would end training after three
            raise _wrong("gamma", "given for schedule='exponential': the rate's factor of an epoch, such as 0.95")
        if self.patience is not None and self.best_by == "last":
            raise _wrong("best_by", "'nll', 'calibrated' or 'error' with patience: it waits for a better epoch")
        return self

    def key(self) -> str:
        """Return a digest of everything but the seed and where data, space and teacher lie: contents have digests."""
        places = {"data", "teacher"} if self.data_key else set()
        places |= {"space"} if self.space_key else set()
        # most runs have neither: their keys stay what they were
        places |= {name for name in ("option_keys", "code_key") if not getattr(self, name)}
        # as keys were before there were others
        places |= {"device"} if self.device == "cpu" else set()
        places |= {"beam"} if self.beam == 10 else set()
        content = self.model_dump(mode="json", exclude={"seed", *places})
        content["optimiser"] = content.pop("optimizer")  # its name when keys were first made: they stay what they were
        content["data_options"] = {k: v for k, v in content["data_options"].items() if k != "data_dir"}
        content["method_options"] = {k: v for k, v in content["method_options"].items() if k not in self.option_keys}
        text = json.dumps({"format": FORMAT, "torch": torch.__version__, **content}, sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def parts(self) -> dict[str, str]:
        """Return the names of the method and of the model, by the group of entry points that others may come from."""
        return {"labelspace.methods": self.method, "labelspace.models": self.model}

    def run_name(self) -> str:
        """Return the name of the run's folder."""
        return f"{self.method}-{self.key()}-seed{self.seed}"


def make_config(**values: object) -> Config:
    """Build a configuration; a wrong or unknown value gets one clear message."""
    known = list(Config.model_fields)
    for name in values:
        _checks.choice("train", "option name", name, known)
    try:
        return Config.model_validate({name: _plain(name, value) for name, value in values.items()})
    except ValidationError as error:
        first = error.errors()[0]
        place = str(first["loc"][0]) if first["loc"] else first["type"] if first["type"] in known else "options"
        got = repr(first["input"]) if first["loc"] else repr(values[place]) if place in values else "nothing"
        raise _checks.fail("train", place, _lowered(first["msg"]), got) from error


def recorded_config(values: Mapping[str, object]) -> Config:
    """Return the configuration that a record holds, also one of an earlier version.

    Example:
        >>> recorded_config({"optimiser": "sgd"}).optimizer
        'sgd'
    """
    return make_config(**{EARLIER.get(name, name): value for name, value in values.items()})


def _wrong(field: str, expected: str) -> PydanticCustomError:
    """Return the error of a field that does not go with others; ``make_config`` reads the field from its type."""
    return PydanticCustomError(field, expected)


def _plain(name: str, value: object) -> object:
    """Return a value as plain data: numbers of numpy and torch, and paths, are written as people write them."""
    if isinstance(value, dict):
        return {key: _plain(f"{name}.{key}", part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(name, part) for part in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Path | torch.device):
        return str(value)
    if value is None or isinstance(value, str | int | float | bool):
        return value
    remedy = "Save it and give the path of its file." if hasattr(value, "save") else ""
    expected = "plain data: numbers, text, lists or dicts"
    raise _checks.fail_type("train", name, expected, type(value).__name__, remedy)


def _lowered(message: str) -> str:
    text = message.removeprefix("Input should be ").removeprefix("Value error, ")
    return text[0].lower() + text[1:]


STREAMS = ("initialisation", "labels", "order", "augmentation", "noise", "model")


def stream_seed(seed: int, stream: str, *numbers: int) -> int:
    """Return the seed of a stream at a place in it.

    Example:
        >>> stream_seed(0, "order", 3) == stream_seed(0, "order", 3) != stream_seed(0, "order", 4)
        True
    """
    assert stream in STREAMS
    text = "/".join([str(seed), stream, *map(str, numbers)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


def generator(seed: int, stream: str, *numbers: int) -> torch.Generator:
    """Return a generator at a place of a stream."""
    return torch.Generator().manual_seed(stream_seed(seed, stream, *numbers))

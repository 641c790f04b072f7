"""Checkpoints that survive a kill at any moment: a digest in front, the previous one kept, written beside and moved.

What one holds is looked at before any of it is used: it must belong to the run that is to go on with it.
"""

import errno
import hashlib
import io
import math
import os
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any, TypedDict, cast

import torch
from torch import Tensor

from labelspace import _files

DIGEST = 32
CURRENT, PREVIOUS = "checkpoint.pt", "checkpoint-previous.pt"


class CheckpointError(OSError):
    """A checkpoint that could not be written; the one before it is still there."""


@dataclass
class Progress:
    """Where a run is: everything besides weights that a checkpoint must hold; a field that is added here is kept."""

    epoch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    history: list[dict[str, float]] = field(default_factory=list)
    best_value: float = math.inf
    best_epoch: int = -1
    best: dict[str, Tensor] | None = None
    seconds: float = 0.0  # of this epoch's steps so far, also those before a resume
    times: list[dict[str, float]] = field(default_factory=list)


class State(TypedDict):
    """What a checkpoint holds, by the names in the file."""

    learner: dict[str, Tensor]
    optimizer: dict[str, object]
    scaler: dict[str, object]
    progress: dict[str, Any]  # the fields of ``Progress``: ``check_state`` looks at each


def save(folder: Path, state: State) -> None:
    """Write the state; what was the current checkpoint becomes the previous one."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    content = buffer.getvalue()
    new = folder / "checkpoint-new.pt"
    try:
        _files.write_bytes(new, hashlib.blake2b(content, digest_size=DIGEST).digest() + content)
        if (folder / CURRENT).exists():
            os.replace(folder / CURRENT, folder / PREVIOUS)
        os.replace(new, folder / CURRENT)
    except OSError as error:
        what = "The disk is full" if error.errno == errno.ENOSPC else f"Writing failed ({error.strerror})"
        remedy = "Make room and run the same command again: it goes on from the last checkpoint."
        raise CheckpointError(error.errno, f"{what} at {folder}. Nothing is lost. {remedy}") from error


def load(folder: Path, check: Callable[[object], None] = lambda state: None) -> State | None:
    """Return the newest sound state, or None; what cannot be used is passed over, with a warning that says so.

    Args:
        folder: of the run.
        check: raises ``ValueError`` for a state of something else.
    """
    # between the two moves of a save the newest state is under its new name
    for name in ("checkpoint-new.pt", CURRENT, PREVIOUS):
        path = folder / name
        if not path.is_file():
            continue
        try:
            state = _read(path)
            check(state)
        except (OSError, ValueError) as error:
            warnings.warn(f"{path} is damaged; going on from the one before it ({error}).", stacklevel=2)
            continue
        return cast(State, state)
    return None


def _read(path: Path) -> dict[str, object]:
    content = _files.read_bytes(path)
    digest, payload = content[:DIGEST], content[DIGEST:]
    if hashlib.blake2b(payload, digest_size=DIGEST).digest() != digest:
        raise ValueError("its digest is another")
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as archive:
            # torch packs nothing, so that a small file cannot become a large one
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                raise ValueError("it is packed")
        state = torch.load(io.BytesIO(payload), map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises all sorts for what it did not write
        raise ValueError(f"not what was written: {type(error).__name__}") from error
    if not isinstance(state, dict):
        raise ValueError(f"it holds {type(state).__name__}")
    return {
        "optimizer" if part == "optimiser" else part: content for part, content in state.items()
    }  # as it was called


USUAL = Progress()
NUMBERS = {name: type(value) for name, value in vars(USUAL).items() if isinstance(value, int | float)}
LISTS = tuple(name for name, value in vars(USUAL).items() if isinstance(value, list))


class Unfit(ValueError):
    """A checkpoint that is whole, but of something else."""


def check_state(
    state: object, weights: Mapping[str, Tensor], optimizer: torch.optim.Optimizer, epochs: int, steps: int
) -> None:
    """Refuse a state that cannot be that of this run.

    Args:
        state: what the file held.
        weights: of the run's learner, before it is restored.
        optimizer: its optimizer, before it is restored.
        epochs: of the run.
        steps: of an epoch.
    """
    parts = _dict(state, "it does not hold what a checkpoint does")
    _expect(set(parts) == set(State.__annotations__), "it does not hold what a checkpoint does")
    scaler = _dict(parts["scaler"], "its scaler is another")
    _expect(all(isinstance(value, Real) for value in scaler.values()), "its scaler is another")
    _check_weights(parts["learner"], weights)
    _check_optimizer(parts["optimizer"], optimizer)
    _check_progress(_dict(parts["progress"], "its progress has other facts"), weights, epochs, steps)


def _check_weights(state: object, weights: Mapping[str, Tensor]) -> None:
    tensors = _dict(state, "its weights have other names")
    _expect(set(tensors) == set(weights), "its weights have other names")
    for name, mine in weights.items():
        _expect(_is_alike(tensors[name], mine), f"{name!r} in it is not like that of this run")


def _is_alike(tensor: object, mine: Tensor) -> bool:
    if not isinstance(tensor, Tensor) or tensor.layout != torch.strided or tensor.is_meta:
        return False
    return tensor.shape == mine.shape and tensor.is_floating_point() == mine.is_floating_point()


def _check_optimizer(state: object, optimizer: torch.optim.Optimizer) -> None:
    mine, parts = optimizer.state_dict(), _dict(state, "its optimizer is another")
    _expect(set(parts) == set(mine), "its optimizer is another")
    _expect(_options(parts["param_groups"]) == _options(mine["param_groups"]), "its optimizer has other options")
    # torch numbers parameters in the order of their groups
    parameters = dict(enumerate(parameter for group in optimizer.param_groups for parameter in group["params"]))
    memories = _dict(parts["state"], "its optimizer has other parameters")
    _expect(set(memories) <= set(parameters), "its optimizer has other parameters")
    for number, parameter in parameters.items():
        if number in memories:
            memory = _dict(memories[number], "what its optimizer remembers does not fit")
            fits = _is_memory(memory, parameter, isinstance(optimizer, torch.optim.SGD))
            _expect(fits, "what its optimizer remembers does not fit")


def _is_memory(memory: dict[object, object], parameter: Tensor, plain: bool) -> bool:
    """Return whether SGD (plain) or Adam can go on with what they remember of a parameter."""
    if plain:
        return set(memory) <= {"momentum_buffer"} and all(v is None or _is_alike(v, parameter) for v in memory.values())
    if set(memory) != {"step", "exp_avg", "exp_avg_sq"}:
        return False
    step = memory["step"]
    counted = isinstance(step, Tensor) and _is_alike(step, torch.zeros(())) and bool(step >= 1)
    return counted and all(_is_alike(memory[name], parameter) for name in ("exp_avg", "exp_avg_sq"))


def _options(groups: object) -> list[list[tuple[str, str]]] | None:
    """Return what must be the same in both; rates follow from the epoch."""
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        return None
    # texts, so that lists of an old release are the tuples of this one, and tensors are no riddles
    return [sorted((str(name), repr(value)) for name, value in group.items() if name != "lr") for group in groups]


def _check_progress(facts: dict[object, object], weights: Mapping[str, Tensor], epochs: int, steps: int) -> None:
    _expect(set(facts) <= {*NUMBERS, *LISTS, "best"}, "its progress has other facts")
    for name, kind in NUMBERS.items():
        value = facts.get(name, kind())
        fits = type(value) is int if kind is int else isinstance(value, Real) and not isinstance(value, bool)
        _expect(fits, f"its {name} is {value!r:.60}")
    place = ("epoch", "step", "best_epoch")
    epoch, step, best = (cast(int, facts.get(name, getattr(USUAL, name))) for name in place)
    _expect(0 <= epoch <= epochs and 0 <= step <= steps and -1 <= best < max(epoch, 1), "its place is not in this run")
    lines = {name: facts.get(name, []) for name in LISTS}
    for name, given in lines.items():
        sound = isinstance(given, list) and all(_is_line(line) for line in given)
        _expect(sound, f"its {name} is no list of numbers")
    history = cast(list[dict[str, float]], lines["history"])
    _expect([line.get("epoch") for line in history] == list(range(epoch)), "its history has gaps")
    if facts.get("best") is not None:
        _check_weights(facts["best"], weights)


def _is_line(line: object) -> bool:
    return isinstance(line, dict) and all(
        isinstance(name, str) and isinstance(value, Real) and not isinstance(value, bool)
        for name, value in line.items()
    )


def _dict(value: object, otherwise: str) -> dict[object, object]:
    if not isinstance(value, dict):
        raise Unfit(otherwise)
    return value


def _expect(truth: bool, otherwise: str) -> None:
    if not truth:
        raise Unfit(otherwise)

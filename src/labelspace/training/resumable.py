"""Whether what a checkpoint holds belongs to the run that is to go on with it; all is looked at before any is used."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import torch
from torch import Tensor

PARTS = {"learner", "optimizer", "scaler", "progress"}
NUMBERS = {"epoch": int, "step": int, "loss_sum": float, "best_value": float, "best_epoch": int, "seconds": float}
LISTS = ("history", "times")


class Unfit(ValueError):
    """A checkpoint that is whole, but of something else."""


def check(state: Any, weights: Mapping[str, Tensor], optimizer: torch.optim.Optimizer, epochs: int, steps: int) -> None:
    """Refuse a state that cannot be that of this run.

    Args:
        state: what the file held.
        weights: of the run's learner, before it is restored.
        optimizer: its optimizer, before it is restored.
        epochs: of the run.
        steps: of an epoch.
    """
    _expect(isinstance(state, dict) and set(state) == PARTS, "it does not hold what a checkpoint does")
    scaler = state["scaler"]
    _expect(isinstance(scaler, dict) and all(isinstance(v, Real) for v in scaler.values()), "its scaler is another")
    _check_weights(state["learner"], weights)
    _check_optimizer(state["optimizer"], optimizer)
    _check_progress(state["progress"], weights, epochs, steps)


def _check_weights(found: Any, weights: Mapping[str, Tensor]) -> None:
    _expect(isinstance(found, dict) and set(found) == set(weights), "its weights have other names")
    for name, mine in weights.items():
        _expect(_is_alike(found[name], mine), f"{name!r} in it is not like that of this run")


def _is_alike(found: Any, mine: Tensor) -> bool:
    if not isinstance(found, Tensor) or found.layout != torch.strided or found.is_meta:
        return False
    return found.shape == mine.shape and found.is_floating_point() == mine.is_floating_point()


def _check_optimizer(found: Any, optimizer: torch.optim.Optimizer) -> None:
    mine = optimizer.state_dict()
    _expect(isinstance(found, dict) and set(found) == set(mine), "its optimizer is another")
    _expect(_options(found["param_groups"]) == _options(mine["param_groups"]), "its optimizer has other options")
    # torch numbers parameters in the order of their groups
    parameters = dict(enumerate(parameter for group in optimizer.param_groups for parameter in group["params"]))
    memories = found["state"]
    _expect(isinstance(memories, dict) and set(memories) <= set(parameters), "its optimizer has other parameters")
    for number, memory in memories.items():
        fits = isinstance(memory, dict) and _is_memory(
            memory, parameters[number], isinstance(optimizer, torch.optim.SGD)
        )
        _expect(fits, "what its optimizer remembers does not fit")


def _is_memory(memory: dict[Any, Any], parameter: Tensor, plain: bool) -> bool:
    """Return whether SGD (plain) or Adam can go on with what they remember of a parameter."""
    if plain:
        return set(memory) <= {"momentum_buffer"} and all(v is None or _is_alike(v, parameter) for v in memory.values())
    if set(memory) != {"step", "exp_avg", "exp_avg_sq"}:
        return False
    step = memory["step"]
    counted = _is_alike(step, torch.zeros(())) and bool(step >= 1)
    return counted and all(_is_alike(memory[name], parameter) for name in ("exp_avg", "exp_avg_sq"))


def _options(groups: Any) -> Any:
    """Return what must be the same in both; rates follow from the epoch."""
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        return None
    # texts, so that lists of an old release are the tuples of this one, and tensors are no riddles
    return [sorted((str(name), repr(value)) for name, value in group.items() if name != "lr") for group in groups]


def _check_progress(found: Any, weights: Mapping[str, Tensor], epochs: int, steps: int) -> None:
    known = {*NUMBERS, *LISTS, "best"}
    _expect(isinstance(found, dict) and set(found) <= known, "its progress has other facts")
    for name, kind in NUMBERS.items():
        value = found.get(name, kind())
        fits = type(value) is int if kind is int else isinstance(value, Real) and not isinstance(value, bool)
        _expect(fits, f"its {name} is {value!r:.60}")
    epoch, step, best = found.get("epoch", 0), found.get("step", 0), found.get("best_epoch", -1)
    _expect(0 <= epoch <= epochs and 0 <= step <= steps and -1 <= best < max(epoch, 1), "its place is not in this run")
    for name in LISTS:
        lines = found.get(name, [])
        _expect(isinstance(lines, list) and all(_is_line(line) for line in lines), f"its {name} is no list of numbers")
    _expect([line.get("epoch") for line in found.get("history", [])] == list(range(epoch)), "its history has gaps")
    if found.get("best") is not None:
        _check_weights(found["best"], weights)


def _is_line(line: Any) -> bool:
    return isinstance(line, dict) and all(
        isinstance(name, str) and isinstance(value, Real) and not isinstance(value, bool)
        for name, value in line.items()
    )


def _expect(truth: bool, otherwise: str) -> None:
    if not truth:
        raise Unfit(otherwise)

"""Random calls of every criterion beside its numpy reference, and calls that none may accept."""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from contract.harness import Inputs, as_case
from hostile.mutations import Chance
from hostile.outcomes import Case, chance
from labelspace import LabelSpace, ordinal
from labelspace.criteria import Criterion, criterion_class, methods

POINTS = ("lwal", "static")  # the output is a point, not logits
WHOLE = ("labelemb", "lwal", "mixed", "disturb")  # their loss is not one of single samples
HALF = (torch.float16, torch.bfloat16)
IGNORED = (-100, -1, 0, 2, 255, 2**62, -(2**63))
SIZES = (0.0, 1e-6, 1.0, 1.0, 1.0, 30.0, 1e4)


@dataclass(frozen=True)
class Call:
    """A criterion and flat rows for it, with the layout that they are given in."""

    criterion: Criterion
    output: Tensor  # (n, D)
    y: Tensor  # (n,) or (n, K)
    extras: dict[str, Tensor]  # (n, …)
    shape: tuple[int, ...]  # of the samples
    soft: np.ndarray  # (n, K): what y means, zeros where it is ignored, sums that are what a sample counts
    factors: Tensor | None = None  # (n,): what samples weigh

    def arguments(self) -> dict[str, Any]:
        """Return them as the criterion wants them."""
        laid = {name: self._laid(value) for name, value in self.extras.items()}
        y = self._laid(self.y) if self.y.is_floating_point() else self.y.reshape(self.shape)
        if self.factors is not None:
            laid["sample_weight"] = self.factors.reshape(self.shape)
        return {"output": self._laid(self.output), "y": y, **laid}

    def _laid(self, rows: Tensor) -> Tensor:
        if not rows.is_floating_point():
            return rows.reshape(self.shape)
        dim = self.criterion.class_dim
        if rows.ndim > 2:  # positions of a feature map stay behind
            return rows.movedim(1, dim % 2)
        return rows.reshape(*self.shape, rows.shape[1]).movedim(-1, dim)


def tries(seed: int, count: int, first: int = 0) -> Iterator[Case]:
    """Yield calls: four of five are sound, and must give the loss of the equations."""
    # ours alone: other tests of this process may have made further ones known
    names = [name for name in methods() if criterion_class(name).__module__.startswith("labelspace.")]
    for number in range(first, first + count):
        draw = chance(seed, number)
        method = names[number % len(names)]
        yield _sound(draw, method) if draw.integers(5) else _hostile(draw, method)


def _sound(draw: Chance, method: str) -> Case:
    call = _call(draw, method)

    def run() -> Any:
        wanted = _expected(call)
        try:
            return wanted, call.criterion(**call.arguments())
        except (ValueError, TypeError) as error:
            return wanted, error  # nothing is wrong with it: a refusal is not right

    criterion = call.criterion
    about = f"{method} {tuple(call.output.shape)} {call.output.dtype} of {call.shape}, class_dim {criterion.class_dim}"
    title = (
        f"{about}, y {call.y.dtype}, ignore_index {criterion.ignore_index}, {criterion.reduction}, {criterion.preset}"
    )
    return Case(title, run, lambda found: _agree(call, *found))


def _agree(call: Call, wanted: np.ndarray, found: Any) -> bool:
    if not isinstance(found, Tensor) or tuple(found.shape) != np.shape(wanted):
        return False
    got = found.detach().double().numpy()
    if not np.array_equal(np.isfinite(got), np.isfinite(wanted)):
        return False
    rough = 1e-9 if call.output.dtype == torch.float64 else 1e-5
    largest = float(call.output.detach().double().abs().nan_to_num(0, 0, 0).max()) if call.output.numel() else 0.0
    scale = 1 + max(largest, float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0)))
    return bool(np.allclose(got, wanted, rtol=100 * rough, atol=20 * rough * scale, equal_nan=True))


def _expected(call: Call) -> np.ndarray:
    """Return the loss by the reference: the mean as it is, sums and single losses from single samples."""
    reference = importlib.import_module(f"reference.{call.criterion.name}")
    valid = torch.from_numpy(call.soft.sum(axis=1) > 0)
    if call.factors is not None:
        valid = valid & (call.factors > 0)
    extras = {
        name: torch.where(valid.reshape(-1, *[1] * (value.ndim - 1)), value.double(), 0)
        if value.is_floating_point()
        else torch.where(valid, value, 0)
        for name, value in call.extras.items()
    }
    inputs = Inputs(call.criterion, call.output.double(), torch.from_numpy(call.soft), extras, call.factors)
    case = as_case(inputs)
    with np.errstate(all="ignore"):
        if call.criterion.reduction == "mean":
            return np.float64(reference.loss(case, case))
        values = np.zeros(len(call.soft))
        for row in np.flatnonzero(case.weight > 0):
            one = as_case(inputs.rows(slice(int(row), int(row) + 1)))
            values[row] = case.weight[row] * reference.loss(one, one)
    return values.reshape(call.shape) if call.criterion.reduction == "none" else np.float64(values.sum())


# ---------------------------------------------------------------------- what is drawn


def _call(draw: Chance, method: str) -> Call:
    criterion = _criterion(draw, method)
    width = criterion.output_dim
    shape = _shape(draw, criterion, method)
    n = int(np.prod(shape))
    dtype = [torch.float32, torch.float32, torch.float64, *HALF][int(draw.integers(5))]
    # wide precision for a wide criterion: what it holds is part of the equations
    criterion = criterion.double() if dtype == torch.float64 else criterion
    output = torch.from_numpy(draw.normal(size=(n, width)) * draw.choice(SIZES)).to(dtype)
    if n and draw.integers(6) == 0 and method not in POINTS:
        output[int(draw.integers(n)), int(draw.integers(width))] = -torch.inf
    extras = _extras(draw, criterion, n, dtype)
    if "teacher" in extras and bool(output.isinf().any()):
        # a share that single precision cannot hold is none, and none of something infinite is nothing
        extras["teacher"] = extras["teacher"].clamp(-20, 20)
    y, soft = _labels(draw, criterion, n, dtype, method)
    factors = torch.from_numpy(draw.choice([0.0, 0.5, 1.0, 3.0], size=n)) if draw.integers(4) == 0 else None
    spoilt = torch.from_numpy(soft.sum(axis=1) == 0)
    if factors is not None:
        spoilt = spoilt | (factors == 0)
    output = torch.where(spoilt[:, None] & bool(draw.integers(2)), torch.nan, output)
    return Call(criterion, output.requires_grad_(bool(draw.integers(2))), y, extras, shape, soft, factors)


def _shape(draw: Chance, criterion: Criterion, method: str) -> tuple[int, ...]:
    length = int(draw.choice([0, 1, 2, 3, 5, 8]))
    inner = tuple(int(draw.integers(1, 4)) for _ in range(int(draw.integers(3))))
    if criterion.dense_features:
        inner = ()
    choices = [1, 0, -1] if len(inner) == 0 else [1, -1, 0, len(inner) + 1]
    criterion.class_dim = int(draw.choice(choices))
    return (length, *inner)


def _criterion(draw: Chance, method: str) -> Criterion:
    count = int(draw.integers(2, 6))
    kind = criterion_class(method)
    weight = None
    if draw.integers(2):
        weight = torch.from_numpy(draw.choice([0.0, 0.5, 1.0, 2.0, 1e-3, 1e3], size=count))
        weight = weight if draw.integers(2) else weight.float()
    labels, options = _options(draw, method, count)
    presets = [None, None, *kind.presets]
    preset = presets[int(draw.integers(len(presets)))]
    if method == "static" and preset is not None:
        options.pop("scale", None)
    torch.default_generator.manual_seed(int(draw.integers(2**31)))  # of the CPU alone, which is quick
    criterion = kind(
        labels,
        **options,
        preset=preset,
        weight=weight,
        ignore_index=int(draw.choice(np.array(IGNORED, dtype=object))),
        reduction=str(draw.choice(["mean", "sum", "none"])) if method not in WHOLE else "mean",
    )
    for parameter in criterion.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    return criterion.train()


def _options(draw: Chance, method: str, count: int) -> tuple[Any, dict[str, Any]]:
    space = ordinal([f"c{number}" for number in range(count)])
    labels: Any = [count, list(space.names), space][int(draw.integers(3))]
    share = float(draw.choice([0.0, 0.1, 0.3, 0.5]))
    positive = float(draw.choice([0.5, 1.0, 2.0, 20.0]))
    learn = [None, "class", "entry"][int(draw.integers(3))]
    distance = str(draw.choice(["huber", "mse", "cosine"]))
    table: dict[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
        "disturb": lambda: (labels, {"rate": share, "seed": int(draw.integers(2**32))}),
        "focal": lambda: (labels, {"gamma": [0.0, 1.0, 3.0, "flsd53"][int(draw.integers(4))]}),
        "infogain": lambda: (space, {"smoothing": share, "matrix": None if draw.integers(2) else _gains(draw, count)}),
        "kd": lambda: (labels, {"temperature": positive, "hard": share, "scale": bool(draw.integers(2))}),
        "labelemb": lambda: (labels, {"in_features": 3, "temperature": positive, "cap": share + 0.1}),
        "lls": lambda: (labels, {"smoothing": max(share, 0.05)}),
        "lwal": lambda: (labels, {"dim": int(draw.integers(1, 7)), "repel": share, "memory": bool(draw.integers(2))}),
        "lwr": lambda: (labels, {"samples": 40, "epochs": 4, "every": 1, "temperature": positive, "hard": share}),
        "maxent": lambda: (labels, {"strength": share}),
        "mixed": lambda: (space, {"smoothing": min(share + 0.05, 0.4), "learn": learn}),
        "ols": lambda: (labels, {"smoothing": share}),
        "onehot": lambda: (labels, {}),
        "semantic": lambda: (space, {"smoothing": share}),
        "static": lambda: (_points(draw, count), {"loss": distance, "scale": positive}),
        "tfkd": lambda: (labels, {"strength": share, "temperature": positive}),
        "uniform": lambda: (labels, {"smoothing": share}),
        "zipf": lambda: (labels, {"strength": share}),
    }
    return table[method]()


def _gains(draw: Chance, count: int) -> Tensor:
    return torch.from_numpy(draw.choice([0.0, 0.5, 1.0, 2.0], size=(count, count)) + np.eye(count))


def _points(draw: Chance, count: int) -> LabelSpace:
    return LabelSpace([f"c{n}" for n in range(count)], torch.from_numpy(draw.normal(size=(count, 3))), "vectors")


def _extras(draw: Chance, criterion: Criterion, n: int, dtype: torch.dtype) -> dict[str, Tensor]:
    count = len(criterion.names)
    made: dict[str, Callable[[], Tensor]] = {
        "teacher": lambda: torch.from_numpy(draw.normal(size=(n, count)) * draw.choice(SIZES)).to(dtype),
        "index": lambda: torch.from_numpy(draw.permutation(40)[:n] if n <= 40 else draw.integers(40, size=n)),
        "features": lambda: torch.from_numpy(
            draw.normal(size=(n, count, 2, 2) if criterion.dense_features else (n, 3))
        ).to(dtype),
    }
    return {name: made[name]() for name in criterion.needs}


def _labels(draw: Chance, criterion: Criterion, n: int, dtype: torch.dtype, method: str) -> tuple[Tensor, np.ndarray]:
    """Return labels and what they mean: probabilities, with nothing for what is ignored."""
    count, ignored = len(criterion.names), criterion.ignore_index
    hard = draw.integers(count, size=n)
    left_out = draw.random(n) < 0.2
    if draw.integers(3) or not criterion.soft_targets:
        labels = np.where(left_out, ignored, hard).astype(np.int64)
        soft = (labels[:, None] == np.arange(count)) & (labels != ignored)[:, None]
        narrow = torch.int32 if -(2**31) <= ignored < 2**31 and draw.integers(4) == 0 else torch.int64
        return torch.from_numpy(labels).to(narrow), soft.astype(np.float64)
    rows = draw.dirichlet(np.full(count, draw.choice([0.1, 1.0])), size=n) * draw.choice([1.0, 0.3])
    if draw.integers(2):
        rows = np.eye(count)[hard]
    given = torch.from_numpy(np.where(left_out[:, None], 0, rows)).to(dtype)
    soft = given.double().numpy().copy()
    if 0 <= ignored < count:
        soft[:, ignored] = 0
    return given, soft


# ---------------------------------------------------------------------- what none may accept


def _hostile(draw: Chance, method: str) -> Case:
    call = _call(draw, method)
    while not len(call.output):
        call = _call(draw, method)
    given = call.arguments()
    spoil = SPOILS[int(draw.integers(len(SPOILS)))]
    changed = spoil(draw, call, given)
    title = f"{method}: {spoil.__name__[1:]}"
    return Case(title, lambda: call.criterion(**{**given, **changed}), lambda found: False)


def _label_out_of_range(draw: Chance, call: Call, given: dict[str, Any]) -> dict[str, Any]:
    count = len(call.criterion.names)
    wrong = [value for value in (count, -2, 2**40, -(2**40)) if value != call.criterion.ignore_index]
    y = torch.zeros(call.shape, dtype=torch.int64)
    y.view(-1)[int(draw.integers(y.numel()))] = wrong[int(draw.integers(len(wrong)))]
    return {"y": y}


def _label_beyond(draw: Chance, call: Call, given: dict[str, Any]) -> dict[str, Any]:
    y = np.zeros(call.shape, np.uint64)
    y.reshape(-1)[-1] = np.uint64(2**64 - int(draw.choice([1, 100, 2**30])))
    return {"y": torch.from_numpy(y)}


def _no_probabilities(draw: Chance, call: Call, given: dict[str, Any]) -> dict[str, Any]:
    soft = torch.zeros(len(call.output), len(call.criterion.names), dtype=call.output.dtype)
    free = [column for column in range(soft.shape[1]) if column != call.criterion.ignore_index]
    soft[-1, free[-1]] = [1.5, -0.5, torch.nan, torch.inf][int(draw.integers(4))]
    return {"y": replace(call, y=soft).arguments()["y"]}


def _another_type(draw: Chance, call: Call, given: dict[str, Any]) -> dict[str, Any]:
    name = [*given][int(draw.integers(len(given)))]
    value = given[name].detach()
    odd = ["x", 3, [1.0], value.numpy() if value.dtype not in HALF else 1.0, value.cfloat()]
    odd += [None, value != 0] if name != "sample_weight" else []  # none is none, and a mask is a weight
    odd += [value.double().to_sparse(), value.to("meta")] if name != "y" else [value.to_sparse(), value.to("meta")]
    if name == "output":
        odd.append(value.nan_to_num(0).clamp(-9, 9).long())
    return {name: odd[int(draw.integers(len(odd)))]}


def _another_shape(draw: Chance, call: Call, given: dict[str, Any]) -> dict[str, Any]:
    name = [*given][int(draw.integers(len(given)))]
    value = given[name]
    odd = [value[None], value.reshape(-1)[:0], torch.cat([value, value[:1]]), value.reshape(-1)[0]]
    if name != "features" or value.ndim == call.output.ndim:  # a map may have any number of positions
        odd.append(torch.cat([value, value], dim=-1))
    return {name: odd[int(draw.integers(len(odd)))]}


SPOILS = (_label_out_of_range, _label_beyond, _no_probabilities, _another_type, _another_shape)

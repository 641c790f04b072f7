"""What a loss costs on this machine, as a ratio to ``torch.nn.functional.cross_entropy`` in the same run."""

import statistics
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from labelspace import _room
from labelspace.criteria import Criterion
from labelspace.criteria.registry import criterion_class, make_criterion
from labelspace.space import LabelSpace

PLAIN = "F.cross_entropy"
WIDTH = 64  # of features, for methods that need them


class Timing(NamedTuple):
    """CPU time of one forward and backward pass."""

    name: str
    classes: int
    ratio: float  # of medians, to F.cross_entropy
    low: float  # quartiles of the ratio of each round
    high: float
    microseconds: float  # the median


def interleaved(
    passes: Mapping[str, Callable[[], object]], *, seconds: float = 0.5, rounds: int = 9
) -> dict[str, list[float]]:
    """Return CPU seconds of each function, one number for each round; all take turns, so that a busy machine is fair.

    Args:
        passes: what to time, by name.
        seconds: about how long each may take in all.
        rounds: how often they take turns.
    """
    times: dict[str, list[float]] = {name: [] for name in passes}
    repeats = {}
    for name, function in passes.items():
        function()
        began = time.process_time()
        function()
        once = max(time.process_time() - began, 1e-6)
        repeats[name] = max(1, min(500, int(seconds / rounds / once)))
    for _ in range(rounds):
        for name, function in passes.items():
            began = time.process_time()
            for _ in range(repeats[name]):
                function()
            times[name].append((time.process_time() - began) / repeats[name])
    return times


def loss_timings(
    methods: Mapping[str, Mapping[str, object]], classes: int, *, batch: int = 128, seconds: float = 0.5
) -> list[Timing]:
    """Return what methods cost, forward and backward, beside plain cross-entropy.

    Args:
        methods: options of each method, by its name.
        classes: K.
        batch: samples of one call.
        seconds: about how long each method is measured.

    Example:
        >>> [timing.name for timing in loss_timings({"uniform": {}}, 10, seconds=0.01)]
        ['F.cross_entropy', 'uniform']
    """
    generator = torch.Generator().manual_seed(0)
    output = torch.randn(batch, classes, generator=generator).requires_grad_()
    y = torch.randint(classes, (batch,), generator=generator)
    passes: dict[str, Callable[[], object]] = {PLAIN: _step(lambda: cross_entropy(output, y), [output])}
    for name, options in methods.items():
        criterion = built(name, classes, options)
        passes[name] = _of(criterion, output, y)
    return summarised(interleaved(passes, seconds=seconds), classes)


def summarised(times: Mapping[str, list[float]], classes: int) -> list[Timing]:
    """Return timings as ratios to the first function."""
    first = next(iter(times.values()))
    found = []
    for name, each in times.items():
        ratios = sorted(mine / plain for mine, plain in zip(each, first, strict=True))
        low, _, high = statistics.quantiles(ratios, n=4)
        middle = statistics.median(each)
        found.append(Timing(name, classes, middle / statistics.median(first), low, high, 1e6 * middle))
    return found


def built(name: str, classes: int, options: Mapping[str, object]) -> Criterion:
    """Return a criterion of a method for so many classes, with relations drawn at random where it wants any."""
    kind = criterion_class(name.split()[0])
    labels: int | LabelSpace = classes
    if kind.looks_at_space(options):
        _room.check_state(kind.__name__, classes, tables=2)
        drawn = torch.rand(classes, classes, generator=torch.Generator().manual_seed(0))
        labels = LabelSpace(tuple(map(str, range(classes))), drawn / drawn.sum(dim=1, keepdim=True), "relations")
    needed: dict[str, object] = {"in_features": WIDTH, "samples": 1024, "epochs": 10}
    supplied = {option: needed[option] for option in kind.engine_supplies if option in needed}
    return make_criterion(kind.name, labels, **{**supplied, **options})


def _of(criterion: Criterion, output: Tensor, y: Tensor) -> Callable[[], object]:
    generator = torch.Generator().manual_seed(1)
    width = output.shape[1] if criterion.dense_features else WIDTH
    everything = {
        "features": torch.randn(len(output), width, generator=generator),
        "index": torch.arange(len(output)),
        "teacher": torch.randn(output.shape, generator=generator),
    }
    extras = {name: everything[name] for name in criterion.needs}
    if criterion.output_dim != output.shape[1]:
        output = torch.randn(len(output), criterion.output_dim, generator=generator).requires_grad_()
    return _step(lambda: criterion(output, y, **extras), [output, *criterion.parameters()])


def _step(loss: Callable[[], Tensor], learned: list[Tensor]) -> Callable[[], object]:
    def step() -> None:
        for each in learned:
            each.grad = None
        loss().backward()  # type: ignore[no-untyped-call]

    return step

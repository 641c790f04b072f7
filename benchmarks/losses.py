"""Every method against F.cross_entropy and against what a user would type: forward and backward, and steps of training.

All that is compared takes turns; CPU time; ratios of medians, with quartiles. One row for each method and K.
Run: python benchmarks/losses.py [--classes 10,100,1000,10000] [--methods lls,ols] [--threads 1] [--steps] [--record]
"""

import argparse
import resource
import warnings
from collections.abc import Callable

import torch
from by_hand import BY_HAND
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from labelspace import Learner
from labelspace.analysis.timing import WIDTH, Timing, built, interleaved, summarised
from results import record

OPTIONS: dict[str, dict[str, object]] = {"lls rank 64": {"rank": 64}}
DENSE = ("lls", "labelemb", "lwal")  # hold or make K × K numbers with a gradient: up to 1,000 classes here
GOALS = {  # at K = 10, 100, 1,000, 10,000: to F.cross_entropy, unless "hand" says to the form by hand
    "onehot": (1.5, 1.3, 1.1, 1.05),
    "uniform": ("hand × 1.2",) * 4,
    "semantic": ("hand × 1.1", "hand × 1.1", 1.7, 1.7),
    "lls": ("hand × 1", "hand × 1", 4.5, 4.5),
    "lls rank 64": (6, 6, 6, 6),
    "labelemb": ("hand × 1", "hand × 1", 5.5, 5.5),
    "lwal": (None, None, 16, None),
    "focal": (3, 3, 3, 3),
    "zipf": (8, 8, 8, 8),
    "maxent": (3, 3, 3, 3),
    "tfkd": (3, 3, 3, 3),
}
PLACES = {10: 0, 100: 1, 1000: 2, 10000: 3}


def losses(name: str, classes: int, batch: int, seconds: float) -> list[Timing]:
    """Return timings of F.cross_entropy, the method and its form by hand."""
    generator = torch.Generator().manual_seed(0)
    output = torch.randn(batch, classes, generator=generator).requires_grad_()
    y = torch.randint(classes, (batch,), generator=generator)
    features = torch.randn(batch, WIDTH, generator=generator)
    relations = torch.rand(classes, classes, generator=generator)
    relations /= relations.sum(dim=1, keepdim=True)
    criterion = built(name, classes, OPTIONS.get(name, {}))
    extras = {"features": features} if "features" in criterion.needs else {}
    hand, learned = BY_HAND[name](classes, relations, features)
    passes = {
        "F.cross_entropy": _step(lambda: cross_entropy(output, y), [output]),
        "own": _step(lambda: criterion(output, y, **extras), [output, *criterion.parameters()]),
        "by hand": _step(lambda: hand(output, y), [output, *learned]),
    }
    return summarised(interleaved(passes, seconds=seconds), classes)


def _step(loss: Callable[[], Tensor], learned: list[Tensor]) -> Callable[[], object]:
    def step() -> None:
        for each in learned:
            each.grad = None
        loss().backward()

    return step


def networks() -> dict[str, tuple[Callable[[], nn.Module], Tensor]]:
    """Return networks that return ``(output, features)``, and a batch for each."""

    class Split(nn.Module):
        def __init__(self, body: nn.Module, width: int) -> None:
            super().__init__()
            self.body, self.head = body, nn.Linear(width, 10)

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            features = self.body(x)
            return self.head(features), features

    def cnn() -> nn.Module:
        blocks = [nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, WIDTH, 3, padding=1)]
        return Split(nn.Sequential(*blocks, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()), WIDTH)

    class Transformer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(WIDTH, 4, 128, batch_first=True, dropout=0.0)

        def forward(self, x: Tensor) -> Tensor:
            return self.layer(x).mean(dim=1)

    head = lambda: Split(nn.Sequential(nn.Linear(64, 128), nn.ReLU()), 128)  # noqa: E731
    return {
        "head 64-128-10": (head, torch.randn(32, 64)),
        "cnn": (cnn, torch.randn(32, 1, 28, 28)),
        "transformer": (lambda: Split(Transformer(), WIDTH), torch.randn(32, 16, WIDTH)),
    }


def training_steps(methods: list[str], seconds: float) -> dict[str, list[Timing]]:
    """Return timings of whole training steps (SGD with momentum) beside a plain one, for each network."""
    found, y = {}, torch.randint(10, (32,))
    for network, (make, x) in networks().items():
        torch.manual_seed(0)
        plain = make()
        passes = {"plain": _training(lambda plain=plain, x=x: cross_entropy(plain(x)[0], y), plain.parameters())}
        for name in methods:
            width = 128 if network.startswith("head") else WIDTH
            options = {"in_features": width} if name == "labelemb" else {}
            learner = Learner(make(), built(name, 10, {**OPTIONS.get(name, {}), **options}))
            loss = lambda learner=learner, x=x: learner(x, y)  # noqa: E731
            passes[name] = _training(loss, learner.parameter_groups())
        found[network] = summarised(interleaved(passes, seconds=seconds), 10)
    return found


def _training(loss: Callable[[], Tensor], parameters: object) -> Callable[[], object]:
    optimizer = torch.optim.SGD(parameters, lr=1e-4, momentum=0.9)  # type: ignore[arg-type]

    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step


def goal_of(name: str, classes: int) -> object:
    """Return the goal in words or as a number; None where there is none."""
    goals = GOALS.get(name)
    return goals[PLACES[classes]] if goals and classes in PLACES else None


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", default="10,100,1000,10000")
    parser.add_argument("--methods", default=",".join(BY_HAND))
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--steps", action="store_true", help="time whole training steps too")
    parser.add_argument("--record", action="store_true", help="add the numbers to benchmarks/results/losses.csv")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", UserWarning)  # of batches that are small for so many classes
    torch.set_num_threads(options.threads)
    methods = options.methods.split(",")
    print(f"batch {options.batch} · {options.threads} threads · ratio to F.cross_entropy (quartiles) · by hand · goal")
    for classes in map(int, options.classes.split(",")):
        for name in methods:
            if classes > 1000 and name in DENSE:
                continue
            _, own, hand = losses(name, classes, options.batch, options.seconds)
            goal = goal_of(name, classes)
            said = "" if goal is None else f"goal {goal}"
            ratio = f"{own.ratio:7.2f} ({own.low:.2f}–{own.high:.2f})"
            print(f"{name:<12} K={classes:<6} {ratio:<24} hand {hand.ratio:6.2f}  {said}", flush=True)
            if options.record:
                keep("loss", name, own, options, by_hand=round(hand.ratio, 3), goal=goal)
    for network, timings in (training_steps(methods, options.seconds) if options.steps else {}).items():
        for each in timings[1:]:
            print(f"{network:<15} {each.name:<12} {each.ratio:6.3f} ({each.low:.3f}–{each.high:.3f}) of a plain step")
            if options.record:
                keep(network, each.name, each, options)


def keep(what: str, name: str, own: Timing, options: argparse.Namespace, **more: object) -> None:
    """Add a row to the CSV."""
    numbers = {field: round(value, 4) for field, value in own._asdict().items() if isinstance(value, float)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    row = {"what": what, "method": name, "classes": own.classes, "batch": options.batch, "threads": options.threads}
    record("losses", {**row, **numbers, **more, "peak_mb_so_far": peak})


if __name__ == "__main__":
    main()

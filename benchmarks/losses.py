"""Every method against F.cross_entropy and against what a user would type: forward and backward, and steps of training.

All that is compared takes turns; CPU time, of all threads together; ratios of medians, with quartiles. The memory of a
pass is the highest resident size of a process of its own, less that before it. One row for each method and K.
Run: python benchmarks/losses.py [--classes 10,100] [--methods lls,ols] [--threads 1,2] [--steps] [--memory] [--record]
"""

import argparse
import ctypes
import multiprocessing
import warnings
from collections.abc import Callable

import torch
from by_hand import BY_HAND
from large import resident
from losses_picture import draw
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from labelspace import Learner, SemanticSmoothing, ordinal
from labelspace.analysis.timing import WIDTH, Timing, built, interleaved, summarised
from labelspace.criteria import Criterion, scratch
from labelspace.optim import SGD
from results import HERE, keep_memory, write

OPTIONS: dict[str, dict[str, object]] = {"lls rank 64": {"rank": 64}, "labelemb rank 100": {"rank": 100}}
HAND = " by hand"
BY_ROWS = " by rows"  # labels that labelspace.optim steps: the gradient is that of the rows of the batch alone
BY_RULE = "semantic by rule"  # its rows are made for every batch, from an order
# K × K numbers, which by hand are as many again; those with a gradient need as much for it, adaptive labels four tables
LARGEST = {"semantic": 10_000, "ols": 10_000, "lls": 1000, "labelemb": 1000, "lwal": 1000}
LARGEST |= {"lls by rows": 10_000, "labelemb by rows": 10_000}
SMALLEST = {"labelemb rank 100": 10_000, BY_RULE: 10_000, "lls by rows": 1000, "labelemb by rows": 1000}
GOALS = {  # at K = 10, 100, 1,000, 10,000: to F.cross_entropy, unless another rival is named
    "onehot": (1.5, 1.3, 1.1, 1.05),
    "uniform": ("hand × 1.2",) * 4,
    "semantic": ("hand × 1.1", "hand × 1.1", 1.7, 1.7),
    "lls": ("hand × 1", "hand × 1", 4.5, 4.5),
    "lls by rows": (None, None, 4.5, 4.5),
    "lls rank 64": (6, 6, 6, 6),
    "labelemb": ("hand × 1", "hand × 1", 5.5, 5.5),
    "labelemb by rows": (None, None, 5.5, 5.5),
    "labelemb rank 100": (None, None, None, 5.5),
    "lwal": (None, None, 16, None),
    "ols": ("semantic × 1.3",) * 4,
    "focal": (3, 3, 3, 3),
    "zipf": (8, 8, 8, 8),
    "maxent": (3, 3, 3, 3),
    "tfkd": (3, 3, 3, 3),
}
PLACES = {10: 0, 100: 1, 1000: 2, 10000: 3}
GRAIN = 32_768  # entries of an array from which torch uses several threads
Passes = dict[str, Callable[[], object]]


def passes(name: str, classes: int, batch: int) -> tuple[Criterion, Passes, list[Tensor]]:
    """Return the criterion; forward and backward of F.cross_entropy, the method and its form by hand; what learns."""
    generator = torch.Generator().manual_seed(0)
    output = torch.randn(batch, classes, generator=generator).requires_grad_()
    y = torch.randint(classes, (batch,), generator=generator)
    features = torch.randn(batch, WIDTH, generator=generator)
    size = classes if name in ("semantic", "ols") else 0
    relations = torch.rand(size, size, generator=generator)
    relations /= relations.sum(dim=1, keepdim=True)
    by_rule = name == BY_RULE
    criterion = SemanticSmoothing(ordinal(classes)) if by_rule else built(name, classes, OPTIONS.get(name, {}))
    if name.endswith(BY_ROWS):
        rows = [own for own_name, own in criterion.named_parameters() if own_name in criterion.row_parameters]
        SGD([{"params": rows, "rows": True}])
    extras = {"features": features} if "features" in criterion.needs else {}
    learning = [output, *criterion.parameters()]
    found: Passes = {
        "F.cross_entropy": _step(lambda: cross_entropy(output, y), [output]),
        "own": _step(lambda: criterion(output, y, **extras), learning),
    }
    if name in BY_HAND and (name, classes) != ("zipf", 50_000):  # two sorts of 6.4 million numbers
        hand, learned = BY_HAND[name](classes, relations, features)
        found["by hand"] = _step(lambda: hand(output, y), [output, *learned])
        learning = [*learning, *learned]
    return criterion, found, learning


def losses(name: str, classes: int, batch: int, seconds: float) -> list[Timing]:
    """Return timings of F.cross_entropy, the method and, where there is one, its form by hand."""
    _, found, _ = passes(name, classes, batch)
    rounds = 5 if classes > 1000 else 9
    return summarised(interleaved(found, seconds=seconds, rounds=rounds), classes)


def memory(name: str, classes: int, batch: int) -> dict[str, float]:
    """Return MiB that a forward and backward pass takes, of each form, and the state of the criterion."""
    context, found = multiprocessing.get_context("fork"), {}
    for kind in ("F.cross_entropy", "own", "by hand"):
        queue = context.SimpleQueue()
        process = context.Process(target=_measured, args=(name, classes, batch, kind, queue))
        process.start()
        process.join()
        if not queue.empty():
            found |= queue.get()
    return found


def _measured(name: str, classes: int, batch: int, kind: str, queue: "multiprocessing.queues.SimpleQueue") -> None:
    criterion, found, learning = passes(name, classes, batch)
    if kind not in found:
        return
    found[kind]()  # what is made once
    for each in learning:
        each.grad = None
    scratch.SCRATCH.__init__()  # type: ignore[misc]  # what a thread keeps is part of what a pass takes
    scratch.LENT.__init__()  # type: ignore[misc]
    ctypes.CDLL(None).malloc_trim(0)  # what is free must not stay resident, or it would be taken again unseen
    tensors = [*criterion.parameters(), *criterion.buffers(), *criterion.statistics.state().values()]
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the highest resident size starts anew
    before = resident("VmRSS")
    found[kind]()
    peak = {f"{kind} mb": round(resident("VmHWM") - before, 1)}
    state = sum(each.numel() * each.element_size() for each in tensors) / 2**20
    queue.put({**peak, **({"state mb": round(state, 2)} if kind == "own" else {})})


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
        passes = {"plain": training(lambda plain=plain, x=x: cross_entropy(plain(x)[0], y), plain.parameters())}
        for name in methods:
            width = 128 if network.startswith("head") else WIDTH
            options = {"in_features": width} if name == "labelemb" else {}
            learner = Learner(make(), built(name, 10, {**OPTIONS.get(name, {}), **options}))
            loss = lambda learner=learner, x=x: learner(x, y)  # noqa: E731
            passes[name] = training(loss, learner.parameter_groups())
            hand, learned = BY_HAND[name](10, torch.full((10, 10), 0.1), torch.randn(32, width))
            model = make()
            loss = lambda model=model, hand=hand, x=x: hand(model(x)[0], y)  # noqa: E731
            passes[f"{name}{HAND}"] = training(loss, [*model.parameters(), *learned])
        found[network] = summarised(interleaved(passes, seconds=seconds), 10)
    return found


def training(loss: Callable[[], Tensor], parameters: object) -> Callable[[], object]:
    """Return a step of SGD with momentum."""
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


def fits(name: str, classes: int) -> bool:
    """Return whether a method is measured at so many classes."""
    return SMALLEST.get(name, 0) <= classes <= LARGEST.get(name, classes)


def loss_rows(options: argparse.Namespace, classes: int, threads: int) -> list[dict[str, object]]:
    """Print and return one row for each method; none where torch would use one thread anyway."""
    rows: list[dict[str, object]] = []
    if threads > 1 and options.batch * classes <= GRAIN:
        return rows
    for name in filter(lambda name: fits(name, classes), options.methods.split(",")):
        _, own, *hand = losses(name, classes, options.batch, options.seconds)
        row = row_of("loss", name, own, options.batch, threads)
        rows.append({**row, "by_hand": round(hand[0].ratio, 3) if hand else None, "goal": goal_of(name, classes)})
        if options.memory and threads == 1 and classes >= 1000:
            rows[-1] |= memory(name, classes, options.batch)
        print(*(value for value in rows[-1].values() if value is not None), sep="  ", flush=True)
    return rows


def step_rows(options: argparse.Namespace, threads: int) -> list[dict[str, object]]:
    """Print and return one row for each network and method."""
    rows, methods = [], [name for name in options.methods.split(",") if fits(name, 10)]
    for network, (_, *timings) in training_steps(methods, options.seconds).items():
        hand = {each.name: round(each.ratio, 3) for each in timings}
        own = [each for each in timings if not each.name.endswith(HAND)]
        rows += [{**row_of(network, each.name, each, 32, threads), "by_hand": hand[each.name + HAND]} for each in own]
    for row in rows:
        print(*(value for value in row.values() if value is not None), sep="  ", flush=True)
    return rows


def row_of(what: str, name: str, timing: Timing, batch: int, threads: int) -> dict[str, object]:
    numbers = {field: round(value, 4) for field, value in timing._asdict().items() if isinstance(value, float)}
    row = {"what": what, "method": name, "classes": timing.classes, "batch": batch, "threads": threads}
    empty = dict.fromkeys(("by_hand", "goal", "F.cross_entropy mb", "own mb", "by hand mb", "state mb"))
    return {**row, **numbers, **empty}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", default="10,100,1000,10000,50000")
    parser.add_argument("--methods", default=",".join((*BY_HAND, BY_RULE)))
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--threads", default="1", help="numbers of threads, with commas")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--steps", action="store_true", help="time whole training steps too")
    parser.add_argument("--memory", action="store_true", help="measure the memory of a pass too, from 1,000 classes")
    parser.add_argument("--record", action="store_true", help="write results/losses.csv and docs/speed.svg anew")
    options = parser.parse_args(arguments)
    keep_memory()
    warnings.simplefilter("ignore", UserWarning)  # of batches that are small for so many classes
    rows: list[dict[str, object]] = []
    for threads in map(int, options.threads.split(",")):
        torch.set_num_threads(threads)
        for classes in map(int, options.classes.split(",")):
            rows += loss_rows(options, classes, threads)
        rows += step_rows(options, threads) if options.steps else []
        if options.record:
            write(HERE / "results" / "losses.csv", rows)
            draw(rows, HERE.parent / "docs" / "speed.svg")


if __name__ == "__main__":
    main()

"""What tens of thousands of classes cost: the step of learned labels, linear layer and loss in one, and builders.

Run ``python benchmarks/large.py [--what optimizer step memory builders epoch] [--repeats 7]``. One thread. Times are
medians of CPU time, rivals interleaved in one process. Memory is the highest resident size of a process of its own,
less that before, less the gradients, which are the result; of an epoch of training these are in it.
"""

import argparse
import functools
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

import torch
from by_hand import BY_HAND, Made, symmetric
from torch import Tensor, nn

from labelspace import (
    Distillation,
    LabelEmbedding,
    LearnableSmoothing,
    Learner,
    SemanticSmoothing,
    TopTargets,
    UniformSmoothing,
    groups,
    linear_loss,
    optim,
    ordinal,
    uniform,
)
from labelspace.criteria import Criterion, targets
from results import record

CLASSES, FEATURES = 50_000, 512
# torch's own linear + cross-entropy: by default whole, in chunks as it chooses them, in chunks as large as ours
TORCH = {
    "torch": None,
    "torch, its chunks": nn.LinearCrossEntropyOptions(),
    "torch, 83 samples": nn.LinearCrossEntropyOptions(batch_chunk_size=83),
}
METHODS: dict[str, Callable[[], Criterion]] = {
    "onehot": lambda: UniformSmoothing(CLASSES, smoothing=0.0),
    "uniform": lambda: UniformSmoothing(CLASSES),
    "semantic, order by rule": lambda: SemanticSmoothing(ordinal(CLASSES)),
    "semantic, groups by rule": lambda: SemanticSmoothing(
        groups([list(range(start, start + 50)) for start in range(0, CLASSES, 50)], CLASSES)
    ),
    "lls rank=64": lambda: LearnableSmoothing(CLASSES, rank=64),
    "lls top=32": lambda: LearnableSmoothing(ordinal(CLASSES), top=32),
    "kd, top-32 teacher": lambda: Distillation(CLASSES, temperature=2.0, hard=0.3),
    "labelemb rank=100": lambda: LabelEmbedding(CLASSES, in_features=FEATURES, rank=100),
    "labelemb rank=100 head_rank=0": lambda: LabelEmbedding(CLASSES, in_features=FEATURES, rank=100, head_rank=0),
}


def taken(call: Callable[[], object]) -> float:
    start = time.thread_time()
    call()
    return time.thread_time() - start


def interleaved(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    for call in calls.values():
        call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            times[name].append(taken(call))
    return {name: median(of) for name, of in times.items()}


def optimizer(repeats: int) -> None:
    """Print the parts of a step of LLS, K = 8,192, with dense and with lazy steps, and how far they drift apart."""
    classes, found = 8192, {}
    pairs = {}
    for name, kind in (("dense", torch.optim.SGD), ("lazy", optim.SGD)):
        torch.manual_seed(0)
        learner = Learner(nn.Linear(32, classes), LearnableSmoothing(classes))
        made = kind(learner.parameter_groups(rows=True), lr=0.1, momentum=0.9)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(made, 200)
        pairs[name] = (learner, made, schedule, {"loss": [], "step": []})
    generator = torch.Generator().manual_seed(1)
    for _ in range(200):
        x, y = torch.randn(128, 32, generator=generator), torch.randint(classes, (128,), generator=generator)
        for learner, made, schedule, times in pairs.values():
            made.zero_grad()
            times["loss"].append(taken(lambda: learner(x, y).backward()))  # noqa: B023 - called at once
            times["step"].append(taken(made.step))
            schedule.step()
    with torch.no_grad():
        difference = (pairs["dense"][0].criterion.label_logits - pairs["lazy"][0].criterion.label_logits).abs().max()
    for name, (_, _, _, times) in pairs.items():
        found[name] = {part: median(times[part]) for part in ("loss", "step")}
    row = {
        "what": "LLS K=8,192 N=128, momentum, cosine schedule, 200 steps",
        "step_ms": round(1e3 * found["lazy"]["step"], 2),
        "rival_ms": round(1e3 * found["dense"]["step"], 2),
        "ratio": round(found["dense"]["step"] / found["lazy"]["step"], 1),
        **rows_alone(classes, repeats),
        "whole_ms": round(1e3 * sum(found["lazy"].values()), 1),
        "whole_rival_ms": round(1e3 * sum(found["dense"].values()), 1),
        "difference": f"{float(difference):.1e}",
    }
    print(row)
    record("large", row)


def rows_alone(classes: int, repeats: int) -> dict[str, float]:
    """Return what rows of Q cost without the loss: read them, give them a gradient, take the step."""
    y, above, calls = torch.randint(classes, (128,)), torch.randn(128, classes), {}
    for name, kind in (("rows_rival_ms", torch.optim.SGD), ("rows_ms", optim.SGD)):
        criterion = LearnableSmoothing(classes)
        made = kind([{"params": list(criterion.parameters()), "rows": True}], lr=0.1, momentum=0.9)

        def call(criterion: LearnableSmoothing = criterion, made: torch.optim.Optimizer = made) -> None:
            made.zero_grad()
            targets.rows(criterion.label_logits, y).backward(above)
            made.step()

        calls[name] = call
    return {name: round(1e3 * used, 2) for name, used in interleaved(calls, repeats).items()}


def step(repeats: int) -> None:
    """Print full steps (linear, loss, backward, SGD with momentum) at N=128, beside plain linear + cross-entropy."""
    for name, build in METHODS.items():
        torch.manual_seed(0)
        calls = {}
        x, y = torch.randn(128, FEATURES), torch.randint(CLASSES, (128,))
        for kind in ("plain", "chunks", "whole"):
            head, criterion = nn.Linear(FEATURES, CLASSES), build()
            made: torch.optim.Optimizer = torch.optim.SGD(head.parameters(), lr=0.01, momentum=0.9)
            if kind != "plain":
                made = optim.SGD([{"params": list(head.parameters())}, *own_groups(criterion)], lr=0.01, momentum=0.9)
            calls[kind] = one_step(kind, head, criterion, made, x, y)
        times = interleaved(calls, repeats)
        state = sum(each.numel() * each.element_size() for each in (*criterion.parameters(), *criterion.buffers()))
        for kind in ("chunks", "whole"):
            row = {
                "what": f"full step, N=128, {name}, {kind}",
                "step_ms": round(1e3 * times[kind], 1),
                "rival_ms": round(1e3 * times["plain"], 1),
                "ratio": round(times[kind] / times["plain"], 2),
                "state_share": f"{state / (4 * CLASSES**2):.2%}",
            }
            print(row, flush=True)
            record("large", row)


def own_groups(criterion: Criterion) -> list[dict[str, object]]:
    """Return groups of what a criterion learns, those that are read row by row for themselves."""
    held = {True: [], False: []}
    for name, own in criterion.named_parameters():
        held[name in criterion.row_parameters].append(own)
    return [{"params": own, "rows": rows} for rows, own in held.items() if own]


def one_step(
    kind: str, head: nn.Linear, criterion: Criterion, made: torch.optim.Optimizer, x: Tensor, y: Tensor
) -> Callable[[], None]:
    def call() -> None:
        made.zero_grad()
        loss_of(kind, head, criterion, x, y).backward()
        made.step()

    return call


def loss_of(kind: str, head: nn.Linear, criterion: Criterion, x: Tensor, y: Tensor) -> Tensor:
    if kind == "plain":
        return nn.functional.cross_entropy(head(x), y)
    if kind in TORCH:
        return nn.functional.linear_cross_entropy(x, head.weight, y, linear_bias=head.bias, options=TORCH[kind])
    extras = {"features": x} if "features" in criterion.needs else {}
    if "teacher" in criterion.needs:
        extras["teacher"] = teacher_of(len(x))
    if kind == "whole":
        return criterion(head(x), y, **extras)
    extras.pop("features", None)
    return linear_loss(criterion, x, head.weight, head.bias, y, **extras)


@functools.cache
def teacher_of(samples: int) -> TopTargets:
    """Return 32 classes of each sample, none twice."""
    generator = torch.Generator().manual_seed(2)
    first = torch.randint(CLASSES, (samples, 1), generator=generator)
    values = torch.rand(samples, 32, generator=generator).softmax(dim=1)
    return TopTargets((first + 7 * torch.arange(32)) % CLASSES, values)


def ordered_by_hand(output: Tensor, y: Tensor) -> Tensor:
    """Return smoothing by an order as one would type it: a target of every class for each sample."""
    steps = (torch.arange(CLASSES) - y[:, None]).abs().float()
    near = torch.where(steps > 0, 1 / steps, 0.0)
    target = 0.1 * near / near.sum(dim=1, keepdim=True)
    return nn.functional.cross_entropy(output, target.scatter_add_(1, y[:, None], torch.full((len(y), 1), 0.9)))


def grouped_by_hand(output: Tensor, y: Tensor) -> Tensor:
    """Return the same by groups of fifty."""
    target = (torch.arange(CLASSES) // 50 == y[:, None] // 50).float().mul_(0.1 / 49)
    return nn.functional.cross_entropy(output, target.scatter_(1, y[:, None], 0.9))


def taught_by_hand(output: Tensor, y: Tensor) -> Tensor:
    """Return distillation from a teacher of 32 classes each, written as rows of all classes."""
    teacher = teacher_of(len(y))
    rows = torch.zeros_like(output).scatter_(1, teacher.indices, teacher.values.sqrt())
    soft = nn.functional.kl_div(
        (output / 2).log_softmax(dim=1), rows / rows.sum(dim=1, keepdim=True), reduction="batchmean"
    )
    return 0.3 * nn.functional.cross_entropy(output, y) + 0.7 * 4 * soft


def few_by_hand() -> Made:
    """Return learned labels of 32 classes each and one number for all others, as one would type them."""
    places = (torch.arange(CLASSES)[:, None] + 7 * torch.arange(32)) % CLASSES
    kept, rest = torch.zeros(CLASSES, 32, requires_grad=True), torch.zeros(CLASSES, 1, requires_grad=True)

    def loss(output: Tensor, y: Tensor) -> Tensor:
        logits = rest[y].expand(-1, CLASSES).scatter(1, places[y], kept[y])
        return symmetric(output, logits, y)

    return loss, [kept, rest]


def by_hand(name: str, x: Tensor) -> Made:
    """Return what one would type for a method, and what it learns."""
    short = {"semantic, order by rule": ordered_by_hand, "semantic, groups by rule": grouped_by_hand}
    short["kd, top-32 teacher"] = taught_by_hand
    longer = {"onehot": "onehot", "uniform": "uniform", "lls rank=64": "lls rank 64"}
    longer |= dict.fromkeys(("labelemb rank=100", "labelemb rank=100 head_rank=0"), "labelemb rank 100")
    if name in short:
        return short[name], []
    if name == "lls top=32":
        return few_by_hand()
    return BY_HAND[longer[name]](CLASSES, torch.empty(0), x)


def one_process(name: str, kind: str) -> None:
    """Print CPU seconds and the highest memory of one linear + loss + backward at N=1,024."""
    torch.manual_seed(0)
    criterion, head = METHODS[name](), nn.Linear(FEATURES, CLASSES)
    x, y = torch.randn(1024, FEATURES, requires_grad=True), torch.randint(CLASSES, (1024,))
    learning = [x, *head.parameters(), *(criterion.parameters() if kind in ("whole", "chunks") else ())]
    call = functools.partial(loss_of, kind, head, criterion)
    if kind == "by hand":
        made = [by_hand(name, x[:2]), by_hand(name, x)]  # whose features are those of a batch
        call = lambda x, y: made[len(x) > 2][0](head(x), y)  # noqa: E731
        learning += made[1][1]
    call(x[:2], y[:2]).backward()  # what is made once
    for tensor in learning:
        tensor.grad = None
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the highest resident size starts anew
    before = resident("VmRSS")
    start = time.thread_time()
    call(x, y).backward()
    used = time.thread_time() - start
    results = sum(t.grad.numel() * t.grad.element_size() for t in learning if t.grad is not None) / 2**20
    print(used, resident("VmHWM") - before - results)


def resident(kind: str) -> float:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(kind))


def memory(repeats: int) -> None:
    """Print time and memory of linear + loss at N=1,024 in chunks, and of the form that makes all scores."""
    for name in METHODS:
        kinds = ("whole", "chunks", "by hand", *(("plain", *TORCH) if name == "onehot" else ()))
        found: dict[str, list[list[float]]] = {kind: [] for kind in kinds}
        for _ in range(max(1, repeats // 3)):
            for kind in kinds:
                found[kind].append(in_process(name, kind))
        times = {kind: median(run[0] for run in runs) for kind, runs in found.items()}
        sizes = {kind: median(run[1] for run in runs) for kind, runs in found.items()}
        for kind in kinds[1:]:
            show_pair(f"linear + loss, N=1,024, {name}, {kind}", kind, times, sizes)


def in_process(name: str, kind: str) -> list[float]:
    """Return CPU seconds and memory as a process of its own has them."""
    command = [sys.executable, __file__, "--process", name, kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


def show_pair(what: str, kind: str, times: dict[str, float], sizes: dict[str, float]) -> None:
    """Print and record a line beside the form that makes all scores."""
    row = {
        "what": what,
        "step_ms": round(1e3 * times[kind]),
        "rival_ms": round(1e3 * times["whole"]),
        "ratio": round(times[kind] / times["whole"], 2),
        "memory_mib": round(sizes[kind]),
        "rival_memory_mib": round(sizes["whole"]),
    }
    print(row, flush=True)
    record("large", row)


def builders(repeats: int) -> None:
    """Print how long spaces of 50,000 classes take to build, and the highest memory of the process so far."""
    made = {"ordinal": lambda: ordinal(CLASSES), "uniform": lambda: uniform(CLASSES)}
    made["groups"] = lambda: groups([list(range(start, start + 50)) for start in range(0, CLASSES, 50)], CLASSES)
    for name, build in made.items():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        used = taken(build)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        row = {"what": f"build {name}, K=50,000", "step_ms": round(1e3 * used), "memory_mib": round(grown)}
        print(row)
        record("large", row)


def one_epoch(batch: int, kind: str) -> None:
    """Print CPU seconds and the highest memory of an epoch of the training engine: four batches, a linear network."""
    from labelspace.data.dataset import Dataset, Split
    from labelspace.data.normalize import Normalize
    from labelspace.training import build, chunks, config, loop

    chunks.LARGE = 0 if kind == "chunks" else 2**60
    torch.manual_seed(0)
    x, y = torch.randn(4 * batch, FEATURES), torch.randint(CLASSES, (4 * batch,))
    rest, scale = Split(x[:0], y[:0]), Normalize("table", torch.zeros(FEATURES), torch.ones(FEATURES))
    dataset = Dataset(Split(x, y), rest, rest, tuple(map(str, range(CLASSES))), "table", {}, scale, key="synthetic")
    options = {"method": "uniform", "model": "linear", "optimizer": "sgd", "epochs": 1, "batch_size": batch}
    made = loop.Loop(build.prepare(config.make_config(data="synthetic", **options), dataset))
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before, start = resident("VmRSS"), time.thread_time()
    made.run()
    print(time.thread_time() - start, resident("VmHWM") - before)


def epoch(repeats: int) -> None:
    """Print what an epoch of training costs in chunks, and with all scores."""
    kinds = ("whole", "chunks")
    for batch in (256, 512, 1024):
        runs = {kind: [in_process(f"epoch {batch}", kind) for _ in range(max(1, repeats // 3))] for kind in kinds}
        times, sizes = ({kind: median(run[part] for run in runs[kind]) for kind in kinds} for part in (0, 1))
        show_pair(f"epoch of training, 4 batches, N={batch:,}, uniform, chunks", "chunks", times, sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--what", nargs="+", default=["builders", "optimizer", "step", "memory"])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--process", nargs=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.process:
        name, kind = options.process
        one_epoch(int(name.split()[1]), kind) if name.startswith("epoch ") else one_process(name, kind)
        return
    for what in options.what:
        globals()[what](options.repeats)


if __name__ == "__main__":
    main()

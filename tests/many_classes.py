"""What tens of thousands of classes must not need: a matrix of all of them. Run with little memory to be had.

Called as ``python many_classes.py CLASSES WHAT FOLDER``; the limit is on what the process may map beyond its start.
"""

import resource
import sys
from pathlib import Path

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from labelspace import (
    Decision,
    Distillation,
    LabelEmbedding,
    LabelSpace,
    LearnableSmoothing,
    Run,
    SemanticSmoothing,
    TopTargets,
    compressed,
    groups,
    linear_loss,
    methods,
    optim,
    ordinal,
    train,
)
from labelspace.cli.main import app
from labelspace.data.dataset import Dataset, Split
from labelspace.data.normalize import statistics
from labelspace.report.html import write_runs_html
from labelspace.serving.take_home import take_home

BYTES = 3 * 2**30  # a matrix of 50,000 classes takes 10 GB, in float64 20 GB
KEEPS_A_MATRIX = ("semantic", "mixed", "static", "ols", "lwal", "lwr", "infogain")  # methods whose own state is large


def limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def visit(space: LabelSpace, folder: Path) -> None:
    """Do with a space what every run's end and every look at it does."""
    assert space.rule is not None, space
    nearest = space.nearest(space.names[7], k=3)
    loaded = LabelSpace.load(space.save(folder / "labels.safetensors"))
    assert loaded.nearest(space.names[7], k=3) == nearest
    assert len(loaded.subset(space.names[:5])) == 5
    assert loaded.rows([0, 1]).shape == (2, len(space))


def low_rank(names: list[str], folder: Path) -> None:
    visit(LabelEmbedding(names, in_features=4, rank=100).label_space(), folder)
    visit(LearnableSmoothing(names, rank=64).label_space(), folder)


class NoMatrix(TorchDispatchMode):
    """Refuses whatever makes a tensor that could hold the fiftieth part of a matrix of all classes."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.most = 4 * classes * classes // 50

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        for each in tree_leaves(found):
            if isinstance(each, torch.Tensor) and each.layout == torch.strided:
                size = each.untyped_storage().nbytes()
                assert size < self.most, f"{func} made {size:,} bytes"
        return found


def step(criterion, y) -> None:
    """Learn from a batch twice, with all of its scores and with few at a time."""
    count = len(criterion.names)
    head, x = torch.nn.Linear(4, count), torch.randn(len(y), 4)
    by_row = [own for name, own in criterion.named_parameters() if name in criterion.row_parameters]
    others = [own for own in criterion.parameters() if all(own is not row for row in by_row)]
    held = [{"params": [*head.parameters(), *others]}, *([{"params": by_row, "rows": True}] if by_row else [])]
    optimizer = optim.SGD(held, lr=0.1, momentum=0.9)
    extras = {"features": x} if "features" in criterion.needs else {}
    few = (torch.arange(len(y))[:, None] + torch.arange(3)) % count
    given = {"teacher": TopTargets(few, torch.full(few.shape, 1 / 3))} if "teacher" in criterion.needs else {}
    losses = [lambda: criterion(head(x), y, **extras, **given)]
    if criterion.scope == "sample" and not criterion.statistics and not criterion.random:
        losses.append(lambda: linear_loss(criterion, x, head.weight, head.bias, y, **given))
    for loss in losses:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    criterion.end_epoch()


def every_step(names: list[str], folder: Path) -> None:
    from labelspace.criteria import criterion_class

    count, order = len(names), ordinal(names)
    spread = groups([list(range(start, start + 50)) for start in range(0, count, 50)], count)
    made = [SemanticSmoothing(order), SemanticSmoothing(spread), Distillation(names)]
    made += [LearnableSmoothing(names, rank=8), LearnableSmoothing(order, top=8)]
    made += [LabelEmbedding(names, in_features=4, rank=8, head_rank=size) for size in (0, 2)]
    known = {"semantic", "kd", "lls", "labelemb", *KEEPS_A_MATRIX}
    made += [criterion_class(name)(names) for name in methods() if name not in known]
    y = torch.arange(8) * 7 % count
    mass = TopTargets((y[:, None] + torch.arange(3)) % count, torch.full((8, 3), 1 / 3))
    with NoMatrix(count):
        with pytest.raises(AssertionError, match="bytes"):
            torch.empty(count, count // 50)
        for criterion in made:
            step(criterion, y)
            if criterion.soft_targets:
                step(criterion, mass)
            visit(criterion.label_space(), folder)


def nearest_few(names: list[str], folder: Path) -> None:
    count = len(names)
    near = (torch.arange(count)[:, None] + torch.arange(1, 41)) % count
    rule = compressed.TopRows(near, torch.full((count, 40), 0.02), torch.full((count,), 0.2))
    criterion = LearnableSmoothing(LabelSpace(names, rule, "relations"), top=32)
    assert bool(((criterion.near[:, 1:] - criterion.near[:, :1]) % count <= 40).all())
    visit(criterion.label_space(), folder)


def every_method(names: list[str], folder: Path) -> None:
    from labelspace.criteria import criterion_class

    for name in methods():
        if name not in KEEPS_A_MATRIX:
            options = {"rank": 4} if name in ("lls", "labelemb") else {}
            options |= {"in_features": 4} if name == "labelemb" else {}
            visit(criterion_class(name)(names, **options).label_space(), folder)


def whole_run(names: list[str], folder: Path) -> None:
    def part(samples: int) -> Split:
        return Split(torch.randn(samples, 4), torch.arange(samples) * 7 % len(names))

    parts = [part(32), part(8), part(8)]
    dataset = Dataset(*parts, tuple(names), "features", {}, statistics(parts[0].x, "features"), "k")
    options = {"model": "mlp-4", "epochs": 1, "batch_size": 16, "out": folder / "runs"}
    for method, given in (("lls", {"rank": 8}), ("onehot", {}), ("labelemb", {"rank": 8})):
        run = train(dataset, method=method, method_options=given, **options)
        assert run.folder is not None
        visit(Run.load(run.folder).space, folder)
        Run.load(run.folder).learner()
    again = train(dataset, method="labelemb", method_options={"pretrained": run.space, "beta": 0.5}, **options)
    visit(again.space, folder)
    take_home(Run.load(run.folder), Decision("argmax", 1.0, None, names), folder / "best")
    assert "figures left out" in write_runs_html([folder / "runs"], folder / "page.html").read_text()
    app(["labels", "show", str(run.folder / "label_space.safetensors")], standalone_mode=False)


if __name__ == "__main__":
    torch.set_num_threads(1)
    limit_memory()
    globals()[sys.argv[2]]([f"word {place}" for place in range(int(sys.argv[1]))], Path(sys.argv[3]))

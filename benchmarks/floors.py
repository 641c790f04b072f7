"""What the parts of a loss take by themselves, in ``F.cross_entropy``: what no way to write them can do without.

Run: python benchmarks/floors.py [--classes 10,100,1000] [--record]. One thread, CPU time, all take turns.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from least import least, least_of_heads, ranks, sums_of_right
from losses import networks, training
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from labelspace import LearnableSmoothing
from labelspace.analysis.timing import PLAIN, WIDTH, interleaved, summarised
from labelspace.criteria import Criterion
from labelspace.criteria.inputs import Product
from labelspace.criteria.known import known
from labelspace.criteria.maths import Maths
from labelspace.criteria.products import product
from labelspace.criteria.wide import Wide
from results import HERE, keep_memory, write


class Nothing(torch.autograd.Function):
    """An autograd function in Python that computes nothing."""

    @staticmethod
    def forward(ctx: Any, output: Tensor) -> Tensor:
        """Return a zero."""
        ctx.save_for_backward(output)
        return output.new_zeros(())

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        """Return what is there."""
        return ctx.saved_tensors[0]  # type: ignore[no-any-return]


def nothing(classes: int) -> tuple[Criterion, Tensor]:
    """Return a criterion that computes nothing for two factors of labels, and gives them gradients all the same."""
    made = LearnableSmoothing(classes, rank=1)
    none = np.zeros((1, 1), dtype=np.float32)

    def quick(do: Maths[Any], *inputs: object) -> NDArray[Any]:
        for place in range(len(inputs)):
            do.gradient(place)
        return none

    factors = Product(made.label_factor, made.label_basis)
    made.summed = lambda output, y, share: known(quick, lambda *given: output, y, share, output, factors)  # type: ignore[method-assign]
    return made, made.label_factor


def products_of(numbers: Tensor, square: Tensor) -> Callable[[], object]:
    """Return a product with a matrix and one with it turned."""

    @torch.no_grad()
    def call() -> None:
        product(numbers, square)
        product(numbers, square.T)

    return call


def parts(classes: int, batch: int) -> dict[str, Callable[[], object]]:
    """Return what to time, by names."""
    output = torch.randn(batch, classes).requires_grad_()
    y, numbers = torch.randint(classes, (batch,)), torch.randn(batch, classes)
    features, head = torch.randn(batch, WIDTH), torch.randn(classes, WIDTH).requires_grad_()
    left, right = torch.randn(batch, WIDTH).requires_grad_(), torch.randn(classes, WIDTH).requires_grad_()
    wider = torch.randn(batch, 100).requires_grad_(), torch.randn(classes, 100).requires_grad_()
    words = np.random.default_rng(0).integers(0, 2**62, (batch, classes))
    wide, changed = Wide(slice(None), y), numbers.clone()

    def backward(loss: Callable[[], Tensor], *learned: Tensor) -> Callable[[], object]:
        def call() -> None:
            for each in learned:
                each.grad = None
            loss().backward()

        return call

    def both(one: Tensor, other: Tensor) -> Callable[[], object]:
        @torch.no_grad()
        def call() -> None:
            product(one, other.T)
            product(one.T, numbers)
            if one.requires_grad:
                product(numbers, other)

        return call

    criterion, learned = nothing(classes)

    found = {
        "F.cross_entropy": backward(lambda: cross_entropy(output, y), output),
        "a function in Python that does nothing": backward(lambda: Nothing.apply(output), output),  # type: ignore[no-untyped-call]
        "a criterion that computes nothing": backward(lambda: criterion(output, y), output, learned),
        "a softmax": lambda: torch.softmax(numbers, 1, out=changed),
        "a softmax, by its pieces": lambda: (wide.softmax(numbers), wide.done()),
        "a pass in place": lambda: changed.add_(numbers),
        "a pass into new memory": lambda: numbers * numbers,
        "a second head of 64 features": both(features, head),
        "a product with 64 × K numbers": both(left, right),
        "a product with 100 × K numbers": both(*wider),
        "a sort": lambda: np.sort(words, axis=1),
    }
    found |= {
        "LLS rank 64, its passes alone": least("lls rank 64", classes, batch),
        "zipf's ranks alone": ranks(classes, batch),
    }
    if classes <= 1000:
        found |= {
            "LLS, its passes alone": least("lls", classes, batch),
            "label embedding, its passes alone": least_of_heads(classes, batch),
            "OLS's sums alone": sums_of_right(classes, batch),
        }
        table, square = torch.randn(classes, classes).requires_grad_(), torch.randn(classes, classes)
        found["gradient of a K × K table"] = lambda: torch.ops.aten.embedding_dense_backward(
            numbers, y, classes, -1, False
        )
        found["rows of a K × K table"] = lambda: torch.embedding(table.detach(), y)
        found["two products with K × K numbers"] = products_of(numbers, square)
    return found


def in_a_step(seconds: float) -> dict[str, float]:
    """Return what a training step of a small head takes with parts of a loss in place of one, beside a plain step."""
    make, x = networks()["head 64-128-10"]
    y = torch.randint(10, (len(x),))
    nets = [make() for _ in range(4)]
    criterion, _ = nothing(10)
    more = torch.nn.Parameter(torch.zeros(10, 10))

    def with_more() -> Tensor:
        more.grad = torch.zeros(10, 10)
        return cross_entropy(nets[2](x)[0], y)

    found = {
        "F.cross_entropy": training(lambda: cross_entropy(nets[0](x)[0], y), nets[0].parameters()),
        "a function in Python that does nothing": training(lambda: Nothing.apply(nets[1](x)[0]), nets[1].parameters()),  # type: ignore[no-untyped-call]
        "one more parameter": training(with_more, [*nets[2].parameters(), more]),
        "a criterion that computes nothing": training(
            lambda: criterion(nets[3](x)[0], y), [*nets[3].parameters(), *criterion.parameters()]
        ),
    }
    return {each.name: round(each.ratio, 3) for each in summarised(interleaved(found, seconds=seconds), 10)}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", default="10,100,1000,10000")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--record", action="store_true", help="write results/floors.csv anew")
    options = parser.parse_args(arguments)
    keep_memory()
    torch.set_num_threads(1)
    rows: dict[str, dict[str, object]] = {}
    for classes in map(int, options.classes.split(",")):
        timings = summarised(interleaved(parts(classes, options.batch), seconds=options.seconds), classes)
        for each in timings:
            rows.setdefault(each.name, {"part": each.name})[f"K={classes}"] = round(each.ratio, 3)
        rows.setdefault("microseconds", {"part": "microseconds of F.cross_entropy"})[f"K={classes}"] = round(
            timings[0].microseconds, 1
        )
    for name, ratio in in_a_step(options.seconds).items():
        rows.setdefault(name, {"part": name})["step of a head"] = ratio
    for row in rows.values():
        print(*row.values(), sep="  ")
    if options.record:
        names = list(rows[PLAIN])
        write(HERE / "results" / "floors.csv", [{**dict.fromkeys(names), **row} for row in rows.values()])


if __name__ == "__main__":
    main()

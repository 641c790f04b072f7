"""What the parts of a loss take by themselves, in ``F.cross_entropy``: what no way to write them can do without.

Run: python benchmarks/floors.py [--classes 10,100,1000] [--record]. One thread, CPU time, all take turns.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from least import least, ranks, sums_of_right
from torch import Tensor
from torch.nn.functional import cross_entropy, linear

from labelspace.analysis.timing import WIDTH, interleaved, summarised
from labelspace.criteria.maths import Wide
from results import HERE, write


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


def parts(classes: int, batch: int) -> dict[str, Callable[[], object]]:
    """Return what to time, by names."""
    output = torch.randn(batch, classes).requires_grad_()
    y, numbers = torch.randint(classes, (batch,)), torch.randn(batch, classes)
    features, head = torch.randn(batch, WIDTH), torch.randn(classes, WIDTH).requires_grad_()
    left, right = torch.randn(batch, WIDTH).requires_grad_(), torch.randn(classes, WIDTH).requires_grad_()
    words = np.random.default_rng(0).integers(0, 2**62, (batch, classes))
    wide, changed = Wide(slice(None), y), numbers.clone()

    def backward(loss: Callable[[], Tensor], *learned: Tensor) -> Callable[[], object]:
        def call() -> None:
            for each in learned:
                each.grad = None
            loss().backward()

        return call

    def product(one: Tensor, other: Tensor) -> Callable[[], object]:
        def call() -> None:
            one.grad = other.grad = None
            linear(one, other).backward(numbers)

        return call

    found = {
        "F.cross_entropy": backward(lambda: cross_entropy(output, y), output),
        "a function in Python that does nothing": backward(lambda: Nothing.apply(output), output),  # type: ignore[no-untyped-call]
        "a softmax, by its pieces": lambda: (wide.softmax(numbers), wide.done()),
        "a pass in place": lambda: changed.add_(numbers),
        "a pass into new memory": lambda: numbers * numbers,
        "a second head of 64 features": product(features, head),
        "a product with 64 × K numbers": product(left, right),
        "a sort": lambda: np.sort(words, axis=1),
    }
    found |= {
        "LLS rank 64, its passes alone": least("lls rank 64", classes, batch),
        "zipf's ranks alone": ranks(classes, batch),
    }
    if classes <= 1000:
        found |= {
            "LLS, its passes alone": least("lls", classes, batch),
            "OLS's sums alone": sums_of_right(classes, batch),
        }
        table, square = torch.randn(classes, classes).requires_grad_(), torch.randn(classes, classes)
        found["gradient of a K × K table"] = lambda: torch.ops.aten.embedding_dense_backward(
            numbers, y, classes, -1, False
        )
        found["rows of a K × K table"] = lambda: torch.embedding(table.detach(), y)
        found["two products with K × K numbers"] = lambda: (numbers @ square, numbers @ square.T)
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", default="10,100,1000,10000")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--record", action="store_true", help="write results/floors.csv anew")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    rows: dict[str, dict[str, object]] = {}
    for classes in map(int, options.classes.split(",")):
        timings = summarised(interleaved(parts(classes, options.batch), seconds=options.seconds), classes)
        for each in timings:
            rows.setdefault(each.name, {"part": each.name})[f"K={classes}"] = round(each.ratio, 3)
        rows.setdefault("microseconds", {"part": "microseconds of F.cross_entropy"})[f"K={classes}"] = round(
            timings[0].microseconds, 1
        )
    for row in rows.values():
        print(*row.values(), sep="  ")
    if options.record:
        names = list(next(iter(rows.values())))
        write(HERE / "results" / "floors.csv", [{**dict.fromkeys(names), **row} for row in rows.values()])


if __name__ == "__main__":
    main()

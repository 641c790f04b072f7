"""Losses with nothing around them: the passes of one batch, one after the other, in memory that is there already.

No autograd, no checks, no labels to be left out; every pass is numpy's or torch's, whichever is quicker here. What they
compute is compared with the method's own loss and gradients before it is timed by ``floors.py``.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.testing import assert_close

from labelspace import LearnableSmoothing
from labelspace.analysis.timing import built
from labelspace.criteria import Criterion

Array = NDArray[Any]
RANK = 64


class Learnt:
    """Half of both divergences of p from ``t = (1−α)·δ_y + r``, ``r = α·softmax(Q[y])``; gradients by z and Q[y].

    With ``M = log t − log p`` and h half of a sample's share that by z is ``h·(p·(Σ p·M − M + 1) − t)``; that by Q[y]
    is ``h·(r·(M + (1 − l − Σ r·M)/α) − p)``, and h·l more at the class, where ``l = (1−α)·p_y/t_y``.

    Args:
        count: samples.
        classes: K.
        alpha: α.
    """

    def __init__(self, count: int, classes: int, alpha: float) -> None:
        """Take all memory that is needed."""
        self.by_output, self.p, self.r = (np.empty((count, classes), np.float32) for _ in range(3))
        self.ones, self.starts = np.ones(classes, np.float32), np.arange(0, count * classes, classes)
        self.alpha, self.half = alpha, 0.5 / count

    def __call__(self, z: Tensor, rows: Tensor, y: Array) -> float:
        """Return the loss; ``rows`` become their own gradient."""
        m, p, r = rows.numpy(), torch.from_numpy(self.p), torch.from_numpy(self.r)
        by_output, alpha, half, places = torch.from_numpy(self.by_output), self.alpha, self.half, self.starts + y
        torch.sub(z, z.amax(1, True), out=by_output)
        np.exp(self.by_output, out=self.p)
        total = np.vecdot(self.p, self.ones)[:, None]
        rows.sub_(rows.amax(1, True))
        np.exp(m, out=self.r)
        learnt = np.vecdot(self.r, self.ones)[:, None]
        p.mul_(torch.from_numpy(1 / total))
        r.mul_(torch.from_numpy(alpha / learnt))
        own, log_learnt = self.r.reshape(-1)[places] + (1 - alpha), np.log(learnt) - math.log(alpha)
        flat = m.reshape(-1)
        flat[places] = np.log(own) + log_learnt[:, 0]
        rows.sub_(by_output)  # M but for what it has in common in a row, which cancels
        of_rest, across, mine = np.vecdot(self.r, m), np.vecdot(self.p, m), (1 - alpha) * flat[places]
        torch.mul(rows, -half, out=by_output).add_(torch.from_numpy((across + 1)[:, None] * np.float32(half)))
        by_output.mul_(p).sub_(r, alpha=half)
        self.by_output.reshape(-1)[places] -= half * (1 - alpha)
        lost = self.p.reshape(-1)[places] * ((1 - alpha) / own)
        rows.mul_(half).add_(torch.from_numpy((1 - lost - of_rest)[:, None] * np.float32(half / alpha)))
        rows.mul_(r).sub_(p, alpha=half)
        flat[places] += half * lost
        return float((of_rest + mine - across).sum() * half)


def least(name: str, classes: int, batch: int) -> Callable[[], object]:
    """Return LLS with nothing around it, compared with the method itself."""
    method = built(name.split()[0], classes, {"rank": RANK} if "rank" in name else {})
    assert isinstance(method, LearnableSmoothing)
    with torch.no_grad():
        for learned in method.parameters():
            learned.normal_(generator=torch.Generator().manual_seed(1)).mul_(0.5)
    output = torch.randn(batch, classes).requires_grad_()
    y, alpha = torch.randint(classes, (batch,)), method.smoothing.item()
    own, z, labels = Learnt(batch, classes, alpha), output.detach(), y.numpy()
    learned = [each.detach() for each in method.parameters()]
    rows, gradients = torch.empty(batch, classes), [torch.empty_like(each) for each in learned]
    thin, by_thin = torch.empty(batch, RANK), torch.empty(batch, RANK)

    def of_table() -> float:
        torch.index_select(learned[0], 0, y, out=rows)
        loss = own(z, rows, labels)
        gradients[0].zero_().index_add_(0, y, rows)
        return loss

    def of_factors() -> float:
        torch.index_select(learned[0], 0, y, out=thin)
        torch.mm(thin, learned[1], out=rows)
        loss = own(z, rows, labels)
        torch.mm(rows, learned[1].T, out=by_thin)
        torch.mm(thin.T, rows, out=gradients[1])
        gradients[0].zero_().index_add_(0, y, by_thin)
        return loss

    call = of_factors if "rank" in name else of_table
    _compare(method, output, y, call(), [torch.from_numpy(own.by_output), *gradients])
    return call


def _compare(method: Criterion, output: Tensor, y: Tensor, loss: float, gradients: list[Tensor]) -> None:
    expected = method(output, y)
    expected.backward()
    assert_close(torch.tensor(loss), expected.detach(), rtol=1e-4, atol=1e-5)
    for mine, learned in zip(gradients, [output, *method.parameters()], strict=True):
        assert learned.grad is not None
        assert_close(mine, learned.grad, rtol=1e-3, atol=1e-6)


def sums_of_right(classes: int, batch: int) -> Callable[[], object]:
    """Return what OLS adds to its sums with every batch, by the functions that do it."""
    z, y = torch.randn(batch, classes).numpy(), torch.randint(classes, (batch,)).numpy()
    sums, counts, seen = torch.zeros(classes, classes), torch.zeros(classes), torch.zeros(())

    def call() -> None:
        places = (z.argmax(axis=1) == y).nonzero()[0]
        e = z.take(places, axis=0)
        e -= e.max(axis=1, keepdims=True)
        np.exp(e, out=e)
        e /= e.sum(axis=1, keepdims=True)
        rows = torch.from_numpy(y.take(places))
        sums.index_add_(0, rows, torch.from_numpy(e))
        counts.index_add_(0, rows, torch.ones(len(places)))
        seen.add_(float(np.count_nonzero(y >= 0)))

    return call


def ranks(classes: int, batch: int) -> Callable[[], object]:
    """Return what finds ``1/rank`` of every score by one sort of words, where no two are equal."""
    orders = [torch.randperm(classes) - classes // 2 for _ in range(batch)]
    z, mass = torch.stack(orders).float() + 0.5, torch.empty(batch, classes)
    step = max(1, 2**18 // classes)
    words = torch.empty(min(step, batch), classes, dtype=torch.float64)
    in_order, rising = torch.arange(classes), 1 / torch.arange(classes, 0, -1)

    def call() -> None:
        for start in range(0, batch, step):
            found = mass[start : start + step]
            word, single = words[: len(found)], found.numpy()
            numbers, places = word.copy_(z[start : start + step]).numpy(), word.view(torch.int64)
            np.add(numbers, 2.0**-1000, out=numbers)
            torch.bitwise_or(places, in_order, out=places)
            numbers.sort(axis=1)
            np.copyto(single, numbers, casting="same_kind")
            flat, bits = single.reshape(-1), places.numpy()
            assert not (flat[1:] == flat[:-1]).any()
            np.bitwise_and(bits, 2**28 - 1, out=bits)
            found.scatter_(1, places, rising.expand_as(found))

    call()
    expected = 1 / (1 + (-z).argsort(dim=1).argsort(dim=1).float())
    assert_close(mass, expected)
    return call

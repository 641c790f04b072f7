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

from labelspace import LabelEmbedding, LearnableSmoothing
from labelspace.analysis.timing import WIDTH, built
from labelspace.criteria import Criterion
from labelspace.criteria.products import product

Array = NDArray[Any]
RANK = 64


class Learnt:
    """Half of both divergences of p from ``t = (1−α)·δ_y + α·q``, ``q = softmax(Q[y])``; gradients by z and Q[y].

    With ``M = log t − log p`` and h half of a sample's share that by z is ``h·(p·(Σ p·M − M + 1) − t)``; that by Q[y]
    is ``h·(α·q·(M + (1 − l − Σ α·q·M)/α) − p)``, and h·l more at the class, where ``l = (1−α)·p_y/t_y``. What M has in
    common in a row cancels: it is made of z and Q[y] as they are.

    Args:
        count: samples.
        classes: K.
        alpha: α.
    """

    def __init__(self, count: int, classes: int, alpha: float) -> None:
        """Take all memory that is needed."""
        self.by_output, self.p, self.q = (torch.empty(count, classes) for _ in range(3))
        self.starts = np.arange(0, count * classes, classes)
        self.alpha, self.half = alpha, np.float32(0.5 / count)

    def __call__(self, z: Tensor, rows: Tensor, y: Array) -> float:
        """Return the loss; ``rows`` become their own gradient."""
        m, alpha, half, places = rows, self.alpha, self.half, self.starts + y
        p, q = torch.softmax(z, 1, out=self.p), torch.softmax(rows, 1, out=self.q)
        p_own, q_own, flat = (each.numpy().reshape(-1) for each in (p, q, m))
        p_own, q_own = p_own[places], q_own[places]
        own = q_own * alpha + np.float32(1 - alpha)
        torch.sub(rows, z, out=m)
        flat[places] += np.log(own / q_own) - math.log(alpha)
        of_rest, across = np.vecdot(q.numpy(), m.numpy()), np.vecdot(p.numpy(), m.numpy())
        value = (alpha * of_rest + (1 - alpha) * flat[places] - across).sum() * half
        lost = p_own * ((1 - alpha) / own)
        p.mul_(-half.item())
        q.mul_(-half.item() * alpha)
        m.sub_(_column(1 + across))
        torch.addcmul(q, p, m, out=self.by_output)
        self.by_output.numpy().reshape(-1)[places] -= half * np.float32(1 - alpha)
        m.add_(_column((1 - lost) / alpha - of_rest + across + 1))
        torch.addcmul(p, q, m, value=-1, out=m)
        flat[places] += half * lost
        return float(value)


def _column(numbers: Array) -> Tensor:
    return torch.from_numpy(numbers.astype(np.float32, copy=False)).unsqueeze(1)


def least(name: str, classes: int, batch: int) -> Callable[[], object]:
    """Return LLS with nothing around it, compared with the method itself."""
    method = built(name.split()[0], classes, {"rank": RANK} if "rank" in name else {})
    assert isinstance(method, LearnableSmoothing)
    _drawn(method)
    output = torch.randn(batch, classes).requires_grad_()
    y, alpha = torch.randint(classes, (batch,)), method.smoothing.item()
    own, z, labels = Learnt(batch, classes, alpha), output.detach(), y.numpy()
    learned = [each.detach() for each in method.parameters()]
    rows, gradients = torch.empty(batch, classes), [torch.empty_like(each) for each in learned]
    thin = torch.empty(batch, RANK)

    def of_table() -> float:
        torch.index_select(learned[0], 0, y, out=rows)
        loss = own(z, rows, labels)
        gradients[0].zero_().index_add_(0, y, rows)
        return loss

    @torch.no_grad()
    def of_factors() -> float:
        torch.index_select(learned[0], 0, y, out=thin)
        made = product(thin, learned[1])
        loss = own(z, made, labels)
        gradients[1] = product(thin.T, made)
        gradients[0].zero_().index_add_(0, y, product(made, learned[1].T))
        return loss

    call = of_factors if "rank" in name else of_table
    loss = call()
    _compare(method, output, y, {}, loss, [own.by_output, *gradients])
    return call


def _drawn(method: Criterion) -> None:
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for learned in method.parameters():
            learned.normal_(generator=generator).mul_(0.5)


class Heads:
    """The five terms of a label embedding network, τ being 2: gradients by z1, z2 and E[y], and by the second head.

    Args:
        count: samples.
        classes: K.
        cap: of the hinge.
    """

    def __init__(self, count: int, classes: int, cap: float) -> None:
        """Take all memory that is needed."""
        self.by_output, self.soft, self.q, self.by_second = (torch.empty(count, classes) for _ in range(4))
        self.starts, self.share, self.cap = np.arange(0, count * classes, classes), 1 / count, cap

    def __call__(self, z: Tensor, second: Tensor, rows: Tensor, y: Array) -> float:
        """Return the loss; ``rows`` become their own gradient."""
        share, places = self.share, self.starts + y
        right = second.numpy().argmax(axis=1) == y
        counted = (right / max(1, np.count_nonzero(right))).astype(np.float32)
        p, soft = torch.softmax(z, 1, out=self.by_output), torch.softmax(rows, 1, out=self.soft)
        q = torch.softmax(torch.mul(second, 0.5, out=self.q), 1, out=self.q)
        other, total = torch.mul(q, q, out=self.by_second), np.vecdot(q.numpy(), q.numpy())
        at = [each.numpy().reshape(-1)[places] for each in (z, p, rows, soft, other)]
        lack, of_label, sure = at[0] - np.log(at[1]), at[2] - np.log(at[3]), at[4] / total
        expected, told = np.vecdot(soft.numpy(), z.numpy()), np.vecdot(q.numpy(), rows.numpy())
        excess = np.maximum(sure - self.cap, 0)
        value = ((2 * lack - at[0] - expected - np.log(sure) + excess) * share + (of_label - told) * counted).sum()
        slope = sure * (sure >= self.cap)
        p.mul_(2 * share).add_(soft, alpha=-share)
        p.numpy().reshape(-1)[places] -= np.float32(share)
        other.mul_(_column((1 - slope) / total * share))
        other.numpy().reshape(-1)[places] += (slope - 1) * share
        torch.mul(soft, _column(counted), out=rows).addcmul_(q, _column(-counted))
        return float(value)


def least_of_heads(classes: int, batch: int) -> Callable[[], object]:
    """Return a label embedding network's loss with nothing around it, compared with the method itself."""
    method = built("labelemb", classes, {})
    assert isinstance(method, LabelEmbedding)
    _drawn(method)
    output, features = torch.randn(batch, classes).requires_grad_(), torch.randn(batch, WIDTH)
    y, own = torch.randint(classes, (batch,)), Heads(batch, classes, method.cap.item())
    z, labels, rows = output.detach(), y.numpy(), torch.empty(batch, classes)
    weight, bias, table = (
        each.detach() for each in (method.second_head.weight, method.second_head.bias, method.embedding)
    )
    gradients = {name: torch.empty_like(each) for name, each in method.named_parameters()}

    @torch.no_grad()
    def call() -> float:
        torch.index_select(table, 0, y, out=rows)
        loss = own(z, product(features, weight.T, bias), rows, labels)
        gradients["embedding"].zero_().index_add_(0, y, rows)
        np.copyto(gradients["second_head.weight"].numpy(), product(features.T, own.by_second).numpy().T)
        torch.sum(own.by_second, 0, out=gradients["second_head.bias"])
        return loss

    loss = call()
    _compare(method, output, y, {"features": features}, loss, [own.by_output, *gradients.values()])
    return call


def _compare(
    method: Criterion, output: Tensor, y: Tensor, extras: dict[str, Tensor], loss: float, gradients: list[Tensor]
) -> None:
    expected = method(output, y, **extras)
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

"""Losses of whole batches with their gradients, computed together: what a training step on a CPU costs.

Each function returns ``Σ share·values`` of the per-sample losses in ``divergences`` for tensors whose values can be
looked at. The gradient is made along with the loss, where softmax is at hand anyway, and kept for ``backward``, which
then is one product. Such a gradient does not know how it depends on the inputs; where somebody asks for second
derivatives (``create_graph=True``) ``backward`` goes through the per-sample form instead, which does. Results need not
be finite: a caller takes the per-sample form where they are not.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor

from labelspace.criteria import divergences
from labelspace.criteria.targets import Share

if TYPE_CHECKING:

    class Context(Protocol):
        """What autograd hands from ``forward`` to ``backward``."""

        saved_tensors: tuple[Tensor, ...]
        needs_input_grad: tuple[bool, ...]
        how: "How"
        gradients: Sequence[Tensor]

        def save_for_backward(self, *tensors: Tensor) -> None:
            """Keep tensors for ``backward``."""

else:
    Context = object

NEVER = torch.iinfo(torch.int64).min  # no label: ignored samples are left out before
Quick = Callable[..., tuple[Tensor, Sequence[Tensor]]]
How = tuple[Quick, Callable[..., Tensor], Share]


def known(quick: Quick, careful: Callable[..., Tensor], share: Share, *inputs: Tensor) -> Tensor:
    """Return ``Σ share·values`` with gradients that are computed along with it.

    Args:
        quick: gives values ``(n,)``, and in the order of the inputs the gradients of each sample's own value.
        careful: gives the values of the same inputs, differentiable as often as one likes.
        share: of each sample.
        inputs: what gradients are taken by.
    """
    if not torch.is_grad_enabled():
        return _total(quick(*inputs)[0], share)
    loss = _Known.apply((quick, careful, share), *inputs)  # type: ignore[no-untyped-call]
    assert isinstance(loss, Tensor)
    return loss


def _total(values: Tensor, share: Share) -> Tensor:
    if isinstance(share, Tensor):
        return torch.dot(values, share)
    return values.sum().mul_(share)


class _Known(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Context, how: How, *inputs: Tensor) -> Tensor:
        ctx.how = how
        ctx.save_for_backward(*inputs)
        values, ctx.gradients = how[0](*inputs)
        return _total(values, how[2])

    @staticmethod
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor | None, ...]:
        _, careful, share = ctx.how
        if not torch.is_grad_enabled():
            gradient = gradient * (share.unsqueeze(1) if isinstance(share, Tensor) else share)
            return None, *[gradient * each for each in ctx.gradients]
        inputs, needed = ctx.saved_tensors, ctx.needs_input_grad[1:]
        wanted = [each for each, asked in zip(inputs, needed, strict=True) if asked]
        loss = (careful(*inputs) * share).sum()
        found = iter(torch.autograd.grad(loss, wanted, gradient, create_graph=True))
        return None, *[next(found) if asked else None for asked in needed]


def cross_entropy(output: Tensor, y: Tensor, share: Share) -> Tensor:
    """Return ``Σ share·H(y, p)`` as torch computes it.

    Args:
        output: ``(n, K)``.
        y: class indices, of which one that is no class is an IndexError; or targets ``(n, K)`` of any mass.
        share: of each sample.
    """
    if isinstance(share, Tensor):
        return torch.dot(torch.nn.functional.cross_entropy(output, y, ignore_index=NEVER, reduction="none"), share)
    loss = torch.nn.functional.cross_entropy(output, y, ignore_index=NEVER)
    return loss if share * y.shape[0] == 1 else loss * (share * y.shape[0])


def learnt_terms(
    output: Tensor, logits: Tensor, y: Tensor, smoothing: Tensor, coefficients: Tensor, share: Share
) -> Tensor:
    """Return ``Σ share·values`` of ``divergences.learnt_terms``, whose letters and derivation are these too."""
    alpha, (first, second, third, fourth), column = smoothing.item(), coefficients.tolist(), y.unsqueeze(1)

    def quick(output: Tensor, logits: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        log_p, log_t = torch.log_softmax(output, dim=1), torch.log_softmax(logits, dim=1)
        p, q, chosen = log_p.exp(), log_t.exp(), log_t.gather(1, column)
        mine = chosen.exp().mul_(alpha)
        own = mine + (1 - alpha)
        log_t.add_(math.log(alpha)).scatter_(1, column, own.log())
        target = (q * alpha).scatter_(1, column, own)
        inner = (log_p * third).sub_(log_t, alpha=fourth).mul_(p)
        mean = inner.sum(dim=1, keepdim=True)
        outer = log_t.mul_(first).sub_(log_p, alpha=second).mul_(target)
        values = outer.sum(dim=1) + mean.squeeze(1)
        to_output = inner.addcmul_(p, mean - second, value=-1).sub_(target, alpha=second)
        by_log_t = outer.add_(target, alpha=first).sub_(p, alpha=fourth)
        by_log_t.scatter_(1, column, by_log_t.gather(1, column) * mine / own)
        return values, [to_output, by_log_t.addcmul_(q, by_log_t.sum(dim=1, keepdim=True), value=-1)]

    def careful(output: Tensor, logits: Tensor) -> Tensor:
        return divergences.learnt_terms(output, logits, y, smoothing, coefficients)

    return known(quick, careful, share, output, logits)


def focal(output: Tensor, y: Tensor, gamma: float, share: Share, careful: Callable[[Tensor], Tensor]) -> Tensor:
    """Return ``−Σ share·(1−p_y)^γ·log p_y``.

    With ``d = z_y − log Σ_{j≠y} e^{z_j}``, ``p_y = σ(d)`` and ``1 − p_y = σ(−d)``, neither of which loses digits. The
    derivative by d is ``(1−p)^γ·(γ·p·log p − (1−p))``, that of d by z is ``δ_y − q``, q the softmax of the others.
    """
    column = y.unsqueeze(1)

    def quick(output: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        margin, others = _margin(output, column)
        log_p, log_rest = (torch.nn.functional.logsigmoid(each) for each in (margin, -margin))
        damping = torch.exp(gamma * log_rest)
        slope = damping * (gamma * log_p.exp() * log_p - log_rest.exp())
        gradient = others.mul_(-slope).scatter_(1, column, slope)
        return -(damping * log_p).squeeze(1), [gradient]

    return known(quick, careful, share, output)


def _margin(output: Tensor, column: Tensor) -> tuple[Tensor, Tensor]:
    """Return how far the class is ahead of all others together, ``(n, 1)``, and the softmax of the others."""
    others = output.scatter(1, column, -torch.inf)
    # the lowest number there is for nobody: a class alone, or with all others ruled out
    together = torch.logsumexp(others, dim=1, keepdim=True).clamp_min(torch.finfo(output.dtype).min)
    return output.gather(1, column) - together, others.sub_(together).exp_()


def confident(output: Tensor, y: Tensor, strength: float, share: Share, careful: Callable[[Tensor], Tensor]) -> Tensor:
    """Return ``Σ share·(−log p_y + β·Σ_k p_k log p_k)``; by z: ``p − δ_y + β·p·(log p − Σ p log p)``."""
    column = y.unsqueeze(1)

    def quick(output: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        log_p = torch.log_softmax(output, dim=1)
        own, p = log_p.gather(1, column), log_p.exp()
        mass = log_p.mul_(p)
        entropy = mass.sum(dim=1, keepdim=True)
        gradient = torch.addcmul(mass.mul_(strength), p, 1 - strength * entropy, out=mass)
        return (strength * entropy - own).squeeze(1), [gradient.scatter_add_(1, column, torch.full_like(own, -1.0))]

    return known(quick, careful, share, output)


def ranked(
    output: Tensor, y: Tensor, mass: Tensor, strength: float, share: Share, careful: Callable[[Tensor], Tensor]
) -> Tensor:
    """Return ``Σ share·(−log p_y + λ·KL(t ‖ q))``, q the softmax of the other classes and t their mass, made one.

    ``p_j = q_j·(1−p_y)``, so one softmax serves both: by ``z_j`` it is ``q_j·(1−p_y+λ) − λ·t_j``, by ``z_y``
    ``p_y − 1``.

    Args:
        output: ``(n, K)``, all finite.
        y: class indices.
        mass: of every class, constant; what the class itself has does not count.
        strength: λ.
        share: of each sample.
        careful: gives the values, differentiable.
    """
    column = y.unsqueeze(1)

    def quick(output: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        log_q = torch.log_softmax(output.scatter(1, column, torch.finfo(output.dtype).min), dim=1)
        target = mass.scatter(1, column, 0)
        target /= target.sum(dim=1, keepdim=True)
        across = torch.xlogy(target, target).sub_(target * log_q).sum(dim=1)
        q = log_q.exp_().scatter_(1, column, 0)
        margin, _ = _margin(output, column)
        rest = torch.sigmoid(-margin)
        gradient = q.mul_(rest + strength).sub_(target, alpha=strength).scatter_(1, column, -rest)
        return across.mul_(strength).sub_(torch.nn.functional.logsigmoid(margin).squeeze(1)), [gradient]

    return known(quick, careful, share, output)


def nearness(
    output: Tensor, y: Tensor, labels: Tensor, update: bool, through: bool, share: float, careful: Callable[..., Tensor]
) -> Tensor:
    """Return ``Σ share·(d_y + log Σ_k e^{−d_k})``, ``d_k = ‖z − ŷ_k‖``, ŷ of the classes in the batch their means.

    With ``w = (δ_y − p)/d`` the gradient by z is ``(Σ_k w_k)·z − Σ_k w_k·ŷ_k``, by ŷ_k
    ``(Σ_n w_nk)·ŷ_k − Σ_n w_nk·z_n``,
    which reaches the samples of class k in equal parts. Only classes of the batch are touched by it.

    Args:
        output: ``(n, D)``.
        y: class indices.
        labels: ``(K, D)``, those before this batch.
        update: whether classes of the batch get new ones.
        through: whether gradients go through the means.
        share: of each sample.
        careful: gives values weighed by their shares, differentiable.
    """
    column = y.unsqueeze(1)
    present, member, counts = y.unique(return_inverse=True, return_counts=True)  # type: ignore[no-untyped-call]

    def quick(output: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        # about the middle of the batch: far from zero the two parts of a gradient would lose digits to each other
        middle = output.mean(dim=0)
        output, new = output - middle, labels.to(output.dtype) - middle
        times = counts.to(output.dtype).unsqueeze(1)
        means = output.new_zeros(len(present), output.shape[1]).index_add_(0, member, output) / times
        if update:
            new = new.index_copy(0, present, means)
        distances = divergences.distances(output, new)
        log_p = torch.log_softmax(-distances, dim=1)
        values = log_p.gather(1, column).squeeze(1) * -share
        slope = log_p.exp_().neg_().scatter_add_(1, column, torch.ones_like(column, dtype=output.dtype)).mul_(share)
        slope = torch.where(distances > 1e-6, slope.div_(distances), 0)
        gradient = torch.addmm(slope.sum(dim=1, keepdim=True) * output, slope, new, alpha=-1)
        if update and through:
            mine = slope.index_select(1, present)
            to_means = mine.sum(dim=0).unsqueeze(1) * means - mine.T @ output
            gradient += (to_means / times).index_select(0, member)
        return values, [gradient]

    return known(quick, careful, 1.0, output)

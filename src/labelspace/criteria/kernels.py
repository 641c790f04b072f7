"""Losses of whole batches with their gradients, computed together: what a training step on a CPU costs.

Each function returns ``Σ share·values`` of the per-sample losses in ``divergences`` for tensors whose values can be
looked at. The gradient is made along with the loss, where softmax is at hand anyway, and kept for ``backward``, which
then is one product. Such a gradient does not know how it depends on the inputs; where somebody asks for second
derivatives (``create_graph=True``) ``backward`` goes through the per-sample form instead, which does. Results need not
be finite: a caller takes the per-sample form where they are not.
"""

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
How = tuple[Quick, Callable[..., Tensor], float]


def known(quick: Quick, careful: Callable[..., Tensor], factor: float, *inputs: Tensor) -> Tensor:
    """Return a loss whose gradients are computed with it.

    Args:
        quick: gives the loss and, in the order of the inputs, its gradients.
        careful: gives the same loss, differentiable as often as one likes.
        factor: of the loss and of the gradients, which ``quick`` leaves to this function.
        inputs: what gradients are taken by.
    """
    if not torch.is_grad_enabled():
        return quick(*inputs)[0].mul_(factor)
    loss = _Known.apply((quick, careful, factor), *inputs)  # type: ignore[no-untyped-call]
    assert isinstance(loss, Tensor)
    return loss


class _Known(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Context, how: How, *inputs: Tensor) -> Tensor:
        ctx.how = how
        ctx.save_for_backward(*inputs)
        loss, ctx.gradients = how[0](*inputs)
        return loss.mul_(how[2])

    @staticmethod
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor | None, ...]:
        _, careful, factor = ctx.how
        if not torch.is_grad_enabled():
            gradient = gradient * factor
            return None, *[gradient * each for each in ctx.gradients]
        inputs, needed = ctx.saved_tensors, ctx.needs_input_grad[1:]
        wanted = [each for each, asked in zip(inputs, needed, strict=True) if asked]
        found = iter(torch.autograd.grad(careful(*inputs) * factor, wanted, gradient, create_graph=True))
        return None, *[next(found) if asked else None for asked in needed]


def soft_cross_entropy(output: Tensor, target: Tensor, share: Share, mass: float | None = None) -> Tensor:
    """Return ``Σ share·H(t, p)`` for constant targets.

    Args:
        output: ``(n, K)``.
        target: ``(n, K)``, without gradient.
        share: of each sample.
        mass: of every target, if it is known.
    """
    target, factor = (target * share.unsqueeze(1), 1.0) if isinstance(share, Tensor) else (target, share)

    def quick(output: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        log_p = torch.log_softmax(output, dim=1)
        loss = torch.dot(target.view(-1), log_p.view(-1)).neg_()
        p = log_p.exp_()
        if mass != 1 or isinstance(share, Tensor):
            p.mul_(target.sum(dim=1, keepdim=True))
        return loss, [p.sub_(target)]

    def careful(output: Tensor) -> Tensor:
        return divergences.soft_cross_entropy(output, target).sum()

    return known(quick, careful, factor, output)


def cross_entropy(output: Tensor, y: Tensor, share: Share) -> Tensor:
    """Return ``Σ share·H(y, p)`` as torch computes it; a label that is no class is an IndexError."""
    if isinstance(share, Tensor):
        return torch.dot(torch.nn.functional.cross_entropy(output, y, ignore_index=NEVER, reduction="none"), share)
    loss = torch.nn.functional.cross_entropy(output, y, ignore_index=NEVER)
    return loss if share * y.shape[0] == 1 else loss * (share * y.shape[0])

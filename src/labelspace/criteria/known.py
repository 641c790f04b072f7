"""Functions whose gradient is made along with their values, for losses of whole batches.

Such a gradient does not know how it depends on the inputs; where somebody asks for second derivatives
(``create_graph=True``) ``backward`` goes through a form that does.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import torch
from torch import Tensor

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

SHORT = 32  # columns
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


class Softmax(NamedTuple):
    """What losses need of logits z with the largest m of each row, from one pass of exponentials."""

    shifted: Tensor  # z − m, (n, K)
    p: Tensor  # softmax, (n, K)
    log_total: Tensor  # log Σ e^{z−m}, (n, 1): log p = shifted − log_total
    top: Tensor  # m, (n, 1)


def softmax(output: Tensor) -> Softmax:
    """Return the softmax of rows and its logarithm in two parts, all of them new tensors.

    The logarithm is exact because the likeliest class has at least ``1/K``. Of short rows torch's softmax takes as
    long as its pieces together do twice.
    """
    top = output.amax(dim=1, keepdim=True)
    shifted = output - top
    if output.shape[1] <= SHORT:
        p = shifted.exp()
        total = p.sum(dim=1, keepdim=True)
        return Softmax(shifted, p.div_(total), total.log_(), top)
    p = torch.softmax(output, dim=1)
    return Softmax(shifted, p, p.amax(dim=1, keepdim=True).log_().neg_(), top)


def likeliest(output: Tensor) -> Tensor:
    """Return the class of the largest entry of each row, the first of equals; numpy is ten times as fast as torch."""
    return torch.from_numpy(output.detach().numpy().argmax(axis=1))

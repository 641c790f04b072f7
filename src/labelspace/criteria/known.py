"""Functions whose gradient is made along with their values, for losses of whole batches on a CPU.

Such a gradient does not know how it depends on the inputs; where somebody asks for second derivatives
(``create_graph=True``) ``backward`` goes through a form that does. The numbers are given away, so that nobody copies
them: a second ``backward`` of the same loss computes them again.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labelspace.criteria.maths import Narrow, Wide
from labelspace.criteria.targets import Share

if TYPE_CHECKING:

    class Context(Protocol):
        """What autograd hands from ``forward`` to ``backward``."""

        saved_tensors: tuple[Any, ...]
        needs_input_grad: tuple[bool, ...]
        how: "How"
        gradients: Sequence[Tensor | None] | None

        def save_for_backward(self, *tensors: Tensor | None) -> None:
            """Keep tensors for ``backward``."""

else:
    Context = object

FEW = 2**15  # numbers of an input up to which numpy is the faster one
AT_A_TIME = 2**18  # numbers of an input of which what lies between two passes stays in the cache


class How(NamedTuple):
    """How a loss is computed.

    Args:
        quick: gives values of samples, and writes the gradients of each sample's own value, times its share, where
            ``Maths.gradient`` says. It is handed ``Maths``, then the inputs of the samples that it is of: all of a
            small batch, some of a large one.
        careful: gives the values ``(n,)`` of all inputs, differentiable as often as one likes.
        y: class indices, where values are asked for what a sample has at its class.
        share: what each sample's value counts.
        whole: whether samples depend on each other, so that ``quick`` wants torch's numbers of all of them.
    """

    quick: Callable[..., Any]
    careful: Callable[..., Tensor]
    y: Tensor | None
    share: Share
    whole: bool


def known(
    quick: Callable[..., Any],
    careful: Callable[..., Tensor],
    y: Tensor | None,
    share: Share,
    *inputs: Tensor,
    whole: bool = False,
) -> Tensor:
    """Return ``Σ share·values`` with gradients that are computed along with it.

    Args:
        quick: as in ``How``.
        careful: as in ``How``.
        y: class indices.
        share: of each sample.
        inputs: ``(n, …)``, what gradients are taken by.
        whole: as in ``How``.
    """
    how = How(quick, careful, y, share, whole)
    if not torch.is_grad_enabled():
        return _computed(how, inputs, [False] * len(inputs))[0]
    loss = _Known.apply(how, *inputs)  # type: ignore[no-untyped-call]
    assert isinstance(loss, Tensor)
    return loss


class _Known(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Context, how: How, *inputs: Tensor) -> Tensor:
        ctx.how = how
        # what it is computed from again must be what it was: torch tells where saved tensors were written to
        ctx.save_for_backward(*inputs, how.y, how.share if isinstance(how.share, Tensor) else None)
        loss, ctx.gradients = _computed(how, inputs, ctx.needs_input_grad[1:])
        return loss

    @staticmethod
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            return None, *_differentiable(ctx, gradient)
        gradients, ctx.gradients = ctx.gradients, None
        if gradients is None:
            gradients = _computed(ctx.how, _inputs(ctx), ctx.needs_input_grad[1:])[1]
        try:
            factor = gradient.item()
        except RuntimeError:  # many gradients at once
            return None, *(None if each is None else each * gradient for each in gradients)
        if factor != 1:
            for each in gradients:
                if each is not None:
                    each.mul_(factor)
        return None, *gradients


def _inputs(ctx: Context) -> tuple[Tensor, ...]:
    *inputs, _, _ = ctx.saved_tensors
    return tuple(inputs)


def _differentiable(ctx: Context, gradient: Tensor) -> list[Tensor | None]:
    """Return gradients by the form that knows how they depend on the inputs."""
    inputs, needed = _inputs(ctx), ctx.needs_input_grad[1:]
    wanted = [each for each, asked in zip(inputs, needed, strict=True) if asked]
    loss = (ctx.how.careful(*inputs) * ctx.how.share).sum()
    found = iter(torch.autograd.grad(loss, wanted, gradient, create_graph=True))
    return [next(found) if asked else None for asked in needed]


def _computed(how: How, inputs: Sequence[Tensor], needed: Sequence[bool]) -> tuple[Tensor, Sequence[Tensor | None]]:
    """Return the loss and its gradients by the inputs."""
    with np.errstate(all="ignore"):  # what is not finite is the caller's to see
        if inputs[0].numel() <= FEW and not how.whole:
            return _at_once(how, inputs, needed)
        return _by_parts(how, inputs, needed)


def _at_once(how: How, inputs: Sequence[Tensor], needed: Sequence[bool]) -> tuple[Tensor, list[Tensor | None]]:
    do = Narrow(inputs[0], how.y, how.share)
    values = how.quick(do, *(do.given(each.detach()) for each in inputs))
    loss = np.add.reduce((values * do.share).reshape(-1))
    found = [do.taken(place) if asked else None for place, asked in enumerate(needed)]
    return torch.from_numpy(np.asarray(loss, dtype=values.dtype)), found


def _by_parts(how: How, inputs: Sequence[Tensor], needed: Sequence[bool]) -> tuple[Tensor, Sequence[Tensor | None]]:
    """Return them from some samples at a time."""
    count = inputs[0].shape[0]
    step = count if how.whole else max(1, AT_A_TIME // max(1, inputs[0].shape[1]))
    found = [torch.empty_like(each, memory_format=torch.contiguous_format) for each in inputs]
    losses = []
    for start in range(0, max(1, count), step):
        part = slice(start, start + step)
        do = Wide(part, how.y, how.share, [each[part] for each in found])
        try:
            values = how.quick(do, *(each[part] for each in inputs))
            losses.append((values * do.share).sum())
        finally:
            do.done()
    loss = losses[0] if len(losses) == 1 else torch.stack(losses).sum()
    return loss, [each if asked else None for each, asked in zip(found, needed, strict=True)]


def likeliest(output: Tensor) -> NDArray[np.intp]:
    """Return the class of the largest entry of each row, the first of equals; numpy is ten times as fast as torch."""
    found: NDArray[np.intp] = output.detach().resolve_neg().numpy().argmax(axis=1)
    return found

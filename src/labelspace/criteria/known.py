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

from labelspace.criteria.inputs import Made
from labelspace.criteria.maths import classes_of
from labelspace.criteria.narrow import Narrow
from labelspace.criteria.scratch import KINDS, LENT
from labelspace.criteria.targets import Share
from labelspace.criteria.wide import Wide

if TYPE_CHECKING:

    class Context(Protocol):
        """What autograd hands from ``forward`` to ``backward``."""

        saved_tensors: tuple[Any, ...]
        needs_input_grad: tuple[bool, ...]
        how: "How"
        gradients: Sequence[Tensor] | None
        kept: "Kept | None"  # of the first time

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
            small batch, some of a large one. Inputs that are made may lie where their gradient is to be.
        careful: gives the values ``(n,)`` of all inputs, differentiable as often as one likes.
        y: class indices, where values are asked for what a sample has at its class.
        share: what each sample's value counts.
        kinds: for each input, how it is made of tensors; None where it is one.
        survey: is shown the numbers of all inputs, of the whole batch, before ``quick`` is asked.
        whole: whether samples depend on each other, so that ``quick`` wants torch's numbers of all of them.
    """

    quick: Callable[..., Any]
    careful: Callable[..., Tensor]
    y: Tensor | None
    share: Share
    kinds: Sequence[type[Made] | None]
    survey: Callable[..., None] | None
    whole: bool


def known(
    quick: Callable[..., Any],
    careful: Callable[..., Tensor],
    y: Tensor | None,
    share: Share,
    *inputs: Tensor | Made,
    survey: Callable[..., None] | None = None,
    whole: bool = False,
) -> Tensor:
    """Return ``Σ share·values`` with gradients that are computed along with it.

    Args:
        quick: as in ``How``.
        careful: as in ``How``.
        y: class indices.
        share: of each sample.
        inputs: ``(n, …)``, what gradients are taken by, the output first; or what they are made of, beside which nobody
            may write to y any more: gradients go to the rows that were read.
        survey: as in ``How``.
        whole: as in ``How``.
    """
    if isinstance(share, Tensor):
        share = share.to(_tensors(inputs[:1])[0].dtype)
    kinds = [None if isinstance(each, Tensor) else type(each) for each in inputs] if len(inputs) > 1 else [None]
    how = How(quick, careful, y, share, kinds, survey, whole)
    if not torch.is_grad_enabled():
        return _computed(how, inputs)[0]
    # tensors once more by themselves, for autograd to know of them
    loss = _Known.apply(how, inputs, *_tensors(inputs))  # type: ignore[no-untyped-call]
    assert isinstance(loss, Tensor)
    return loss


def _tensors(inputs: Sequence[Tensor | Made]) -> list[Tensor]:
    found: list[Tensor] = []
    for each in inputs:
        if isinstance(each, Tensor):
            found.append(each)
        else:
            found.extend(each)
    return found


class Kept(NamedTuple):
    """What inputs were made of, for the first time that somebody goes back."""

    inputs: Sequence[Made | None]  # None where an input was not made
    looked_at: Sequence[tuple[Tensor, int]]  # tensors whose values that takes, and how often they were written to

    @classmethod
    def of(cls, inputs: Sequence[Tensor | Made]) -> "Kept":
        """Return it, without what they are made of themselves."""
        made = [None if isinstance(each, Tensor) else each for each in inputs]
        looked_at = [one for each in made if each is not None for one in each.looked_at()]
        kept = [None if each is None else type(each)(*(one.detach() for one in each)) for each in made]
        return cls(kept, [(one.detach(), one._version) for one in looked_at])

    def check(self) -> None:
        """Refuse to go back through what is another by now, in the words of torch."""
        if any(one._version != version for one, version in self.looked_at):
            text = "one of the variables needed for gradient computation has been modified by an inplace operation"
            raise RuntimeError(f"{text}: what labels or features are made of, between a loss and its gradients")


class _Known(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Context, how: How, inputs: Sequence[Tensor | Made], *tensors: Tensor) -> Tensor:
        ctx.how = how
        # what it is computed from again must be what it was: torch tells where saved tensors were written to
        ctx.save_for_backward(*tensors, how.y, how.share if isinstance(how.share, Tensor) else None)
        ctx.kept = Kept.of(inputs) if len(tensors) > 1 else None
        loss, ctx.gradients = _computed(how, inputs)
        return loss

    @staticmethod
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_autocast_enabled("cpu"):  # of the loss, not of whoever goes back
            with torch.autocast("cpu", enabled=False):
                return _gone_back(ctx, gradient)
        return _gone_back(ctx, gradient)


def _gone_back(ctx: Context, gradient: Tensor) -> tuple[Tensor | None, ...]:
    if torch.is_grad_enabled():
        return None, None, *_differentiable(ctx, gradient)
    gradients, ctx.gradients = ctx.gradients, None
    kept, ctx.kept = ctx.kept, None
    if gradients is None:
        inputs = _inputs(ctx.how, _saved(ctx))
        gradients, kept = _computed(ctx.how, inputs)[1], Kept.of(inputs)
    try:
        factor = gradient.item()
    except RuntimeError:  # many gradients at once
        with torch.enable_grad():
            return None, None, *_differentiable(ctx, gradient)
    if factor != 1:
        for each in gradients:
            each.mul_(factor)
    return None, None, *(gradients if kept is None else _of_tensors(ctx, kept, gradients))


def _saved(ctx: Context) -> tuple[Any, ...]:
    """Return the tensors that inputs are made of."""
    return ctx.saved_tensors[:-2]


def _inputs(how: How, each: Sequence[Any]) -> list[Any]:
    """Return what belongs to each input, of what there is for each tensor."""
    found, start = [], 0
    for kind in how.kinds:
        many = 1 if kind is None else len(kind._fields)
        found.append(each[start] if kind is None else kind(*each[start : start + many]))
        start += many
    return found


def _of_tensors(ctx: Context, kept: Kept, gradients: Sequence[Tensor]) -> list[Tensor | None]:
    """Return gradients by the tensors from those by the inputs."""
    kept.check()
    found: list[Tensor | None] = []
    for each, gradient in zip(kept.inputs, gradients, strict=True):
        if each is None:
            found.append(gradient)
        else:
            start = 2 + len(found)
            found += each.backward(ctx.how.y, gradient, ctx.needs_input_grad[start : start + len(each)])
    return found


def _differentiable(ctx: Context, gradient: Tensor) -> list[Tensor | None]:
    """Return gradients by the form that knows how they depend on the inputs."""
    tensors, needed = _saved(ctx), ctx.needs_input_grad[2:]
    wanted = [each for each, asked in zip(tensors, needed, strict=True) if asked]
    read = [each if isinstance(each, Tensor) else each.read(ctx.how.y) for each in _inputs(ctx.how, tensors)]
    loss = (ctx.how.careful(*read) * ctx.how.share).sum()
    found = iter(torch.autograd.grad(loss, wanted, gradient, create_graph=True))
    return [next(found) if asked else None for asked in needed]


def _computed(how: How, inputs: Sequence[Tensor | Made]) -> tuple[Tensor, list[Tensor]]:
    """Return the loss and its gradients by the inputs."""
    with np.errstate(all="ignore"):  # what is not finite is the caller's to see
        output = inputs[0]
        assert isinstance(output, Tensor)
        if is_small(output) and not how.whole:
            return _at_once(how, output, inputs)
        return _by_parts(how, output, inputs)


def _at_once(how: How, output: Tensor, inputs: Sequence[Tensor | Made]) -> tuple[Tensor, list[Tensor]]:
    do = Narrow(output, how.y, how.share)
    given = _read(how, inputs)
    values = how.quick(do, *[do.given(each) for each in given])
    loss = np.add.reduce((values * do.share).reshape(-1))
    return torch.from_numpy(np.asarray(loss, dtype=values.dtype)), [do.taken(place) for place in range(len(inputs))]


def _by_parts(how: How, output: Tensor, inputs: Sequence[Tensor | Made]) -> tuple[Tensor, list[Tensor]]:
    """Return them from some samples at a time."""
    count = output.shape[0]
    step = count if how.whole else max(1, AT_A_TIME // max(1, output.shape[1]))
    if how.y is not None and not how.whole:
        classes_of(how.y, output.shape[1])
    given = [each.resolve_neg() for each in _read(how, inputs)]
    found = [
        LENT.take(each.shape, each.dtype) if kind is None else each for each, kind in zip(given, how.kinds, strict=True)
    ]
    loss: Any = 0.0
    for start in range(0, max(1, count), step):
        part = slice(start, start + step)
        do = Wide(part, how.y, how.share, [each[part] for each in found])
        try:
            values = how.quick(do, *[each[part] for each in given])
            loss = loss + np.add.reduce((values * do.share).reshape(-1))
        finally:
            do.done()
    return torch.from_numpy(np.asarray(loss, dtype=KINDS[output.dtype])), found


def _read(how: How, inputs: Sequence[Tensor | Made]) -> list[Tensor]:
    """Return the numbers of the inputs."""
    found = [each.detach() if isinstance(each, Tensor) else each.read(how.y) for each in inputs]
    if how.survey is not None:
        how.survey(*found)
    return found


def is_small(output: Tensor) -> bool:
    """Return whether a batch is: what is said about its numbers costs more than what is done with them."""
    return output.numel() <= FEW


def likeliest(output: Tensor) -> NDArray[np.intp]:
    """Return the class of the largest entry of each row, the first of equals; numpy is ten times as fast as torch."""
    found: NDArray[np.intp] = output.detach().resolve_neg().numpy().argmax(axis=1)
    return found

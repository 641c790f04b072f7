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

from labelspace.criteria.maths import Narrow, Wide, classes_of
from labelspace.criteria.scratch import KINDS, LENT
from labelspace.criteria.targets import Share

if TYPE_CHECKING:

    class Context(Protocol):
        """What autograd hands from ``forward`` to ``backward``."""

        saved_tensors: tuple[Any, ...]
        needs_input_grad: tuple[bool, ...]
        how: "How"
        gradients: Sequence[Tensor | None] | None
        sizes: Sequence[int]

        def save_for_backward(self, *tensors: Tensor | None) -> None:
            """Keep tensors for ``backward``."""

else:
    Context = object

FEW = 2**15  # numbers of an input up to which numpy is the faster one
AT_A_TIME = 2**18  # numbers of an input of which what lies between two passes stays in the cache


class Table(NamedTuple):
    """An input of which each sample reads the row of its class.

    Args:
        rows: ``(K, …)``.
    """

    rows: Tensor


class How(NamedTuple):
    """How a loss is computed.

    Args:
        quick: gives values of samples, and writes the gradients of each sample's own value, times its share, where
            ``Maths.gradient`` says. It is handed ``Maths``, then the inputs of the samples that it is of: all of a
            small batch, some of a large one. Rows of a table may lie where their gradient is to be.
        careful: gives the values ``(n,)`` of all inputs, differentiable as often as one likes.
        y: class indices, where values are asked for what a sample has at its class.
        share: what each sample's value counts.
        tables: which of the inputs are tables ``(K, …)``, of which samples read the row of their class.
        whole: whether samples depend on each other, so that ``quick`` wants torch's numbers of all of them.
    """

    quick: Callable[..., Any]
    careful: Callable[..., Tensor]
    y: Tensor | None
    share: Share
    tables: tuple[int, ...]
    whole: bool


def known(
    quick: Callable[..., Any],
    careful: Callable[..., Tensor],
    y: Tensor | None,
    share: Share,
    *inputs: Tensor | Table,
    whole: bool = False,
) -> Tensor:
    """Return ``Σ share·values`` with gradients that are computed along with it.

    Args:
        quick: as in ``How``.
        careful: as in ``How``.
        y: class indices.
        share: of each sample.
        inputs: ``(n, …)``, what gradients are taken by, the output first; or tables with a row for each class, beside
            which nobody may write to y any more: gradients go to these rows.
        whole: as in ``How``.
    """
    tensors = [each.rows if isinstance(each, Table) else each for each in inputs]
    tables: tuple[int, ...] = ()
    if len(inputs) > 1:
        tables = tuple(place for place, each in enumerate(inputs) if isinstance(each, Table))
    if isinstance(share, Tensor):
        share = share.to(tensors[0].dtype)
    how = How(quick, careful, y, share, tables, whole)
    if not torch.is_grad_enabled():
        return _computed(how, tensors, [False] * len(inputs))[0]
    loss = _Known.apply(how, *tensors)  # type: ignore[no-untyped-call]
    assert isinstance(loss, Tensor)
    return loss


class _Known(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Context, how: How, *inputs: Tensor) -> Tensor:
        ctx.how = how
        # what it is computed from again must be what it was: torch tells where saved tensors were written to
        ctx.save_for_backward(*inputs, how.y, how.share if isinstance(how.share, Tensor) else None)
        ctx.sizes = [len(inputs[place]) for place in how.tables]
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
            many = [None if each is None else each * gradient for each in gradients]
            return None, *_of_tables(ctx.how, many, ctx.sizes, at_once=True)
        if factor != 1:
            for each in gradients:
                if each is not None:
                    each.mul_(factor)
        return None, *(_of_tables(ctx.how, gradients, ctx.sizes) if ctx.sizes else gradients)


def _inputs(ctx: Context) -> tuple[Tensor, ...]:
    *inputs, _, _ = ctx.saved_tensors
    return tuple(inputs)


def _read(how: How, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
    """Return what each sample has of every input: of tables the row of its class."""
    if how.y is None or not how.tables:
        return inputs
    return [torch.embedding(each, how.y) if place in how.tables else each for place, each in enumerate(inputs)]


def _of_tables(
    how: How, gradients: Sequence[Tensor | None], sizes: Sequence[int], at_once: bool = False
) -> list[Tensor | None]:
    """Return gradients by the inputs from those by what samples have of them: rows of tables add up."""
    found = list(gradients)
    for place, size in zip(how.tables, sizes, strict=True):
        each = gradients[place]
        if each is not None:
            assert how.y is not None
            shape, kind = (size, *each.shape[1:]), each.dtype
            if at_once:
                found[place] = torch.zeros(shape, dtype=kind).index_add(0, how.y, each)
            else:
                found[place] = LENT.take(shape, kind).zero_().index_add_(0, how.y, each)
    return found


def _differentiable(ctx: Context, gradient: Tensor) -> list[Tensor | None]:
    """Return gradients by the form that knows how they depend on the inputs."""
    inputs, needed = _inputs(ctx), ctx.needs_input_grad[1:]
    wanted = [each for each, asked in zip(inputs, needed, strict=True) if asked]
    loss = (ctx.how.careful(*_read(ctx.how, inputs)) * ctx.how.share).sum()
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
    given = [
        do.looked_up(each.detach()) if place in how.tables else do.given(each.detach())
        for place, each in enumerate(inputs)
    ]
    values = how.quick(do, *given)
    loss = np.add.reduce((values * do.share).reshape(-1))
    found = [do.taken(place) if asked else None for place, asked in enumerate(needed)]
    return torch.from_numpy(np.asarray(loss, dtype=values.dtype)), found


def _by_parts(how: How, inputs: Sequence[Tensor], needed: Sequence[bool]) -> tuple[Tensor, Sequence[Tensor | None]]:
    """Return them from some samples at a time."""
    count = inputs[0].shape[0]
    step = count if how.whole else max(1, AT_A_TIME // max(1, inputs[0].shape[1]))
    found = [LENT.take((count, *each.shape[1:]), each.dtype) for each in inputs]
    if how.y is not None and not how.whole:
        classes_of(how.y, inputs[0].shape[1])
    loss: Any = 0.0
    for start in range(0, max(1, count), step):
        part = slice(start, start + step)
        do = Wide(part, how.y, how.share, [each[part] for each in found])
        try:
            given = [
                do.looked_up(each.detach(), place) if place in how.tables else each[part].resolve_neg()
                for place, each in enumerate(inputs)
            ]
            values = how.quick(do, *given)
            loss = loss + np.add.reduce((values * do.share).reshape(-1))
        finally:
            do.done()
    return torch.from_numpy(np.asarray(loss, dtype=KINDS[inputs[0].dtype])), [
        each if asked else None for each, asked in zip(found, needed, strict=True)
    ]


def table(rows: Tensor, output: Tensor) -> Table | None:
    """Return a table that a kernel reads itself, which is a step less in autograd; None where it must not.

    Rows that are kept up to date as they are read (``labelspace.optim``), and rows of another dtype, are read outside.

    Args:
        rows: of all classes.
        output: what they meet.
    """
    plain = type(rows) is torch.nn.Parameter and rows.is_cpu and rows.dtype is output.dtype
    return Table(rows) if plain else None


def likeliest(output: Tensor) -> NDArray[np.intp]:
    """Return the class of the largest entry of each row, the first of equals; numpy is ten times as fast as torch."""
    found: NDArray[np.intp] = output.detach().resolve_neg().numpy().argmax(axis=1)
    return found

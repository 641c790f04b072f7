"""Parameters of which a training step touches a few rows: what the others have missed is made good before it is read.

A row that a batch does not meet has no gradient, but momentum moves it and weight decay shrinks it all the same. Both
are linear in the row p and its momentum v, so a missed step is one 2×2 matrix that is the same for all rows, and any
number of missed steps is the product of theirs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from labelspace import _checks, _distributed
from labelspace._devices import IN_CACHE

HISTORY = 1024  # steps after which all rows are brought up to date: what is remembered of them has an end


class Rule(NamedTuple):
    """How a step of SGD changes a row, in the words of ``torch.optim.SGD``."""

    lr: float
    momentum: float
    dampening: float
    weight_decay: float
    nesterov: float  # 1 or 0

    def missed(self, first: bool) -> list[list[float]]:
        """Return the 2×2 matrix of a step without a gradient on (row, momentum of the row).

        ``d = λp``; ``v' = μv + (1−τ)d``, without τ in the ``first`` step; ``p' = p − η·v'``, with Nesterov's momentum
        ``p − η·(d + μv')``.
        """
        if self.momentum == 0:
            return [[1 - self.lr * self.weight_decay, 0.0], [0.0, 1.0]]
        own, kept = (1.0 if first else 1 - self.dampening) * self.weight_decay, self.momentum
        ahead = kept if self.nesterov else 1.0
        decay = self.weight_decay if self.nesterov else 0.0
        return [[1 - self.lr * (decay + ahead * own), -self.lr * ahead * kept], [own, kept]]

    def waits(self) -> bool:
        """Return whether a gradient is only added to the momentum; over a small factor it would grow too large."""
        return self.momentum >= 0.5 and not self.nesterov


class Missed:
    """What rows have missed, and the momentum of all of them.

    Args:
        rows: how many there are.
        momentum: ``(rows, D)`` as of now; None before the first step that has one.
        keeper: whoever takes the steps.
    """

    def __init__(self, rows: int, momentum: Tensor | None, keeper: object) -> None:
        """Start with every row up to date."""
        self.momentum, self.keeper = momentum, id(keeper)
        self.taken = 0
        self.since = torch.zeros(rows, dtype=torch.int64)  # the last step that a row has taken
        self.products = torch.eye(2, dtype=torch.float64).repeat(HISTORY + 1, 1, 1)  # of the steps after each one

    def settle(self, parameter: Tensor, places: Tensor | None = None) -> None:
        """Bring rows up to date, all of them where none are named."""
        behind = self.since < self.taken
        if places is None:
            stale = behind.nonzero()[:, 0]
        else:
            places = places.reshape(-1).cpu()
            stale = places[behind[places]].unique()  # type: ignore[no-untyped-call]
        if not len(stale):
            return
        factors = self.products[self.since[stale]].to(parameter)
        with torch.no_grad():
            for part, factor in zip(_blocks(stale, parameter), _blocks(factors, parameter), strict=True):
                self._bring(parameter, part.to(parameter.device), factor)
        self.since[stale] = self.taken

    def _bring(self, parameter: Tensor, stale: Tensor, factors: Tensor) -> None:
        if self.momentum is None:
            parameter.index_copy_(0, stale, parameter.index_select(0, stale).mul_(factors[:, 0, :1]))
            return
        velocity = self.momentum.index_select(0, stale)
        if not bool(factors[:, 1, 0].any()):  # no step decayed: rows only follow their momentum
            parameter.index_add_(0, stale, velocity * factors[:, 0, 1:])
            self.momentum.index_copy_(0, stale, velocity.mul_(factors[:, 1, 1:]))
            return
        rows = parameter.index_select(0, stale)
        moved = (rows * factors[:, 0, :1]).addcmul_(velocity, factors[:, 0, 1:].expand_as(velocity))
        velocity.mul_(factors[:, 1, 1:]).addcmul_(rows, factors[:, 1, :1].expand_as(rows))
        parameter.index_copy_(0, stale, moved)
        self.momentum.index_copy_(0, stale, velocity)

    def step(self, parameter: Tensor, gradient: Tensor, rule: Rule) -> None:
        """Take a step with a sparse gradient: for its rows now, or when they are read next; for others then anyway."""
        places = gradient._indices()[0]
        self.settle(parameter, places)
        first = self.momentum is None
        if first and rule.momentum != 0:
            self.momentum = torch.zeros_like(parameter, memory_format=torch.preserve_format)
        if self.momentum is not None and rule.waits():
            # v' = μ·(v + (1−τ)·g/μ) + …: with that added to v the row only has one missed step more to make good
            share = (1.0 if first else 1 - rule.dampening) / rule.momentum
            self.momentum.index_add_(0, places, gradient._values().to(parameter.dtype), alpha=share)
            self._miss(rule, first)
        else:
            self._step_now(parameter, gradient.coalesce(), rule, first)
        if self.taken == HISTORY:
            self.settle(parameter)
            self.taken = 0
            self.since.zero_()
            self.products[0] = torch.eye(2, dtype=torch.float64)

    def _step_now(self, parameter: Tensor, gradient: Tensor, rule: Rule, first: bool) -> None:
        places, values = gradient.indices()[0], gradient.values()
        with torch.no_grad():
            for part, value in zip(_blocks(places, parameter), _blocks(values, parameter), strict=True):
                self._move(parameter, part, value.to(parameter.dtype), rule, first)
        if self._miss(rule, first):
            self.since[places.cpu()] = self.taken

    def _move(self, parameter: Tensor, places: Tensor, gradient: Tensor, rule: Rule, first: bool) -> None:
        """Take a step with some rows, in few passes over them."""
        if rule.weight_decay != 0:
            gradient = gradient.add(parameter.index_select(0, places), alpha=rule.weight_decay)
        if rule.momentum == 0 or self.momentum is None:
            parameter.index_add_(0, places, gradient, alpha=-rule.lr)
            return
        velocity = self.momentum.index_select(0, places).mul_(rule.momentum)
        velocity.add_(gradient, alpha=1.0 if first else 1 - rule.dampening)
        self.momentum.index_copy_(0, places, velocity)
        if rule.nesterov:
            parameter.index_add_(0, places, gradient, alpha=-rule.lr)
        parameter.index_add_(0, places, velocity, alpha=-rule.lr * (rule.momentum if rule.nesterov else 1.0))

    def _miss(self, rule: Rule, first: bool) -> bool:
        """Remember a step that rows without a gradient have missed; where it changes nothing there is nothing to."""
        matrix = torch.tensor(rule.missed(first), dtype=torch.float64)
        if bool((matrix == torch.eye(2, dtype=torch.float64)).all()):
            return False
        known = self.products[: self.taken + 1]
        torch.matmul(matrix, known.clone(), out=known)
        self.taken += 1
        self.products[self.taken] = torch.eye(2, dtype=torch.float64)
        return True


def _blocks(rows: Tensor, parameter: Tensor) -> tuple[Tensor, ...]:
    """Return what belongs to rows in parts that stay in a CPU's cache: large temporaries cost more than the step."""
    few = max(1, IN_CACHE // max(1, parameter.shape[1]))
    return torch.split(rows, few if parameter.device.type == "cpu" else max(1, len(rows)))


class LazyRows(nn.Parameter):
    """A parameter with rows that may have missed steps; whoever reads it in any way finds it up to date.

    ``read`` brings the rows up to date that it returns, every other function of torch all of them. So state dicts,
    copies and whatever a user writes see the numbers of dense SGD.
    """

    missed: Missed | None

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Iterable[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Settle, then do what was asked for."""
        with torch._C.DisableTorchFunctionSubclass():
            if func not in HARMLESS:
                for parameter in _lazy((*args, *(kwargs or {}).values())):
                    settle(parameter)
            return func(*args, **(kwargs or {}))

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Be pickled as the plain parameter that it is for everybody else."""
        return nn.Parameter(self.data, self.requires_grad).__reduce_ex__(protocol)  # type: ignore[no-untyped-call]

    def __deepcopy__(self, memo: dict[int, Any]) -> nn.Parameter:
        """Be copied as a plain parameter: the copy has no optimizer yet."""
        if id(self) not in memo:
            memo[id(self)] = nn.Parameter(self.data.clone(), self.requires_grad)
        copied: nn.Parameter = memo[id(self)]
        return copied


_TENSOR: Any = Tensor
# what looks at no number
HARMLESS = {
    *(
        getattr(_TENSOR, name).__get__
        for name in ("grad", "shape", "ndim", "device", "dtype", "layout", "requires_grad", "is_leaf", "grad_fn")
    ),
    *(getattr(_TENSOR, name).__get__ for name in ("is_meta", "is_sparse", "is_cuda", "is_nested", "retains_grad")),
    *(getattr(_TENSOR, name) for name in ("size", "dim", "numel", "is_floating_point", "is_complex", "__len__")),
    _TENSOR.grad.__set__,
    _TENSOR.grad.__delete__,
}


def _lazy(values: Iterable[Any]) -> Iterator[LazyRows]:
    for value in values:
        if isinstance(value, LazyRows):
            yield value
        elif isinstance(value, list | tuple):
            yield from _lazy(value)


def attach(parameter: nn.Parameter, momentum: Tensor | None, keeper: object) -> Missed:
    """Make a parameter one whose rows take their steps when they are read; return what keeps count of them.

    Args:
        parameter: of two dimensions.
        momentum: of its rows as of now.
        keeper: the optimizer, which takes it over from any other.
    """
    if not isinstance(parameter, nn.Parameter) or parameter.ndim != 2 or not parameter.is_floating_point():
        got = f"shape {tuple(parameter.shape)}" if isinstance(parameter, Tensor) else type(parameter).__name__
        raise _checks.fail("SGD", "params", "parameters of two dimensions in a group with rows=True", got)
    if isinstance(parameter, LazyRows):
        settle(parameter)
    else:
        parameter.__class__ = LazyRows  # as torch does with parameters that get their shape later
    assert isinstance(parameter, LazyRows)
    parameter.missed = Missed(parameter.shape[0], momentum, keeper)
    return parameter.missed


def settle(parameter: LazyRows, places: Tensor | None = None) -> None:
    """Bring rows of a parameter up to date, all of them where none are named."""
    missed: Missed | None = getattr(parameter, "missed", None)
    if missed is not None and missed.taken:
        with torch._C.DisableTorchFunctionSubclass():
            missed.settle(parameter, places)


def read(parameter: LazyRows, places: Tensor) -> Tensor:
    """Return rows, up to date, whose gradient is that of these rows alone.

    Where ranks have to add up their gradients it is dense: they have met different rows.
    """
    settle(parameter, places)
    sparse = getattr(parameter, "missed", None) is not None and _distributed.world_size() == 1
    with torch._C.DisableTorchFunctionSubclass():
        return nn.functional.embedding(places, parameter, sparse=sparse)

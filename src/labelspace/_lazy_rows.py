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

HISTORY = 1024  # steps after which all rows are brought up to date: what is remembered of them has an end
AT_ONCE = 2**22  # numbers that are moved at once where all rows are


class Rule(NamedTuple):
    """How a step of SGD changes a row, in the words of ``torch.optim.SGD``."""

    lr: float
    momentum: float
    dampening: float
    weight_decay: float
    nesterov: float  # 1 or 0

    def step(self, row: Any, velocity: Any, gradient: Any, first: bool) -> tuple[Any, Any]:
        """Return a row and its momentum after a step; ``first`` is that of the parameter, which knows no dampening."""
        gradient = gradient + self.weight_decay * row
        if self.momentum == 0:
            return row - self.lr * gradient, velocity
        velocity = self.momentum * velocity + (1.0 if first else 1 - self.dampening) * gradient
        moved = gradient + self.momentum * velocity if self.nesterov else velocity
        return row - self.lr * moved, velocity


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
            stale = places[behind[places]]
        with torch.no_grad():
            for part in torch.split(stale, max(1, AT_ONCE // max(1, parameter.shape[1]))):
                self._bring(parameter, part)

    def _bring(self, parameter: Tensor, stale: Tensor) -> None:
        if not len(stale):
            return
        factors = self.products[self.since[stale]].to(parameter)
        there = stale.to(parameter.device)
        rows = parameter[there]
        own, across = factors[:, 0, :1] * rows, factors[:, 1, :1] * rows
        if self.momentum is not None:
            velocity = self.momentum[there]
            self.momentum[there] = across + factors[:, 1, 1:] * velocity
            own = own + factors[:, 0, 1:] * velocity
        parameter[there] = own
        self.since[stale] = self.taken

    def step(self, parameter: Tensor, gradient: Tensor, rule: Rule) -> None:
        """Take a step with a sparse gradient: its rows now, the others when they are asked for."""
        gradient = gradient.coalesce()
        places, values = gradient.indices()[0], gradient.values().to(parameter.dtype)
        self.settle(parameter, places)
        first = self.momentum is None
        if first and rule.momentum != 0:
            self.momentum = torch.zeros_like(parameter, memory_format=torch.preserve_format)
        velocity = torch.zeros_like(values) if self.momentum is None else self.momentum[places]
        with torch.no_grad():
            parameter[places], velocity = rule.step(parameter[places], velocity, values, first)
            if self.momentum is not None:
                self.momentum[places] = velocity
        if self._miss(rule, first):
            self.since[places.cpu()] = self.taken
        if self.taken == HISTORY:
            self.settle(parameter)
            self.taken = 0
            self.since.zero_()
            self.products[0] = torch.eye(2, dtype=torch.float64)

    def _miss(self, rule: Rule, first: bool) -> bool:
        """Remember a step that rows without a gradient have missed; where it changes nothing there is nothing to."""
        # columns: what becomes of the row, and of the momentum
        columns = [rule.step(*unit, 0.0, first) for unit in ((1.0, 0.0), (0.0, 1.0))]
        matrix = torch.tensor(columns, dtype=torch.float64).T
        if bool((matrix == torch.eye(2, dtype=torch.float64)).all()):
            return False
        known = self.products[: self.taken + 1]
        torch.matmul(matrix, known.clone(), out=known)
        self.taken += 1
        self.products[self.taken] = torch.eye(2, dtype=torch.float64)
        return True


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

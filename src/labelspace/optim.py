"""Optimizers for learned labels: a step of plain SGD that touches the rows of the batch alone, with the same result."""

from collections.abc import Callable, Iterable
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.optim.sgd import sgd

from labelspace import _checks, _lazy_rows
from labelspace._lazy_rows import LazyRows, Missed, Rule

__all__ = ["SGD", "clip_grad_norm_"]


@final
class SGD(torch.optim.SGD):
    """``torch.optim.SGD`` whose step touches, of the rows of learned labels, only those that the batch has met.

    A label matrix of K classes has K² numbers, of which a batch of N samples reads N rows. Dense SGD moves all of them
    in every step, since momentum and weight decay go on without a gradient. Here a row takes the steps that it has
    missed when it is read next: by one 2×2 matrix for (row, momentum), the product of those of the missed steps, so
    that rates may differ from step to step. The trajectory is that of ``torch.optim.SGD`` up to rounding.

    Rows are up to date whenever anything reads them: the loss, ``label_space()``, ``state_dict()``, copies. Every 1,024
    steps all of them are brought up to date. ``state_dict()`` is that of ``torch.optim.SGD`` (either can load the
    other's), and a resumed run goes on bit for bit as the one that was saved. Closures, ``zero_grad``, several
    ``backward`` before a step, and ``torch.amp.GradScaler`` work as with torch; for clipping there is
    ``labelspace.optim.clip_grad_norm_``, since torch's refuses sparse gradients. A gradient that is dense after all
    (probabilities as labels, several ranks) is met with a dense step.

    For Adam there is no such form: its step divides by a running second moment, which is not linear in the row.
    ``torch.optim.SparseAdam`` lets rows without a gradient stand still, which is another method than Adam; with
    ``torch.optim.Adam`` and ``AdamW`` steps are dense and exact. Leave out ``rows=True`` then.

    Args:
        params: groups as of ``Learner.parameter_groups(weight_decay, rows=True)``; those with ``rows=True`` hold
            parameters whose rows are read by class, all others are those of torch.
        lr: the rate; schedules change it as in any optimizer.
        momentum: as in ``torch.optim.SGD``.
        dampening: likewise.
        weight_decay: likewise, of groups that say nothing else.
        nesterov: likewise.

    Example:
        >>> from labelspace import LearnableSmoothing, Learner
        >>> learner = Learner(nn.Linear(8, 1000), LearnableSmoothing(1000))
        >>> optimizer = SGD(learner.parameter_groups(weight_decay=1e-4, rows=True), lr=0.1, momentum=0.9)
        >>> learner(torch.zeros(2, 8), torch.tensor([0, 2])).backward()
        >>> learner.criterion.label_logits.grad.is_sparse
        True
        >>> optimizer.step()
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        """Take over the rows."""
        super().__init__(params, lr, momentum, dampening, weight_decay, nesterov)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group; with ``rows=True`` its parameters take their steps row by row."""
        super().add_param_group(param_group)
        for parameter in self.param_groups[-1]["params"] if param_group.get("rows") else ():
            _lazy_rows.attach(parameter, None, self)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Take a step; what a closure returns is returned."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch._C.DisableTorchFunctionSubclass():
            for group in self.param_groups:
                held = [parameter for parameter in group["params"] if parameter.grad is not None]
                dense = [parameter for parameter in held if not self._by_rows(parameter, group)]
                self._dense_step(dense, group)
        return loss

    def settle(self) -> None:
        """Bring all rows up to date; only who reads memory past torch's own functions needs to ask for it."""
        for parameter in self._lazy():
            _lazy_rows.settle(parameter)

    def state_dict(self) -> dict[str, Any]:
        """Return the state, all rows up to date; it is that of ``torch.optim.SGD``."""
        self.settle()
        return super().state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take a state over, also one of ``torch.optim.SGD`` over the same groups."""
        self.settle()
        flags = [group.get("rows", False) for group in self.param_groups]
        super().load_state_dict(state_dict)
        for group, rows in zip(self.param_groups, flags, strict=True):
            group["rows"] = rows  # which torch's own state does not know
            for parameter in group["params"] if rows else ():
                _lazy_rows.attach(parameter, self.state[parameter].get("momentum_buffer"), self)

    def _lazy(self) -> list[LazyRows]:
        return [own for group in self.param_groups for own in group["params"] if isinstance(own, LazyRows)]

    def _by_rows(self, parameter: nn.Parameter, group: dict[str, Any]) -> bool:
        """Take a step with the rows of a sparse gradient, if it has one; return whether that was done."""
        if not group.get("rows"):
            return False
        momentum = self.state[parameter].get("momentum_buffer")
        missed = getattr(parameter, "missed", None)
        if not isinstance(missed, Missed):  # a copy of an optimizer has copies of parameters
            missed = _lazy_rows.attach(parameter, momentum, self)
        if missed.keeper != id(self):
            remedy = "Go on with the newer one, or make another."
            raise _checks.fail("SGD.step", "params", "rows of no other optimizer", "rows that a newer one took", remedy)
        gradient = parameter.grad
        assert gradient is not None
        if not gradient.is_sparse:
            missed.settle(parameter)
            return False
        missed.step(parameter, gradient, Rule(**{name: float(group[name]) for name in Rule._fields}))
        if missed.momentum is not None:
            self.state[parameter]["momentum_buffer"] = missed.momentum
        return True

    def _dense_step(self, parameters: list[nn.Parameter], group: dict[str, Any]) -> None:
        buffers: list[Tensor | None] = [self.state[each].get("momentum_buffer") for each in parameters]
        gradients = [each.grad for each in parameters if each.grad is not None]
        chosen = {name: group[name] for name in ("lr", "momentum", "dampening", "weight_decay", "nesterov")}
        sgd(list(parameters), gradients, buffers, **chosen, maximize=False, has_sparse_grad=False)
        if group["momentum"] == 0:
            return
        for parameter, buffer in zip(parameters, buffers, strict=True):
            self.state[parameter]["momentum_buffer"] = buffer
            if isinstance(parameter, LazyRows) and parameter.missed is not None:
                parameter.missed.momentum = buffer


def clip_grad_norm_(parameters: Iterable[Tensor], max_norm: float) -> Tensor:
    """Scale gradients so that their norm together is at most ``max_norm``; return what it was.

    ``torch.nn.utils.clip_grad_norm_`` for gradients some of which are those of rows, which torch's refuses.

    Args:
        parameters: those of a learner; without a gradient they are passed over.
        max_norm: the largest norm that is left alone.

    Example:
        >>> weight = nn.Parameter(torch.zeros(5, 2))
        >>> nn.functional.embedding(torch.tensor([1, 1]), weight, sparse=True).sum().backward()
        >>> clip_grad_norm_([weight], 1.0)
        tensor(2.8284)
        >>> weight.grad.to_dense()[1]
        tensor([0.7071, 0.7071])
    """
    most = _checks.number("clip_grad_norm_", "max_norm", max_norm, low=0)
    held = [parameter for parameter in parameters if parameter.grad is not None]
    if not held:
        return torch.zeros(())
    for parameter in held:
        if parameter.grad is not None and parameter.grad.is_sparse:
            parameter.grad = parameter.grad.coalesce()  # rows met twice are one row of the gradient
    found = [parameter.grad for parameter in held if parameter.grad is not None]
    numbers = [gradient.values() if gradient.is_sparse else gradient for gradient in found]
    total: Tensor = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(each) for each in numbers]))
    factor = (most / (total + 1e-6)).clamp(max=1.0)  # as torch's
    for each in numbers:
        each.mul_(factor)
    return total

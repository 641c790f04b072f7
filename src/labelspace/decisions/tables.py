"""What a decision reads prices from: a table of its own, or those that come with the samples."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.space import LabelSpace
from labelspace.spec.actions import Actions, actions_of, checked, known_actions
from labelspace.spec.frames import Frame
from labelspace.spec.prices import prices

ABSTAIN = "abstain"  # the action that has the same price whatever the class
OWNER = "Decision"


class Tables(NamedTuple):
    """What samples bring along.

    Args:
        prices: of each, ``(N, K, A)``; None where all have the decision's own.
        weights: what each sample's prices are multiplied by, ``(N,)``; None for nothing.
    """

    prices: Tensor | None
    weights: Tensor | None

    def scaled(self, costs: Tensor) -> Tensor:
        """Return costs ``(N, …)`` of samples times their weights."""
        if self.weights is None:
            return costs
        return costs * self.weights.to(costs).reshape(-1, *[1] * (costs.ndim - 1))


def sample_tables(shape: tuple[int, int, int], given: Numbers | None, weights: Numbers | None) -> Tables:
    """Return prices and weights of samples, checked.

    Args:
        shape: how many samples, classes and actions there are.
        given: prices of each sample.
        weights: what prices are multiplied by.
    """
    found = None if given is None else _inputs.tensor(OWNER, "prices", given).to("cpu", torch.float64)
    if found is not None and found.shape != shape:
        expected = f"of shape {shape}: samples, classes and actions"
        raise _checks.fail(OWNER, "prices", expected, f"shape {tuple(found.shape)}")
    bad = [] if found is None else (~torch.isfinite(found)).nonzero().tolist()
    if found is not None and bad:
        got = f"{found[tuple(bad[0])].item()} of sample {bad[0][0]}"
        raise _checks.fail(OWNER, "prices", "finite", got)
    factor = None if weights is None else _inputs.vector(OWNER, "weights", weights, length=shape[0])
    if factor is not None and bool((factor < 0).any()):
        place = int((factor < 0).nonzero()[0])
        raise _checks.fail(OWNER, "weights", "0 or more", f"{factor[place].item():g} at position {place}")
    return Tables(found, factor)


def weigh(probabilities: Tensor, table: Tensor) -> Tensor:
    """Return what every action is expected to cost, ``(N, A)``, in float64 on the CPU.

    Args:
        probabilities: ``(N, K)``.
        table: prices ``(K, A)``, or of each sample ``(N, K, A)``.
    """
    rows = probabilities.cpu().double().clamp(max=1)
    return rows @ table if table.ndim == 2 else torch.einsum("nj,nja->na", rows, table)


def table_of(cost: object, names: tuple[str, ...], actions: object) -> Actions | None:
    """Return what can be done and what it costs; None without prices.

    Args:
        cost: prices in any form that ``Decision`` takes.
        names: of the classes.
        actions: of the columns, where the prices do not name them.
    """
    if cost is None:
        if actions is not None:
            raise _checks.fail(OWNER, "actions", "given with prices", "them alone")
        return None
    if actions is None:
        known = prices(cost, names) if isinstance(cost, Frame) else cost
        own = actions_of(known) if isinstance(known, LabelSpace) else None
        if own is not None and isinstance(known, LabelSpace):
            if known.names != names:
                got = f"those of {_checks.listed(known.names)}"
                raise _checks.fail(OWNER, "cost", "prices of the classes, in their order", got)
            return own
        return Actions(names, _inputs.prices(OWNER, known, classes=len(names)))
    if isinstance(cost, LabelSpace | Frame):
        raise _checks.fail(OWNER, "actions", "left out beside prices that name them", repr(actions))
    return checked(OWNER, names, actions, _checks.matrix(OWNER, "cost", _inputs.tensor(OWNER, "cost", cost)))


def checked_added(added: object, names: Sequence[str]) -> dict[str, float] | None:
    """Return prices that are added to some actions, None where there are none.

    Args:
        added: by the names of actions.
        names: of all actions.
    """
    if added is None:
        return None
    if not isinstance(added, Mapping):
        raise _checks.fail_type(OWNER, "added", "prices by the names of actions", repr(added))
    known_actions(OWNER, "added", list(added), names)
    return {name: _checks.number(OWNER, "added", value, low=0) for name, value in added.items()}

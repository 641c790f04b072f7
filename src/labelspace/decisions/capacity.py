"""Capacity: at most so many samples for an action, by a price that is added to it where it is chosen between.

With E the expected costs, the least total of which at most a share c_a of all samples gets action a minimises
``Σ_n min_a (E[n, a] + λ_a)`` for some λ ≥ 0, zero where there is room: the price of a place. Found on data that nobody
judges by, it is kept with the decision, so that one sample can be decided about without knowing the others.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.spec.actions import MORE_ROOM, checked_capacity

OWNER = "Decision"
ROUNDS = 1000  # of prices raised one after the other; two or three are usual
ROUNDING = 1e-6  # of the range of costs, and more than single precision may move them where it is decided


def added_prices(expected: Tensor, names: Sequence[str], capacity: Mapping[str, float]) -> dict[str, float]:
    """Return what is added to the price of each limited action so that it gets at most its share of these samples.

    Prices only rise, one action after the other, each to the least at which its share is kept: what one action loses
    others get, whose prices rise in turn. Samples alike in all costs stay together, so that fewer may be left.

    Args:
        expected: what each action is expected to cost, ``(N, A)``.
        names: of the actions.
        capacity: the largest share of samples for some of them.

    Example:
        >>> costs = torch.tensor([[3.0, 1.0], [2.0, 1.0], [1.5, 1.0], [0.5, 1.0]])
        >>> added_prices(costs, ["decide", "ask"], {"ask": 0.25})  # only for the first, which saves 2, not 1
        {'ask': 1.5}
    """
    shares, base = checked_capacity(OWNER, names, capacity), expected.double().cpu()
    added, costs = dict.fromkeys(shares, 0.0), base.clone()
    for _ in range(ROUNDS):
        crowded = [name for name, share in shares.items() if _taken(costs, names.index(name)) > _room(share, costs)]
        if not crowded:
            return added
        name, place = crowded[0], names.index(crowded[0])
        added[name] = _least(base[:, place], costs, place, shares[name])
        costs[:, place] = base[:, place] + added[name]
    got = ", ".join(f"{share:.4g} for {name!r}" for name, share in shares.items())
    raise _checks.fail(OWNER, "capacity", "shares that can be kept on these samples", got, MORE_ROOM)


def check_rows(names: Sequence[str], capacity: Mapping[str, float], rows: int, which: str = "") -> None:
    """Refuse limits of all actions that leave some of so many samples without any.

    Args:
        names: of the actions.
        capacity: the largest share of samples for some of them.
        rows: how many samples they are kept on.
        which: of the validation samples these are, in words; empty for all of them.
    """
    room = sum(int(share * rows + 1e-9) for share in capacity.values())
    if set(names) <= set(capacity) and room < rows:
        got = f"room for {room} of {rows} validation samples{which}"
        raise _checks.fail("compare", "capacity", "shares that can be kept on these samples", got, MORE_ROOM)


def _room(share: float, costs: Tensor) -> int:
    """Return how many of these samples a share is."""
    return int(share * len(costs) + 1e-9)


def _taken(costs: Tensor, place: int) -> int:
    """Return how many samples an action may get: also those for which another costs the same."""
    others = costs.clone()
    others[:, place] = torch.inf
    return int((costs[:, place] <= others.amin(dim=1)).sum())


def _least(own: Tensor, costs: Tensor, place: int, share: float) -> float:
    """Return the least price at which an action keeps to its share, halfway to where it would get less."""
    others = costs.clone()
    others[:, place] = torch.inf
    saved = (others.amin(dim=1) - own).sort(descending=True).values  # what each sample saves by it
    room = _room(share, costs)
    if room == 0:
        spread = float(costs.max() - costs.min())
        return float(saved[0]) + max(spread, 1.0)  # never, of samples that nobody has seen either
    over = saved[room]
    kept = saved[:room][saved[:room] > over]
    margin = ROUNDING * (1 + float(costs.max() - costs.min()))
    return float((over + kept[-1]) / 2) if len(kept) else float(over) + margin

"""Whether decisions cost what they were expected to, action by action: what a decision-maker can check."""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from labelspace.decisions.decided import Judged


class ActionCost(NamedTuple):
    """One action, and what it was expected to cost and did.

    Args:
        name: of the action.
        samples: how many it was done about.
        expected: what it was expected to cost, on average over them; None where there are none.
        realised: what it did cost.
        error: the standard error of the mean difference; None of fewer than two.
    """

    name: str
    samples: int
    expected: float | None = None
    realised: float | None = None
    error: float | None = None


def realised_costs(judged: Judged | Sequence[Judged], names: Sequence[str]) -> list[ActionCost]:
    """Return for each action how often it was done, what it was expected to cost and what it did.

    Args:
        judged: from ``Decision.judge``, also of several models, whose samples are taken together.
        names: ``Decision.action_names``.

    Example:
        >>> from labelspace.decisions import Decision
        >>> decision = Decision("min_cost", 1.0, [[0, 1], [5, 0]], ["well", "ill"])
        >>> judged = decision.judge([[1.4, 0.0], [3.0, 0.0], [3.0, 0.0]], torch.tensor([0, 1, 0]))
        >>> found = realised_costs(judged, decision.action_names)
        >>> [(each.name, each.samples, round(each.expected, 2), each.realised) for each in found]
        [('well', 2, 0.24, 2.5), ('ill', 1, 0.8, 1.0)]
    """
    parts = [judged] if isinstance(judged, Judged) else list(judged)
    actions = torch.cat([each.actions for each in parts])
    expected, costs = (torch.cat([getattr(each, name).double() for each in parts]) for name in ("expected", "costs"))
    found = []
    for place, name in enumerate(names):
        taken = actions == place
        count = int(taken.sum())
        if not count:
            found.append(ActionCost(name, 0))
            continue
        apart = (costs - expected)[taken]
        error = float(apart.std() / count**0.5) if count > 1 else None
        found.append(ActionCost(name, count, float(expected[taken].mean()), float(costs[taken].mean()), error))
    return found

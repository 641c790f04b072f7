"""Prices by a tree: edges between classes, or whether two classes share a group."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.space import LabelSpace
from labelspace.spec.naming import OWNER

INSIDE = 0.5  # the price of a mistake inside a group; one between groups costs 1


def tree_prices(classes: Sequence[str], space: LabelSpace | None) -> tuple[Tensor, str]:
    """Return prices ``(K, K)`` by a taxonomy or by groups, and which of the two: the worst mistake costs 1.

    Args:
        classes: of the data.
        space: from a taxonomy, WordNet or groups.
    """
    if space is not None and space.source.get("builder") == "groups":
        group = _group_of(space.source.get("groups"))
        codes = [group[name] for name in classes if name in group]
        if len(codes) == len(classes):
            rows = [[INSIDE if other == own else 1.0 for other in codes] for own in codes]
            return torch.tensor(rows), "groups"
    if space is None or not has_paths(space) or not set(classes) <= set(space.names):
        remedy = "Give the space as a taxonomy file or as 'wordnet'."
        got = "no space" if space is None else repr(space)
        raise _checks.fail(OWNER, "cost", "'tree' only beside a space from a taxonomy", got, remedy)
    hops = (space if space.names == tuple(classes) else space.subset(list(classes))).hops
    assert hops is not None
    largest = max(int(hops.max()), 1)
    return torch.where(hops < 0, largest, hops) / largest, "tree"


def has_paths(space: LabelSpace) -> bool:
    """Return whether there are paths of a taxonomy: an order has steps, of which ``ordinal`` makes prices.

    Example:
        >>> from labelspace import ordinal, tree
        >>> has_paths(tree({"pet": ["cat", "dog"]})), has_paths(ordinal(3))
        (True, False)
    """
    source: Mapping[str, object] = space.source
    while isinstance(of := source.get("of"), Mapping):  # what a method or a control made of a space
        source = of
    return space.hops is not None and source.get("builder") != "ordinal"


def _group_of(groups: object) -> dict[str, str]:
    """Return the group of every class in a source; none where it does not say."""
    if not isinstance(groups, dict) or not all(isinstance(members, list) for members in groups.values()):
        return {}
    return {name: label for label, members in groups.items() for name in members if isinstance(name, str)}

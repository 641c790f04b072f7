"""Nodes of a taxonomy as answers: which classes are below each, and what answering with it costs.

Letters: K classes, C the prices of mistakes, L(v) the classes below a node v.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.space import LabelSpace
from labelspace.spec.naming import OWNER

ROOT = ""  # joins the tops of a forest, as in sources.tree
TOPS = ("any", "any class", "any of all classes")  # what it is called as an answer
VAGUE = 0.5  # of the dearest mistake inside a node: the price of answering with it


def node_prices(prices: Tensor, names: Sequence[str], nodes: Mapping[str, object]) -> tuple[list[str], Tensor]:
    r"""Return prices of the classes and of nodes above them, and the names of both.

    Answering ``v`` about a true ``j`` costs

    - half the dearest mistake inside, ``½ max_{l ∈ L(v)} C[j, l]``, where ``j`` is below ``v``: the answer is true but
      vague, the more the higher the node. Where prices are tree distances and all classes are equally deep, these are
      the edges from the class up to the node.
    - what its classes cost on average, ``mean_{l ∈ L(v)} C[j, l]``, where it is not: a vague answer that is wrong is
      as wrong as an exact one.

    So a class costs what the prices say, and an ancestor never less than a nearer one. Where all mistakes inside a node
    cost the same, and the truth is surely below it, the node is better than its classes as soon as none of them has
    half of the probability. (A mean over all classes below, the true one among them, would never be less than what the
    best of them costs: nobody would hedge.)

    Args:
        prices: C, ``(K, K)``.
        names: of the classes.
        nodes: the names of the classes below each; of those that are not among ``names`` nothing is known, and a node
            with fewer than two is left out.

    Example:
        >>> two = torch.tensor([[0.0, 2.0, 4.0], [2.0, 0.0, 4.0], [4.0, 4.0, 0.0]])
        >>> node_prices(two, ["cat", "dog", "car"], {"pet": ["cat", "dog"]})[1][:, 3]
        tensor([1., 1., 4.])
    """
    place = {name: index for index, name in enumerate(names)}
    columns, titles = [prices], list(names)
    for node, members in nodes.items():
        listed = members if isinstance(members, list) else []
        below = [place[name] for name in listed if isinstance(name, str) and name in place]
        if len(below) < 2:
            continue
        inside = torch.zeros(len(names), dtype=torch.bool).scatter(0, torch.tensor(below), True)
        paid = prices[:, inside]
        columns.append(torch.where(inside, VAGUE * paid.amax(dim=1), paid.mean(dim=1))[:, None])
        titles.append(node)
    return titles, torch.cat(columns, dim=1)


def nodes_of(space: LabelSpace | None, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the classes below every node that is no class itself, the smallest nodes first.

    Of nodes with the same classes below the lowest stands for all; those above a single class are left out.

    Args:
        space: from ``labelspace.tree``, ``groups``, ``wordnet`` or a taxonomy file.
        names: of the classes.

    Example:
        >>> from labelspace import groups
        >>> nodes_of(groups({"pet": ["cat", "dog"], "vehicle": ["car", "bus"]}), ["cat", "dog", "car"])
        {'pet': ['cat', 'dog'], 'any': ['cat', 'dog', 'car']}
    """
    paths = None if space is None else _paths(space, names)
    if paths is None:
        got = "no space" if space is None else repr(space)
        remedy = "Give the space as a taxonomy file, as groups or with labelspace.tree."
        raise _checks.fail(OWNER, "actions", "'tree' only beside a space from a taxonomy or groups", got, remedy)
    below: dict[str, list[str]] = {}
    for name, path in zip(names, paths, strict=True):
        for node in path:
            below.setdefault(node, []).append(name)
    kept: dict[tuple[str, ...], str] = {}
    for node, members in sorted(below.items(), key=lambda each: len(each[1])):
        if len(members) > 1 and node not in names:
            kept.setdefault(tuple(members), node)
    taken = {*names, *kept.values()}
    top = next(title for title in TOPS if title not in taken)
    return {node if node != ROOT else top: list(members) for members, node in kept.items()}


def _paths(space: LabelSpace, names: Sequence[str]) -> list[list[str]] | None:
    """Return the nodes above each class, the nearest first, up to the root; None where the space has none."""
    groups, parents = space.source.get("groups"), space.source.get("parents")
    if space.source.get("builder") == "groups" and isinstance(groups, Mapping):
        listed = [(str(title), members) for title, members in groups.items() if isinstance(members, list)]
        group = {name: title for title, members in listed for name in members if isinstance(name, str)}
        return [[group[name], ROOT] for name in names] if set(names) <= set(group) else None
    if not isinstance(parents, Mapping) or not set(names) <= set(parents):
        return None
    found = []
    for name in names:
        path: list[str] = []
        node = name
        while node != ROOT and len(path) <= len(parents):  # a file may say anything, and a cycle would never end
            node = str(parents.get(node, ROOT))
            path.append(node)
        found.append(path)
    return found

"""Actions: what can be done about a sample, when that is more than calling it a class, and what each costs.

Letters: K classes, A actions, C the prices (``C[j, a]`` is paid for doing ``a`` about a true ``j``).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.space import LabelSpace
from labelspace.spec.naming import OWNER

ROOT = ""  # joins the tops of a forest, as in sources.tree
CAPACITY = "capacity"
VAGUE = 0.5  # of the dearest mistake inside a node: the price of answering with the node


class Actions(NamedTuple):
    """What can be done, and what it costs.

    Args:
        names: of the actions.
        prices: ``(K, A)``, in float64; a negative one is a gain.
    """

    names: tuple[str, ...]
    prices: Tensor


def of_class(names: Sequence[str], actions: Actions) -> Tensor:
    """Return what is done about a sample that is taken for each class, ``(K,)`` places of actions.

    That is the action which has the name of the class; where there is none, the cheapest one if it is of that class.

    Args:
        names: of the classes.
        actions: what can be done.

    Example:
        >>> table = Actions(("ill", "wait"), torch.tensor([[9.0, 0.0], [1.0, 5.0]]))
        >>> of_class(["well", "ill"], table)
        tensor([1, 0])
    """
    own = {name: place for place, name in enumerate(actions.names)}
    best = actions.prices.argmin(dim=1).tolist()
    return torch.tensor([own.get(name, best[place]) for place, name in enumerate(names)])


def class_of(names: Sequence[str], actions: Sequence[str]) -> Tensor:
    """Return the class that has the name of each action, ``(A,)``; −1 where none has.

    Example:
        >>> class_of(["well", "ill"], ["ill", "wait"])
        tensor([ 1, -1])
    """
    place = {name: index for index, name in enumerate(names)}
    return torch.tensor([place.get(action, -1) for action in actions])


def checked(owner: str, names: Sequence[str], actions: object, table: Tensor) -> Actions:
    """Return actions by their names, with those that are all classes in the order of the classes.

    Args:
        owner: the function that was called.
        names: of the classes.
        actions: their names.
        table: prices, ``(K, A)``.
    """
    if isinstance(actions, str) or not isinstance(actions, Sequence):
        raise _checks.fail_type(owner, "actions", "a list of names", repr(actions))
    for place, name in enumerate(actions):
        if not isinstance(name, str) or not name.strip():
            got = f"{name!r} for action {place}"
            raise _checks.fail_type(owner, "actions", "a name for every action", got, "Give every action a name.")
    repeated = next((name for place, name in enumerate(actions) if name in actions[:place]), None)
    if repeated is not None:
        raise _checks.fail(owner, "actions", "different names", f"{repeated!r} more than once")
    if table.shape != (len(names), len(actions)):
        expected = f"of shape ({len(names)}, {len(actions)}), a row per class and a column per action"
        raise _checks.fail(owner, "cost", expected, f"shape {tuple(table.shape)}")
    if len(actions) < 2:
        raise _checks.fail(owner, "actions", "at least two, to choose between", f"{len(actions)}")
    if set(actions) == set(names):
        table = table[:, [list(actions).index(name) for name in names]]
        return Actions(tuple(names), table)
    return Actions(tuple(actions), table)


def is_plain(names: Sequence[str], actions: Actions) -> bool:
    """Return whether a table says no more than prices of mistakes do: no other actions, no gains, being right is free.

    Args:
        names: of the classes.
        actions: what can be done.
    """
    prices = actions.prices
    return actions.names == tuple(names) and bool((prices >= 0).all()) and bool((prices.diagonal() == 0).all())


def space_of(names: Sequence[str], actions: Actions, **source: object) -> LabelSpace:
    """Return a cost space that knows actions: ``actions_of`` finds them again, also in a file.

    Its matrix is what it costs to take a class for another: ``C[i, act(j)] − C[i, act(i)]``, see ``of_class``, and
    never below 0. Label methods and drawings, which know classes alone, read that.

    Args:
        names: of the classes.
        actions: what can be done.
        source: where the prices come from.
    """
    paid = actions.prices[:, of_class(names, actions)]
    regret = (paid - paid.diagonal()[:, None]).clamp_min(0)
    table = {"actions": list(actions.names), "table": actions.prices.tolist(), "classes": list(names)}
    return LabelSpace(tuple(names), regret, "cost", {"builder": "prices", **source, **table})


def actions_of(space: LabelSpace) -> Actions | None:
    """Return the actions that a cost space knows, None where it prices mistakes alone.

    Args:
        space: of prices; a subset has the rows of its classes, and what is done about the others stays possible.
    """
    nodes, names = space.source.get("nodes"), space.source.get("actions")
    if space.kind != "cost" or not isinstance(nodes if names is None else names, Mapping | list):
        return None
    if isinstance(nodes, Mapping):
        return _of_nodes(space, nodes)
    table, classes = space.source.get("table"), space.source.get("classes")
    if not isinstance(table, list) or not isinstance(classes, list) or not set(space.names) <= set(classes):
        raise _checks.fail(OWNER, "cost", "a cost space with a row of prices per class", repr(space))
    place = {name: index for index, name in enumerate(classes)}
    prices = _inputs.tensor(OWNER, "cost", [table[place[name]] for name in space.names])
    return checked(OWNER, space.names, names, _checks.matrix(OWNER, "cost", prices))


def _of_nodes(space: LabelSpace, nodes: Mapping[str, object]) -> Actions:
    """Return the table of classes and nodes; of a subset those that still have several classes below."""
    prices, place = space.matrix.double(), {name: index for index, name in enumerate(space.names)}
    columns, names = [prices], list(space.names)
    for node, members in nodes.items():
        below = [place[name] for name in members if name in place] if isinstance(members, list) else []
        if len(below) < 2:
            continue
        inside = torch.zeros(len(space), dtype=torch.bool).scatter(0, torch.tensor(below), True)
        paid = prices[:, inside]
        columns.append(torch.where(inside, VAGUE * paid.amax(dim=1), paid.mean(dim=1))[:, None])
        names.append(node)
    return checked(OWNER, space.names, names, torch.cat(columns, dim=1))


def facts_of(space: LabelSpace) -> dict[str, object]:
    """Return what a cost space knows beside its matrix: two with the same matrix may decide differently.

    Args:
        space: of prices.
    """
    return {key: space.source[key] for key in ("actions", "table", "nodes", CAPACITY) if key in space.source}


def limited(cost: LabelSpace, capacity: Mapping[str, float] | None) -> LabelSpace:
    """Return prices that know how large a share of the samples some actions may get.

    Args:
        cost: prices of actions.
        capacity: the shares, by the names of the actions; None for no limits.
    """
    if capacity is None:
        return cost
    table = actions_of(cost)
    _checks.known_names(OWNER, "capacity", list(capacity), list(cost.names if table is None else table.names))
    return LabelSpace(cost.names, cost.matrix, "cost", {**cost.source, CAPACITY: dict(capacity)}, cost.hops)


def capacity_of(cost: LabelSpace | None) -> dict[str, float] | None:
    """Return the shares of samples that ``limited`` wrote, None where there are no limits.

    Args:
        cost: prices of actions.
    """
    found = None if cost is None else cost.source.get(CAPACITY)
    return {str(name): float(share) for name, share in found.items()} if isinstance(found, Mapping) else None


def given(spec: Numbers, names: Sequence[str], actions: Sequence[str]) -> LabelSpace:
    """Return prices of named actions, from an array.

    Args:
        spec: ``(K, A)`` prices.
        names: of the classes.
        actions: of the columns.

    Example:
        >>> actions_of(given([[0, 4, 1], [9, -2, 1]], ["well", "ill"], ["well", "ill", "test"])).prices
        tensor([[ 0.,  4.,  1.],
                [ 9., -2.,  1.]], dtype=torch.float64)
    """
    table = _checks.matrix(OWNER, "cost", _inputs.tensor(OWNER, "cost", spec))
    return space_of(names, checked(OWNER, names, list(actions), table), rule="actions")


def with_nodes(cost: LabelSpace, space: LabelSpace | None) -> LabelSpace:
    r"""Return prices of mistakes with the nodes of a taxonomy as further actions: "some kind of dog".

    With ``L(v)`` the classes below a node ``v``, answering ``v`` about a true ``j`` costs

    - half the dearest mistake inside, ``½ max_{l ∈ L(v)} C[j, l]``, where ``j`` is below ``v``: the answer is true but
      vague, the more the higher the node. Where prices are tree distances and all classes are equally deep, these are
      the edges from the class up to the node.
    - what its classes cost on average, ``mean_{l ∈ L(v)} C[j, l]``, where it is not: a vague answer that is wrong is
      as wrong as an exact one.

    So a class costs what the prices say, and an ancestor is never cheaper than a nearer one. Where all mistakes inside
    a node cost the same, it is answered as soon as none of its classes has half of the probability. (A mean over all
    classes below, the true one among them, would never be less than that of the best class: nobody would hedge.)
    Nodes with the same classes below are one action, the lowest of them; so is one above a single class.

    Args:
        cost: prices of mistakes.
        space: from ``labelspace.tree``, ``groups`` or a taxonomy file.

    Example:
        >>> from labelspace import cost, tree
        >>> pets = tree({"pet": ["cat", "dog", "fox"], "vehicle": ["car", "bus"]})
        >>> table = actions_of(with_nodes(cost(pets.hops, pets.names), pets))
        >>> table.names
        ('cat', 'dog', 'fox', 'car', 'bus', 'vehicle', 'pet', 'any')
        >>> table.prices[0]
        tensor([0., 2., 2., 4., 4., 4., 1., 2.], dtype=torch.float64)
    """
    if "nodes" in cost.source:  # as a comparison left it
        return cost
    if actions_of(cost) is not None:
        raise _checks.fail(OWNER, "actions", "'tree' beside prices of mistakes", "it beside prices of other actions")
    nodes = {node: [cost.names[place] for place in below] for node, below in _nodes(space, cost.names).items()}
    return LabelSpace(cost.names, cost.matrix, "cost", {**cost.source, "nodes": nodes})


def _nodes(space: LabelSpace | None, names: Sequence[str]) -> dict[str, list[int]]:
    """Return the classes below every node that has some but is none, by their places, the lowest nodes first."""
    paths = None if space is None else _paths(space, names)
    if paths is None:
        got = "no space" if space is None else repr(space)
        remedy = "Give the space as a taxonomy file, as groups or with labelspace.tree."
        raise _checks.fail(OWNER, "actions", "'tree' only beside a space from a taxonomy or groups", got, remedy)
    below: dict[str, list[int]] = {}
    for place, path in enumerate(paths):
        for node in path:
            below.setdefault(node, []).append(place)
    kept: dict[tuple[int, ...], str] = {}
    for node, places in sorted(below.items(), key=lambda each: len(each[1])):
        if len(places) > 1 and node not in names:
            kept.setdefault(tuple(places), node)
    taken = {*names, *kept.values()}
    top = next(title for title in ("any", "any class", "any of all classes") if title not in taken)
    return {node if node != ROOT else top: list(places) for places, node in kept.items()}


def _paths(space: LabelSpace, names: Sequence[str]) -> list[list[str]] | None:
    """Return the nodes above each class, the nearest first, down to the root; None where the space has none."""
    groups, parents = space.source.get("groups"), space.source.get("parents")
    if space.source.get("builder") == "groups" and isinstance(groups, Mapping):
        group = {name: str(title) for title, members in groups.items() for name in members}
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

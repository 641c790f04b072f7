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
from labelspace.spec.naming import OWNER, suggestion
from labelspace.spec.nodes import node_prices, nodes_of

CAPACITY = "capacity"
MORE_ROOM = "Raise it, or leave one action without a limit."


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
        titles, table = node_prices(space.matrix.double(), space.names, nodes)
        return checked(OWNER, space.names, titles, table)
    rows, classes = space.source.get("table"), space.source.get("classes")
    known = [name for name in classes if isinstance(name, str)] if isinstance(classes, list) else []
    if not isinstance(rows, list) or len(rows) != len(known) or not set(space.names) <= set(known):
        raise _checks.fail(OWNER, "cost", "a cost space with a row of prices per class", repr(space))
    place = {name: index for index, name in enumerate(known)}
    prices = _inputs.tensor(OWNER, "cost", [rows[place[name]] for name in space.names])
    return checked(OWNER, space.names, names, _checks.matrix(OWNER, "cost", prices))


def facts_of(space: LabelSpace) -> dict[str, object]:
    """Return what a cost space knows beside its matrix: two with the same matrix may decide differently.

    Args:
        space: of prices.
    """
    return {key: space.source[key] for key in ("actions", "table", "nodes", CAPACITY) if key in space.source}


def checked_capacity(owner: str, names: Sequence[str], capacity: object) -> dict[str, float]:
    """Return shares of samples by action, after checking that there is a way to keep to them.

    Args:
        owner: the function that was called.
        names: of all actions.
        capacity: the largest share of samples for some of them.

    Example:
        >>> checked_capacity("compare", ["ill", "well", "ask"], {"ask": 0.05})
        {'ask': 0.05}
    """
    if not isinstance(capacity, Mapping) or not capacity:
        expected = "shares of samples by the names of actions"
        raise _checks.fail_type(owner, CAPACITY, expected, repr(capacity), 'Such as {"send to a person": 0.05}.')
    known_actions(owner, CAPACITY, list(capacity), names)
    shares = {str(name): _checks.number(owner, CAPACITY, share, low=0, high=1) for name, share in capacity.items()}
    total = sum(shares.values())
    if len(shares) == len(names) and total < 1 - 1e-9:
        got = f"{total:.4g} of the samples for all actions together"
        raise _checks.fail(owner, CAPACITY, "room for every sample", got, MORE_ROOM)
    return shares


def limited(cost: LabelSpace, capacity: Mapping[str, float] | None) -> LabelSpace:
    """Return prices that know how large a share of the samples some actions may get.

    Args:
        cost: prices of actions.
        capacity: the shares, by the names of the actions; None for no limits.
    """
    if capacity is None:
        return cost
    table = actions_of(cost)
    shares = checked_capacity(OWNER, cost.names if table is None else table.names, capacity)
    return LabelSpace(cost.names, cost.matrix, "cost", {**cost.source, CAPACITY: shares}, cost.hops)


def capacity_of(cost: LabelSpace | None) -> dict[str, float] | None:
    """Return the shares of samples that ``limited`` wrote, None where there are no limits.

    Args:
        cost: prices of actions.
    """
    if cost is None or cost.source.get(CAPACITY) is None:
        return None
    table = actions_of(cost)
    return checked_capacity(OWNER, cost.names if table is None else table.names, cost.source[CAPACITY])


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
    """Return prices of mistakes with the nodes of a taxonomy as further actions: "some kind of dog".

    What a node costs, ``spec.nodes.node_prices`` says.

    Args:
        cost: prices of mistakes.
        space: from ``labelspace.tree``, ``groups``, ``wordnet`` or a taxonomy file.

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
    return LabelSpace(cost.names, cost.matrix, "cost", {**cost.source, "nodes": nodes_of(space, cost.names)})


def known_actions(owner: str, argument: str, wanted: Sequence[str], known: Sequence[str]) -> None:
    """Refuse names that are no actions, and suggest the nearest one.

    Args:
        owner: the function that was called.
        argument: what it calls them.
        wanted: the names.
        known: of all actions.
    """
    unknown = next((name for name in wanted if name not in set(known)), None)
    if unknown is not None:
        hint = suggestion(str(unknown), known) or f"The actions are: {_checks.listed(known)}."
        raise _checks.fail(owner, argument, "names of actions", f"{unknown!r}, which is none", hint)

"""What mistakes cost, as people say it: a rule in a word, a price per step, or a table of prices."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from labelspace import _checks
from labelspace._inputs import Numbers
from labelspace._tables import is_there
from labelspace.sources.matrices import cost
from labelspace.space import LabelSpace
from labelspace.spec.actions import Actions, actions_of, given, is_plain, space_of, with_nodes
from labelspace.spec.frames import Frame, cells
from labelspace.spec.named import numeric_order, order_of
from labelspace.spec.naming import OWNER, suggestion
from labelspace.spec.price_tables import TEMPLATE, prices_in, read_prices
from labelspace.spec.tree_prices import INSIDE, has_paths, tree_prices

CostSpec = str | Path | LabelSpace | Numbers | Frame | None  # what mistakes cost, as it may be given
ActionSpec = str | Sequence[str] | None  # what can be done, as it may be given
# a rule that prices the steps between two classes of an order is one line here: its words, and the price of steps
DISTANCES: dict[str, tuple[str, Callable[[Tensor], Tensor]]] = {
    "ordinal": ("distance in the order", torch.abs),
    "squared": ("squared distance", torch.square),
}
RULES = ("uniform", *DISTANCES, "tree")
NEED_ORDER = (*DISTANCES, "steps")
TREE = "tree"  # of actions: the nodes of a taxonomy


def prices(
    spec: CostSpec, names: Sequence[str], space: LabelSpace | None = None, actions: ActionSpec = None
) -> LabelSpace:
    r"""Return the cost space that a rule, a price per step or a file stands for, in the order of ``names``.

    Rules. ``uniform`` (or None): every mistake costs 1. ``ordinal`` and ``squared``: ``|i−j|`` and ``(i−j)²``, i and
    j being the ranks of the true and the predicted class, whatever the distance of their values; the order is that
    of an ordinal ``space``, else that of names which are numbers. ``under=5,over=1``: a price per rank below and
    above the true class; the one that is left out is 1. ``tree``: the edges between two classes in a ``space`` from
    a taxonomy or WordNet, divided by the largest number of them, so that the worst mistake costs 1 (as do mistakes
    between classes that no path joins); in a space of groups ½ inside a group and 1 between groups.

    Tables, in a file or a DataFrame. The first row and the first column (or the index) name the classes, in any order:
    rows are true classes, columns predictions (unless the corner says ``predicted\true``). Or columns true, predicted,
    cost with one mistake per line, in which ``*`` is every class and the line that names more counts.

    Actions. What is decided need not be a class: a table whose columns (or predicted names) are others prices those,
    ``labelspace.spec.actions.actions_of`` returns them. Prices may then be negative, which is a gain, and being right
    need not be free; of columns that are all classes so where the table says that they are actions (``true\action`` in
    the corner, or a column ``action``).

    Args:
        spec: the rule, the table or its path, or that of a label file; a cost space or a ``(K, K)`` array does as well.
        names: the classes of the data.
        space: the label space in use, for the order or the tree.
        actions: names of the columns of an array; ``"tree"`` for the nodes of the space's taxonomy beside the classes.

    Example:
        >>> prices("squared", ["1", "2", "4"]).matrix
        tensor([[0., 1., 4.],
                [1., 0., 1.],
                [4., 1., 0.]])
        >>> cost_words(prices("under=5,over=1", ["1", "2", "3"]))
        ('5 per step below the true class, 1 per step above', 'true 3 called 1 costs 10')
    """
    classes = _checks.class_names(OWNER, names)
    if actions == TREE:
        return with_nodes(_prices(spec, classes, space), space)
    if actions is not None:
        if isinstance(spec, str | Path | LabelSpace | Frame | None):
            found = _prices(spec, classes, space)
            if (table := actions_of(found)) is not None and set(table.names) == set(actions):
                return found
            expected = "left out beside a table or a rule, which says what is done, or 'tree'"
            raise _checks.fail(OWNER, "actions", expected, repr(actions), "They name the columns of an array.")
        return given(spec, classes, actions)
    return _prices(spec, classes, space)


def _prices(spec: CostSpec, classes: Sequence[str], space: LabelSpace | None) -> LabelSpace:
    if isinstance(spec, LabelSpace):
        return _aligned(spec, classes)
    if isinstance(spec, Frame):
        return _of_table("the DataFrame", prices_in(cells(spec), classes), classes, rule="frame")
    if spec is not None and not isinstance(spec, str | Path):
        return cost(spec, classes)
    text = "uniform" if spec is None else str(spec).strip()
    if text == "uniform":
        return _space(classes, torch.ones(len(classes), len(classes)), rule="uniform")
    if text in DISTANCES:
        return _space(classes, DISTANCES[text][1](_steps(text, classes, space)), rule=text)
    if text == "tree":
        found, kind = tree_prices(classes, space)
        return _space(classes, found, rule=kind)
    if "=" in text and not is_there(Path(text)):
        return _per_step(text, classes, space)
    return _of_file(text, classes)


def implied(space: LabelSpace | None) -> LabelSpace | None:
    """Return the prices that a space speaks of by itself, or None where every mistake costs the same.

    An order implies ``ordinal``; a taxonomy, WordNet and groups imply ``tree``; a cost space is its own.

    Example:
        >>> from labelspace import ordinal
        >>> implied(ordinal(["low", "mid", "high"])).matrix[0]
        tensor([0., 1., 2.])
    """
    if space is None or space.kind == "cost":
        return space
    if order_of(space) is not None:
        return prices("ordinal", space.names, space)
    # controls carry hops too, those of other classes
    if space.source.get("builder") == "groups" or ("of" not in space.source and has_paths(space)):
        return prices("tree", space.names, space)
    return None


def has_prices(cost: LabelSpace) -> bool:
    """Return whether some mistakes cost more than others: else the cheapest decision is the likeliest class.

    Example:
        >>> has_prices(prices("uniform", ["a", "b", "c"])), has_prices(prices("squared", ["1", "2", "3"]))
        (False, True)
    """
    mistakes = _mistakes(cost)
    if actions_of(cost) is not None:
        return True
    return bool(len(mistakes)) and bool((mistakes != mistakes[0]).any())


def cost_words(cost: LabelSpace) -> tuple[str, str]:
    """Return a cost space in words, and the dearest mistake as an example (nothing where there is one class).

    Example:
        >>> cost_words(prices("squared", ["0", "1", "2"]))
        ('squared distance', 'true 0 called 2 costs 4')
    """
    table = actions_of(cost)
    if table is not None:
        return _action_words(cost, table)
    if len(cost) < 2:
        return "every mistake costs 1", ""
    row, column = divmod(int(cost.matrix.argmax()), len(cost))
    column += 1 if row == column else 0  # nothing costs anything
    example = f"true {cost.names[row]} called {cost.names[column]} costs {_amount(cost.matrix[row, column])}"
    if not has_prices(cost):
        return f"every mistake costs {_amount(cost.matrix[row, column])}", example
    if cost.source.get("rule") in ("tree", "groups"):
        # a largest price of 1 says little without another beside it
        cheap = int(cost.matrix[row].index_fill(0, torch.tensor(row), torch.inf).argmin())
        example += f", called {cost.names[cheap]} {cost.matrix[row, cheap].item():.2g}"
    return _rule_words(cost), example


def _action_words(cost: LabelSpace, table: Actions) -> tuple[str, str]:
    row, column = divmod(int(table.prices.argmax()), len(table.names))
    others = len(set(table.names) - set(cost.names))
    beside = f"{others} {'action' if others == 1 else 'actions'} beside the classes"
    beside = beside if set(cost.names) <= set(table.names) else f"{len(table.names)} actions"
    if others == 0:
        beside = "what is paid for being right"
    if "nodes" in cost.source:  # how many there are is no part of the question, which may be asked of other classes too
        beside = "nodes above the classes as answers"
    called = " called" if table.names[column] in cost.names else ":"
    example = f"true {cost.names[row]}{called} {table.names[column]} costs {_amount(table.prices[row, column])}"
    return f"{_rule_words(cost)}, with {beside}", example


def _amount(price: Tensor) -> str:
    text = f"{price.item():.6g}"
    return f"{price.item():,.0f}" if "e+" in text else text


def _rule_words(cost: LabelSpace) -> str:
    source = cost.source
    under, over = (_number(source.get(side, 1)) for side in ("under", "over"))
    words = {
        **{rule: said for rule, (said, _) in DISTANCES.items()},
        "tree": "tree distance (the farthest costs 1)",
        "groups": f"{INSIDE:g} inside a group, 1 between groups",
        "steps": f"{under:g} per step below the true class, {over:g} per step above",
        "file": f"prices from {source.get('file', 'a file')}",
    }
    return words.get(str(source.get("rule")), "prices as given")


def _number(value: object) -> float:
    """Return a number of a source as a float; a source may say anything, and what is none is NaN."""
    try:
        return float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return math.inf


def _space(classes: Sequence[str], table: Tensor, **source: object) -> LabelSpace:
    table = table.to(torch.float64).fill_diagonal_(0)
    return LabelSpace(tuple(classes), table, "cost", {"builder": "prices", **source})


def _mistakes(cost: LabelSpace) -> Tensor:
    return cost.matrix[~torch.eye(len(cost), dtype=torch.bool)]


def _steps(rule: str, classes: Sequence[str], space: LabelSpace | None) -> Tensor:
    """Return how many ranks the predicted class (column) lies above the true one (row)."""
    order = order_of(space) or numeric_order(classes)
    if order is None or not set(classes) <= set(order):
        remedy = "Say it, lowest first, with the space, as in 'low<mid<high'."
        raise _checks.fail(
            OWNER, "cost", f"{rule!r} only for classes with an order", _checks.listed(classes, most=6), remedy
        )
    present = set(classes)
    rank = {name: float(place) for place, name in enumerate(name for name in order if name in present)}
    ranks = torch.tensor([rank[name] for name in classes], dtype=torch.float64)
    return ranks[None, :] - ranks[:, None]


def _per_step(text: str, classes: Sequence[str], space: LabelSpace | None) -> LabelSpace:
    found = {"under": 1.0, "over": 1.0}
    said = [part.partition("=") for part in text.split(",")]
    for name, _, value in said:
        try:
            if name.strip() not in found:
                raise ValueError(name)
            found[name.strip()] = _checks.number(OWNER, "cost", float(value), low=0)
        except ValueError as error:
            remedy = "Write for example 'under=5,over=1': the price per step below and above the true class."
            raise _checks.fail(OWNER, "cost", "prices of 0 or more per step", repr(text), remedy) from error
    steps = _steps(text, classes, space)
    table = torch.where(steps < 0, -steps * found["under"], steps * found["over"])
    return _space(classes, _some_price(text, table), rule="steps", **found)


def _of_file(text: str, classes: Sequence[str]) -> LabelSpace:
    path = Path(text).expanduser()
    if path.suffix == ".safetensors":
        return _aligned(LabelSpace.load(path), classes)
    if not is_there(path) and not path.suffix and "/" not in text:
        expected = f"one of {', '.join(RULES)}, a price per step such as 'under=5,over=1', or a file"
        raise _checks.fail(OWNER, "cost", expected, repr(text), suggestion(text, RULES) or TEMPLATE)
    return _of_table(path.name, read_prices(path, classes), classes, rule="file", file=path.name)


def _of_table(title: str, table: Actions, classes: Sequence[str], **source: object) -> LabelSpace:
    if is_plain(classes, table):
        return _space(classes, _some_price(title, table.prices), **source)
    if bool((table.prices == table.prices[:, :1]).all()):
        got = f"the same for all of them in {title!r}"
        raise _checks.fail(OWNER, "cost", "prices that differ between actions", got)
    return space_of(classes, table, **source)


def _some_price(title: str, table: Tensor) -> Tensor:
    if len(table) > 1 and not bool((table > 0).any()):
        raise _checks.fail(OWNER, "cost", "a price above 0 for some mistake", f"only zeros in {title!r}")
    return table


def _aligned(given: LabelSpace, classes: Sequence[str]) -> LabelSpace:
    if given.kind != "cost":
        remedy = "Relations say what is alike; prices are made with labelspace.cost() or a CSV file."
        raise _checks.fail(OWNER, "cost", "a label space of kind 'cost'", repr(given), remedy)
    absent = [name for name in classes if name not in set(given.names)]
    if absent:
        hint = suggestion(absent[0], given.names)
        raise _checks.fail(OWNER, "cost", "prices for every class", f"none for {absent[0]!r}", hint)
    return given if given.names == tuple(classes) else given.subset(list(classes))

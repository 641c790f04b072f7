"""Where classes stand in a taxonomy: paths from the top, checked against the classes, made into a tree.

A node is its whole path, so that groups in different branches may share a name ("Women > Shoes", "Men > Shoes").
Classes may not: each stands in one place. Tables give places too: a column per level, or each node with its parent.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from labelspace import _checks
from labelspace._tables import Row
from labelspace.sources.tree import DEEPEST, ROOT, tree
from labelspace.space import LabelSpace
from labelspace.spec.naming import OWNER, canonical, matched

Path = tuple[str, ...]
EXPECTED = "a taxonomy with every class in one place"


class Place(NamedTuple):
    """A node by its path from the top, and where that is written, such as ``"line 3"``."""

    path: Path
    where: str


def tree_of(places: Sequence[Place], names: Sequence[str] | None) -> LabelSpace:
    """Return the tree of these places, its classes in the order of ``names``, by default all leaves as they come.

    A class may be an inner node. A leaf that is no class of the data is refused.
    """
    check_depth(max((len(place.path) for place in places), default=0))
    groups = dict.fromkeys(place.path[:depth] for place in places for depth in range(1, len(place.path)))
    leaves = [place for place in places if place.path not in groups]
    if not groups:
        got = "no class with a group above it" if leaves else "no class at all"
        remedy = "Write lines such as 'Apparel > Shoes > Boots'."
        raise _checks.fail(OWNER, "space", "a taxonomy", got, remedy)
    if names is not None:
        leaves += _inner_classes(places, groups, leaves, names)
    written = [leaf.path[-1] for leaf in leaves]
    wanted = list(dict.fromkeys(written)) if names is None else list(names)
    remedy = "Every class needs its place, and every leaf must be a class."
    found = matched("space", EXPECTED, written, wanted, [_described(leaf) for leaf in leaves], remedy)
    keys = _keys({leaf.path: name for leaf, name in zip(leaves, found, strict=True)}, groups)
    pairs = [(key, keys[path[:-1]] if path[:-1] else ROOT) for path, key in keys.items()]
    return tree(pairs, leaves=wanted)


def check_depth(levels: int) -> None:
    """Refuse what is deeper than any taxonomy: every node is kept with its whole path."""
    if levels > DEEPEST:
        raise _checks.fail(OWNER, "space", f"a taxonomy of at most {DEEPEST} levels", f"{levels:,} or more")


def _inner_classes(
    places: Sequence[Place], groups: Iterable[Path], leaves: Sequence[Place], names: Sequence[str]
) -> list[Place]:
    """Return the inner nodes that are classes: those that bear the name of a class which is no leaf."""
    absent = {canonical(name) for name in names} - {canonical(leaf.path[-1]) for leaf in leaves}
    where = {place.path: place.where for place in places}
    return [Place(path, where.get(path, "")) for path in groups if canonical(path[-1]) in absent]


def _described(place: Place) -> str:
    return ", ".join(part for part in (" > ".join(place.path) if len(place.path) > 1 else "", place.where) if part)


def _keys(classes: dict[Path, str], groups: Iterable[Path]) -> dict[Path, str]:
    """Return a name for every node that no other has: classes keep theirs, groups are told apart by their paths."""
    keys = dict(classes)
    used = set(keys.values())
    for path in groups:
        if path in keys:
            continue
        key = path[-1] if path[-1] not in used else " > ".join(path)
        while key in used:
            key += " (group)"
        keys[path] = key
        used.add(key)
    return keys


CHILD_WORDS = ("child", "class", "name", "node")
LEVEL_WORD = re.compile(r"(level|tier|rank|l)[\s_-]*\d+|(sub|super)?[\s_-]*(class|category|group)|leaf|label|name")


def table_places(rows: Sequence[Row], names: Sequence[str] | None) -> list[Place]:
    """Return the places of the nodes in a table, in whichever of the two forms it is."""
    if any("predicted" in cell.casefold() for cell in rows[0].cells):
        raise _checks.fail(OWNER, "space", "a taxonomy", "what looks like prices of mistakes", "Give it as the cost.")
    columns = _header_columns(rows[0].cells)
    if columns is not None:
        return _pair_places(rows[1:], *columns)
    classes = None if names is None else {canonical(name) for name in names}
    body = rows[1:] if _is_header(rows, classes) else rows
    if not body or max(len(row.cells) for row in body) < 2:
        remedy = "Write child,parent or one column per level."
        raise _checks.fail(OWNER, "space", "a taxonomy of at least two columns", "one column", remedy)
    return _pair_places(body, 0, 1) if _holds_pairs(body, classes) else _level_places(body)


def pair_places(pairs: Sequence[tuple[str, str, str]]) -> list[Place]:
    """Return the places of all nodes from (child, parent, where); the parent of a top is empty."""
    parents: dict[str, tuple[str, str]] = {}
    for child, parent, where in pairs:
        if child in parents:
            other, before = parents[child]
            got = f"{child!r} under {other!r}{_at(before)} and {parent!r}{_at(where)}"
            raise _checks.fail(OWNER, "space", "a taxonomy with one line and one parent per node", got, "Keep one.")
        parents[child] = (parent, where)
    nodes = dict.fromkeys([*parents, *(parent for parent, _ in parents.values() if parent)])
    return [Place(_climbed(parents, node), parents.get(node, ("", ""))[1]) for node in nodes]


def _climbed(parents: dict[str, tuple[str, str]], node: str) -> tuple[str, ...]:
    path = [node]
    while parent := parents.get(path[-1], ("", ""))[0]:
        if parent in path:
            cycle = " → ".join([*path[path.index(parent) :], parent])
            got = f"{cycle}{_at(parents[path[-1]][1])}"
            raise _checks.fail(OWNER, "space", "a taxonomy without circles", got, "Remove one of these links.")
        path.append(parent)
        check_depth(len(path))
    return tuple(reversed(path))


def _at(where: str) -> str:
    return f" ({where})" if where else ""


def _header_columns(cells: Sequence[str]) -> tuple[int, int] | None:
    """Return the columns of child and parent where the first row names them."""
    words = [cell.casefold() for cell in cells]
    if "parent" not in words:
        return None
    parent = words.index("parent")
    children = [words.index(word) for word in CHILD_WORDS if word in words]
    if len(words) == 2:
        # a group may be called "parent": only a word for the other column makes it a header
        return (1 - parent, parent) if children else None
    return (children[0], parent) if children else None


def _pair_places(rows: Sequence[Row], child: int, parent: int) -> list[Place]:
    pairs = []
    for row in rows:
        cells = [*row.cells, "", ""]
        if not cells[child]:
            got = f"{','.join(row.cells)!r} in line {row.line}"
            remedy = "Leave the parent of a top empty, not the child."
            raise _checks.fail(OWNER, "space", "a taxonomy of child,parent", got, remedy)
        pairs.append((cells[child], cells[parent] if parent < len(row.cells) else "", f"line {row.line}"))
    return pair_places(pairs)


def _level_places(rows: Sequence[Row]) -> list[Place]:
    for row in rows:
        if not row.cells[0]:
            remedy = "Write the group again in every line; only the last cells may be empty."
            got = f"an empty first cell in line {row.line}"
            raise _checks.fail(OWNER, "space", "a taxonomy with one column per level", got, remedy)
    return [Place(tuple(cell for cell in row.cells if cell), f"line {row.line}") for row in rows]


def _is_header(rows: Sequence[Row], classes: set[str] | None) -> bool:
    """Return whether the first row titles the columns: it names no class, and nothing in it occurs again."""
    first = [cell for cell in rows[0].cells if cell]
    if classes is None:
        return all(LEVEL_WORD.fullmatch(cell.casefold()) for cell in first)
    again = {cell for row in rows[1:] for cell in row.cells}
    return not any(canonical(cell) in classes or cell in again for cell in first)


def _holds_pairs(rows: Sequence[Row], classes: set[str] | None) -> bool:
    """Return whether two columns are child and parent: the classes stand in the first, or its entries never recur."""
    if max(len(row.cells) for row in rows) > 2:
        return False
    first = [canonical(row.cells[0]) for row in rows]
    if classes is not None:
        last = {canonical([cell for cell in row.cells if cell][-1]) for row in rows}
        in_first, in_last = len(classes & set(first)), len(classes & last)
        if in_first != in_last:
            return in_first > in_last
    return len(set(first)) == len(first)

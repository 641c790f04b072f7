"""Taxonomies in tables: a column per level, or each node with its parent."""

import re
from collections.abc import Sequence

from labelspace import _checks
from labelspace._tables import Row
from labelspace.spec.naming import OWNER, canonical
from labelspace.spec.places import Place, check_depth

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

"""Where classes stand in a taxonomy: paths from the top, checked against the classes of the data, made into a tree.

A node is its whole path, so that groups in different branches may share a name ("Women > Shoes", "Men > Shoes").
Classes may not: each stands in one place.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from labelspace import _checks
from labelspace.sources.tree import DEEPEST, ROOT, tree
from labelspace.space import LabelSpace
from labelspace.spec.naming import OWNER, canonical, matched

Path = tuple[str, ...]
EXPECTED = "a taxonomy with every class of the data in one place"


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
    remedy = "Every class of the data needs its place, and every leaf must be a class."
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

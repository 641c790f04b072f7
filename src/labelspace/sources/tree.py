"""A taxonomy: the fewer edges between two classes, the more mass they share."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._tables import read_text
from labelspace.compressed.rows import chunks
from labelspace.space import LabelSpace, kept_mass

ROOT = ""  # joins the tops of a forest; no class can have this name
MOST_SHOWN = 12  # nodes of a circle
DEEPEST = 100  # levels of nested groups: what holds itself never ends


def tree(
    parents: Mapping[str, object] | Sequence[tuple[str, str]] | str | Path,
    leaves: Sequence[str] | None = None,
    decay: float = 0.5,
) -> LabelSpace:
    """Return relations from a taxonomy: ``A_ij ∝ decay^hops(i, j)``, hops being the edges between two classes.

    Several tops are joined under one unnamed root. ``.hops`` of the result holds the path lengths.

    Args:
        parents: ``{"cat": "mammal", "mammal": "animal", …}``, or nested ``{"animal": {"mammal": ["cat", "dog"]}}``,
            or pairs ``(child, parent)``, or the path of a CSV file with the columns child and parent.
        leaves: the classes, in order; inner nodes are allowed. By default all leaves, in order of appearance.
        decay: the factor by which mass falls with every edge, in (0, 1].

    Example:
        >>> animals = tree({"pet": ["cat", "dog"], "vehicle": ["car", "bus"]})
        >>> animals.nearest("cat", k=2)
        [('dog', 0.6666666865348816), ('car', 0.1666666716337204)]
        >>> animals.hops[0].tolist()
        [0, 2, 4, 4]
    """
    factor = _checks.number("tree", "decay", decay, low=0, high=1, open_low=True)
    parent_of = _parent_map(_pairs(parents))
    inner = {parent for parent in parent_of.values() if parent != ROOT}
    classes = [node for node in parent_of if node not in inner] if leaves is None else list(leaves)
    names = _checks.class_names("tree", classes)
    _checks.known_names("tree", "leaves", names, list(parent_of))
    _inputs.check_table("tree", "leaves", len(names))
    hops = _hops([_path(parent_of, name) for name in names])
    source = {"builder": "tree", "decay": factor, "parents": parent_of}
    return LabelSpace(names, hop_relations(hops, factor), "relations", source, hops)


def hop_relations(hops: Tensor, decay: float) -> Tensor:
    """Return ``(K, K)`` rows ``∝ decay^hops`` that sum to 1; negative hops mean that two classes are unrelated."""
    found = torch.empty(hops.shape, dtype=torch.float64)
    for places in chunks(len(hops)):  # of many classes, what is on the way would take more than what comes out
        first = int(places[0])
        distance = hops[places].to(torch.float64)
        distance.diagonal(first).fill_(-1)
        related = distance >= 0
        # rows are scaled by their nearest relative first, so that long paths cannot underflow to nothing
        nearest = torch.where(related, distance, torch.inf).amin(dim=1, keepdim=True).nan_to_num(posinf=0.0)
        weights = torch.where(related, torch.tensor(decay, dtype=torch.float64) ** (distance - nearest), 0.0)
        found[places] = kept_mass(weights, first)
    return found


def _pairs(parents: object) -> list[tuple[str, str]]:
    if isinstance(parents, (str, Path)):
        return _csv_pairs(Path(parents))
    if isinstance(parents, Mapping):
        if all(isinstance(parent, str) for parent in parents.values()):
            return list(parents.items())
        return _nested_pairs(parents, ROOT, 0)
    if isinstance(parents, Sequence) and all(isinstance(p, Sequence) and len(p) == 2 for p in parents):
        return [(child, parent) for child, parent in parents]
    expected = "a dict of parents, a nested dict, pairs (child, parent) or the path of a CSV file"
    raise _checks.fail_type("tree", "parents", expected, type(parents).__name__)


def _nested_pairs(node: object, parent: str, depth: int) -> list[tuple[str, str]]:
    if depth > DEEPEST:
        remedy = "Does a group hold itself?"
        raise _checks.fail("tree", "parents", f"nested at most {DEEPEST} levels deep", "more", remedy)
    if isinstance(node, str):
        return [(node, parent)]
    if isinstance(node, Mapping):
        pairs = []
        for name, children in node.items():
            pairs.append((name, parent))
            pairs.extend([] if children is None else _nested_pairs(children, name, depth + 1))
        return pairs
    if isinstance(node, Sequence):
        return [pair for child in node for pair in _nested_pairs(child, parent, depth + 1)]
    expected = "nested dicts and lists of names"
    raise _checks.fail_type("tree", "parents", expected, f"{node!r} under {parent!r}")


def _csv_pairs(path: Path) -> list[tuple[str, str]]:
    text = read_text("parents", path)
    try:
        lines = list(enumerate(csv.reader(io.StringIO(text, newline="")), 1))
    except csv.Error as error:
        raise _checks.fail("tree", "parents", "a CSV of child,parent", f"{path.name} ({error})") from error
    rows = [(number, [cell.strip() for cell in row]) for number, row in lines if row]
    if rows and [cell.lower() for cell in rows[0][1]] == ["child", "parent"]:
        rows = rows[1:]
    for number, row in rows:
        if len(row) != 2 or not row[0]:
            remedy = "Write one line per node; leave the parent of a top empty."
            raise _checks.fail("tree", "parents", "a CSV of child,parent", f"{row} in line {number}", remedy)
    return [(row[0], row[1]) for _, row in rows]


def _parent_map(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return every node's parent, tops under ROOT, after checking that it is a tree."""
    parent_of: dict[str, str] = {}
    for child, parent in pairs:
        if not isinstance(child, str) or not child or not isinstance(parent, str):
            raise _checks.fail_type("tree", "parents", "made of names", f"{child!r} under {parent!r}")
        if parent_of.get(child, parent) != parent:
            got = f"{child!r} under {parent_of[child]!r} and {parent!r}"
            raise _checks.fail("tree", "parents", "one parent per node", got, "Keep one of the two.")
        parent_of[child] = parent
    for parent in list(parent_of.values()):
        if parent != ROOT:
            parent_of.setdefault(parent, ROOT)
    if not parent_of:
        raise _checks.fail("tree", "parents", "at least one node", "none")
    check_cycles("tree", parent_of)
    return parent_of


def check_cycles(owner: str, parent_of: Mapping[str, str]) -> None:
    """Refuse parents that go in a circle; every link is followed once."""
    sound = {ROOT}
    for node in parent_of:
        path: dict[str, None] = {}
        while node not in sound:
            if node in path:
                cycle = list(path)[list(path).index(node) :]
                shown = cycle if len(cycle) <= MOST_SHOWN else [*cycle[: MOST_SHOWN - 1], "…"]
                got = " → ".join([*shown, node])
                raise _checks.fail(owner, "parents", "without cycles", got, "Remove one of these links.")
            path[node] = None
            node = parent_of.get(node, ROOT)
        sound.update(path)


def _path(parent_of: Mapping[str, str], node: str) -> list[str]:
    """Return the nodes from ``node`` up to ROOT."""
    path = [node]
    while path[-1] != ROOT:
        path.append(parent_of[path[-1]])
    return path


def _hops(paths: Sequence[Sequence[str]]) -> Tensor:
    """Return path lengths: two depths minus twice the depth of the deepest common node."""
    depth = torch.tensor([len(path) for path in paths], dtype=torch.int32)
    common = torch.zeros(len(paths), len(paths), dtype=torch.int32)
    members: dict[str, list[int]] = {}
    for index, path in enumerate(paths):
        for node in path:
            members.setdefault(node, []).append(index)
    height = {node: len(path) - place for path in paths for place, node in enumerate(path)}
    for node in sorted(members, key=lambda name: height[name]):
        here = torch.tensor(members[node])
        common[here[:, None], here[None, :]] = height[node]
    return common.mul_(-2).add_(depth[:, None]).add_(depth[None, :])

"""In which order classes are shown: that of a tree, with its branches, and with groups where classes are many."""

from dataclasses import dataclass

import torch
from torch import Tensor

from labelspace import analysis
from labelspace.metrics.accuracy import level_groups
from labelspace.report.document import Figure, pack
from labelspace.space import LabelSpace

MANY = 60  # classes above which they are folded into groups first
GROUPS = 30
MOST = 256  # classes up to which the whole matrix is kept

Merge = tuple[int, int, float]  # two nodes and their distance


@dataclass(frozen=True, eq=False)
class Layout:
    """An order of the classes with the tree it comes from.

    Args:
        order: class indices from left to right.
        branches: the tree's lines over the classes, as x and y with gaps.
        groups: sizes of the groups that follow each other in the order; empty where classes are few.
        middles: the most typical class of each group.
        group_branches: the tree's lines over the groups.
        titles: what the groups are called in a taxonomy; None where it has no name for one.
        above: the lowest group of each class in a taxonomy, by class index; empty where none is known.
    """

    order: tuple[int, ...]
    branches: Figure
    groups: tuple[int, ...] = ()
    middles: tuple[int, ...] = ()
    group_branches: Figure | None = None
    titles: tuple[str | None, ...] = ()
    above: tuple[str | None, ...] = ()

    def plain(self) -> Figure:
        """Return it as plain data."""
        return {
            "order": self.order,
            "branches": self.branches,
            "groups": self.groups,
            "middles": self.middles,
            "groupBranches": self.group_branches,
            "titles": self.titles,
            "above": self.above,
        }

    def arrange(self, matrix: Tensor, *, mass: bool = False) -> Figure:
        """Return a matrix in this order, packed: of classes unless they are too many, and of groups if there are any.

        Args:
            matrix: one row and one column per class; NaN is not drawn.
            mass: whether rows spread something over columns. Between groups that is added up over the columns and
                averaged over the rows; otherwise every pair of different classes counts alike.
        """
        places = list(self.order)
        ordered = matrix.double()[places][:, places]
        return {
            "full": pack(ordered) if len(ordered) <= MOST else None,
            "folded": pack(fold(ordered, self.groups, mass=mass)) if self.groups else None,
        }

    def count(self, counts: Tensor) -> Figure:
        """Return counts in this order, packed: of classes unless they are too many, and added up over groups.

        Args:
            counts: one row and one column per class.
        """
        places = list(self.order)
        ordered = counts.double()[places][:, places]
        sizes = torch.tensor(self.groups, dtype=ordered.dtype)
        return {
            "full": pack(ordered) if len(ordered) <= MOST else None,
            "folded": pack(fold(ordered, self.groups, mass=True) * sizes[:, None]) if self.groups else None,
        }


def fold(ordered: Tensor, sizes: tuple[int, ...], *, mass: bool) -> Tensor:
    """Return what groups that follow each other share.

    Example:
        >>> fold(torch.tensor([[0.0, 0.5, 0.5], [0.25, 0.0, 0.75], [0.5, 0.5, 0.0]]), (2, 1), mass=True)
        tensor([[0.3750, 0.6250],
                [1.0000, 0.0000]])
        >>> fold(torch.tensor([[0.0, 2.0, 4.0], [2.0, 0.0, 6.0], [4.0, 6.0, 0.0]]), (2, 1), mass=False)
        tensor([[2., 5.],
                [5., 0.]])
    """
    member = torch.repeat_interleave(torch.eye(len(sizes)), torch.tensor(sizes), dim=0).to(ordered.dtype)
    present = ordered.isfinite().to(ordered.dtype)
    total = member.T @ ordered.nan_to_num(nan=0.0) @ member
    if mass:
        return total / torch.tensor(sizes, dtype=ordered.dtype)[:, None]
    pairs = member.T @ present.fill_diagonal_(0) @ member
    own = member.T @ torch.diag(ordered.diagonal().nan_to_num(nan=0.0)) @ member
    return (total - own) / pairs.clamp_min(1)


def layout_of(distances: Tensor, space: LabelSpace | None = None) -> Layout:
    """Return the layout that distances between classes suggest.

    Args:
        distances: between the classes.
        space: what is known of the same classes; where that is a taxonomy, groups or WordNet, groups are called by it.

    Example:
        >>> layout_of(torch.tensor([[0.0, 5.0, 1.0], [5.0, 0.0, 5.0], [1.0, 5.0, 0.0]])).order
        (0, 2, 1)
    """
    if len(distances) < 2:
        return Layout((0,), {"x": [], "y": []})
    # what is not known, such as a class without samples, is far from everything
    far = distances[distances.isfinite()].max() if bool(distances.isfinite().any()) else torch.tensor(1.0)
    known = torch.where(distances.isfinite(), distances, far).double()
    known = ((known + known.T) / 2).fill_diagonal_(0)
    order, merges = _tree(known)
    # a tree can be read from either side: begin where the classes begin
    position = torch.tensor(order, dtype=torch.float64)
    if ((position - position.mean()) * torch.arange(len(order))).sum() < 0:
        order.reverse()
    levels = _levels(space) if space is not None and len(space) == len(order) else []
    above = tuple(_lowest(levels, [place]) for place in range(len(order))) if levels else ()
    if len(order) <= MANY:
        return Layout(tuple(order), _branches(merges, [[leaf] for leaf in order]), above=above)
    groups = _groups(merges, order)
    middles = tuple(group[int(known[group][:, group].sum(dim=1).argmin())] for group in groups)
    branches = _branches(merges, [[leaf] for leaf in order]) if len(order) <= MOST else {"x": [], "y": []}
    titles = tuple(_lowest(levels, group) for group in groups) if levels else ()
    sizes, lines = tuple(map(len, groups)), _branches(merges, groups)
    return Layout(tuple(order), branches, sizes, middles, lines, titles, above)


def _levels(space: LabelSpace) -> list[list[str | None]]:
    """Return the group of each class at each level, finest first; None where a class is in none. Empty without any."""
    try:
        *levels, _ = level_groups(space)
    except (LookupError, TypeError, ValueError, AttributeError):
        return []  # no taxonomy; a source may say anything
    return [
        [None if node == name else node for node, name in zip(level, space.names, strict=True)]
        for level in reversed(levels)
    ]


def _lowest(levels: list[list[str | None]], members: list[int]) -> str | None:
    """Return the lowest group that holds all of some classes, if one does."""
    for level in levels:
        found = {level[place] for place in members}
        if len(found) == 1 and None not in found:
            return found.pop()
    return None


def _tree(distances: Tensor) -> tuple[list[int], list[Merge]]:
    if len(distances) <= MOST:
        tree = analysis.dendrogram(distances)
        order, linked = list(tree.order), tree.linkage.tolist()
    else:
        # the best order of the leaves takes seconds for a thousand classes, of which only groups are shown
        from scipy.cluster.hierarchy import leaves_list, linkage
        from scipy.spatial.distance import squareform

        found = linkage(squareform(distances.numpy(), checks=False), method="average")
        order, linked = leaves_list(found).tolist(), found.tolist()
    return order, [(int(left), int(right), height) for left, right, height, _ in linked]


def _groups(merges: list[Merge], order: list[int]) -> list[list[int]]:
    """Return the groups that are left when the largest is split at its branch until there are enough."""
    below: dict[int, list[int]] = {leaf: [leaf] for leaf in order}
    for place, (left, right, _) in enumerate(merges):
        below[len(order) + place] = below[left] + below[right]
    nodes = [2 * len(order) - 2]
    while len(nodes) < GROUPS:
        largest = max(nodes, key=lambda node: len(below[node]))
        nodes.remove(largest)
        nodes += merges[largest - len(order)][:2]
    position = {leaf: place for place, leaf in enumerate(order)}
    groups = [sorted(below[node], key=position.__getitem__) for node in nodes]
    return sorted(groups, key=lambda group: position[group[0]])


def _branches(merges: list[Merge], leaves: list[list[int]]) -> Figure:
    """Return the lines of a tree over leaves at 0, 1, 2, …; a leaf may stand for several classes."""
    classes = sum(map(len, leaves))
    # a node is a place and a height; what lies within one leaf stays at that leaf's place, at height 0
    nodes = {leaf: (float(place), 0.0) for place, group in enumerate(leaves) for leaf in group}
    x: list[float | None] = []
    y: list[float | None] = []
    for number, (left, right, height) in enumerate(merges):
        (a, below_a), (b, below_b) = sorted([nodes[left], nodes[right]])
        inside = a == b
        nodes[classes + number] = ((a + b) / 2, 0.0 if inside else height)
        if not inside:
            x += [a, a, b, b, None]
            y += [below_a, height, height, below_b, None]
    return {"x": _spaced(x), "y": _spaced(y)}


def _spaced(values: list[float | None]) -> list[float | None]:
    return [None if value is None else float(f"{value:.5g}") for value in values]

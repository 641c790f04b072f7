"""The tree that class distances suggest, built from the leaves up."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.space import LabelSpace

Nested = str | tuple["Nested", "Nested"]  # a class, or two branches

METHODS = ("average", "complete", "single", "weighted", "centroid", "median", "ward")


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree of classes.

    Args:
        linkage: ``(K−1, 4)`` merges in scipy's form: the two nodes, their distance, the classes below. Nodes from
            0 are classes, those from K are merges. ``scipy.cluster.hierarchy.dendrogram`` draws it.
        order: the classes as leaves from left to right, neighbours as close as the tree allows.
        names: class names, by index.
    """

    linkage: Float[Tensor, "merges 4"]
    order: tuple[int, ...]
    names: tuple[str, ...]

    def nested(self) -> Nested:
        """Return nested pairs of names, such as ``(("cat", "dog"), "car")``."""
        nodes: list[Nested] = list(self.names)
        for left, right in self.linkage[:, :2].long().tolist():
            nodes.append((nodes[left], nodes[right]))
        return nodes[-1]


def dendrogram(distances: LabelSpace | Numbers, names: Sequence[str] | None = None, method: str = "average") -> Tree:
    """Return the agglomerative tree of a distance matrix: the two closest clusters are merged until one is left.

    Args:
        distances: symmetric, zero on the diagonal, such as those of ``naa_distances``. Rounding, up to a millionth of
            the largest, is forgiven. Of a label space those of ``LabelSpace.distances()``.
        names: class names; by default those of the label space, else numbers.
        method: what the distance of two clusters is; ``"average"`` is the mean over pairs of classes.

    Shape:
        ``distances (K, K)`` with K ≥ 2.

    Example:
        >>> built = dendrogram([[0, 1, 4], [1, 0, 6], [4, 6, 0]], ["cat", "dog", "car"])
        >>> built.nested()
        ('car', ('cat', 'dog'))
        >>> built.linkage[:, 2]  # car joins at (4 + 6)/2
        tensor([1., 5.], dtype=torch.float64)
        >>> built.order
        (2, 0, 1)
        >>> from labelspace import ordinal
        >>> dendrogram(ordinal(["low", "mid", "high"])).names
        ('low', 'mid', 'high')

    Reference:
        The agglomerative step of neurodynamical analysis; average linkage as in learning with adaptive labels.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    _checks.choice("dendrogram", "method", method, METHODS)
    if isinstance(distances, LabelSpace):
        names = distances.names if names is None else names
        distances = distances.distances()
    matrix = symmetric("dendrogram", distances)
    if len(matrix) < 2:
        raise _checks.fail("dendrogram", "distances", "between at least 2 classes", f"shape {tuple(matrix.shape)}")
    classes = _inputs.class_names("dendrogram", "names", len(matrix) if names is None else names, len(matrix))
    merges = linkage(squareform(matrix.numpy(), checks=False), method=method, optimal_ordering=True)
    order = tuple(leaves_list(merges).tolist())
    return Tree(torch.from_numpy(merges), order, classes)


def symmetric(owner: str, distances: Numbers, argument: str = "distances") -> Float[Tensor, "k k"]:
    """Return checked distances in float64, exactly symmetric; what rounding left on the diagonal or below 0 is 0."""
    given = _inputs.tensor(owner, argument, distances)
    if given.ndim == 2 and given.is_floating_point():
        absent = given.isnan().sum(dim=1) >= max(len(given) - 1, 1)
        if bool(absent.any()):
            remedy = "Leave classes without samples out: d[keep][:, keep]."
            place = int(absent.nonzero()[0])
            raise _checks.fail(owner, argument, "finite", f"NaN for all of class {place}", remedy)
    matrix = _checks.matrix(owner, argument, given, square=True)
    tolerance = 1e-6 * float(matrix.abs().max())
    if bool((matrix - matrix.T).abs().max() > tolerance):
        row, column = divmod(int((matrix - matrix.T).abs().argmax()), len(matrix))
        got = f"{matrix[row, column].item():g} from {row} to {column} and {matrix[column, row].item():g} back"
        remedy = "Average both ways, (d + d.T)/2, or ask center_distances for normalize=False."
        raise _checks.fail(owner, argument, "symmetric", got, remedy)
    own = float(matrix.diagonal().abs().max())
    if bool((matrix < -tolerance).any()) or own > tolerance:
        got = f"a smallest entry of {matrix.min().item():g}, a diagonal up to {own:g}"
        raise _checks.fail(
            owner, argument, "non-negative with a zero diagonal", got, "Give distances, not similarities."
        )
    return ((matrix + matrix.T) / 2).clamp_min(0).fill_diagonal_(0)

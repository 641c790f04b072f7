"""The classes most like a class, and how widely a class spreads its mass."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from labelspace import _checks, _inputs, _nearness
from labelspace._inputs import Numbers
from labelspace.compressed import fits
from labelspace.space import LabelSpace

PART = 2**24  # pairs looked at together

Found = dict[str, list[tuple[str, float]]]


def neighbours(space: LabelSpace | Numbers, names: Sequence[str] | None = None, k: int = 5) -> Found:
    """Return for every class its ``k`` most similar others, nearest first.

    Order and number are those of ``LabelSpace.nearest`` (mass of relations, minus the cost, cosine of vectors or minus
    their Euclidean distance), or the distance where distances are given. The first of equals comes first.

    Args:
        space: a label space, or ``(K, K)`` distances; NaN (a class without samples) is farther than any.
        names: class names of distances, numbers if left out; a label space has its own.
        k: how many; all others if there are fewer.

    Example:
        >>> from labelspace import ordinal
        >>> neighbours(ordinal(["low", "mid", "high"]), k=1)["high"]
        [('mid', 0.6666666865348816)]
        >>> neighbours([[0, 1, 4], [1, 0, 6], [4, 6, 0]], ["cat", "dog", "car"], k=1)["car"]
        [('cat', 4.0)]
    """
    _checks.whole("neighbours", "k", k, low=1)
    if isinstance(space, LabelSpace):
        if names is not None and _inputs.class_names("neighbours", "names", names) != space.names:
            raise _checks.fail("neighbours", "names", "those of the label space, or left out", repr(names))
        if space.rule is not None and not fits(len(space)):  # a row at a time: no matrix of all of them is built
            return {name: space.nearest(name, k) for name in space.names}
        return _of_space(space, k)
    classes, weights = _named(space, names)
    nearest = weights.nan_to_num(nan=-torch.inf).fill_diagonal_(-torch.inf)
    order = torch.argsort(nearest, dim=1, descending=True, stable=True)
    return _listed(classes, range(len(classes)), order, -weights, k)


def _of_space(space: LabelSpace, k: int) -> Found:
    found: Found = {}
    matrix = space.matrix  # once: a compressed space builds it
    # some rows at a time: vectors of many classes have no K×K table
    for rows in torch.split(torch.arange(len(space)), max(1, PART // len(space))):
        order, weights = _nearness.ordered(matrix, space.kind, space.metric, space.hops, rows)
        found |= _listed(space.names, rows.tolist(), order, weights, k)
    return found


def _listed(classes: Sequence[str], rows: Sequence[int], order: Tensor, numbers: Tensor, k: int) -> Found:
    found: Found = {}
    for row, places, values in zip(rows, order, numbers, strict=True):
        others = [place for place in places[: k + 1].tolist() if place != row][:k]
        found[classes[row]] = [(classes[place], float(values[place])) for place in others]
    return found


def row_entropy(matrix: LabelSpace | Numbers) -> Float[Tensor, " k"]:
    """Return the entropy ``−Σ_j a_ij log a_ij`` of each row, in nats: 0 is one class, ``log K`` all alike.

    Args:
        matrix: rows that sum to 1, or a label space, whose relations are taken.

    Shape:
        ``(K, D)`` to ``(K,)``, float64.

    Example:
        >>> row_entropy([[1.0, 0.0], [0.5, 0.5]])
        tensor([0.0000, 0.6931], dtype=torch.float64)
    """
    given = matrix.relations().matrix if isinstance(matrix, LabelSpace) else matrix
    rows = _inputs.probabilities("row_entropy", "matrix", given, "Divide each row by its sum.")
    entropies: Tensor = torch.special.entr(rows).sum(dim=1)
    return entropies


def _named(distances: Numbers, names: Sequence[str] | None) -> tuple[tuple[str, ...], Float[Tensor, "k k"]]:
    """Return class names and similarities, which are minus the distances."""
    table = _inputs.tensor("neighbours", "space", distances).to("cpu", torch.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not len(table):
        remedy = "Points become distances with target_distances() or center_distances()."
        raise _checks.fail(
            "neighbours", "space", "a LabelSpace or square distances", f"shape {tuple(table.shape)}", remedy
        )
    return _inputs.class_names("neighbours", "names", len(table) if names is None else names, len(table)), -table

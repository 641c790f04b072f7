"""How far two label spaces say the same about the same classes."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace._nearness import METRICS, row_distances
from labelspace.analysis.hierarchy import symmetric
from labelspace.space import LabelSpace


@dataclass(frozen=True)
class Agreement:
    """How well two label spaces agree.

    Args:
        value: a correlation in [−1, 1] (``"rsa"``), or the disparity in [0, 1], 0 being the same shape.
        p_value: share of permutations of the classes, this order included, that agree at least as well.
        method: ``"rsa"`` or ``"procrustes"``.
    """

    value: float
    p_value: float
    method: str


def agreement(
    space_a: LabelSpace | Numbers,
    space_b: LabelSpace | Numbers,
    method: str = "rsa",
    metric: str | None = None,
    correlation: str = "spearman",
    permutations: int = 999,
    seed: int = 0,
) -> Agreement:
    """Return how well two pictures of the same classes agree, with a permutation p-value.

    ``"rsa"`` (representational similarity analysis) correlates the distances of all pairs of classes, the upper
    triangles of two K×K matrices. ``"procrustes"`` moves, turns, mirrors and scales the rows of one onto those of
    the other and gives the disparity that remains, ``Σ(a − b)²`` with both of unit size (the narrower one is padded
    with zeros). The null permutes the classes of ``space_b``.

    Args:
        space_a: a label space or the rows of one. Relations and costs are as far apart as ``LabelSpace.distances()``
            says, from their entries; vectors and rows are compared by ``metric``.
        space_b: another; two label spaces are matched by name, whatever their order.
        method: ``"rsa"`` or ``"procrustes"``.
        metric: of vectors and rows: ``"cosine"``, ``"cos2"``, ``"euclidean"``; ``"precomputed"`` if matrices are
            distances. By default what a space of vectors states, else ``"cosine"``.
        correlation: ``"spearman"`` (of ranks) or ``"pearson"``.
        permutations: of the null; at least 1.
        seed: of the permutations.

    Shape:
        spaces of the same K ≥ 3 classes; widths may differ.

    Example:
        >>> from labelspace import ordinal
        >>> grades = ordinal(["F", "D", "C", "B", "A"])
        >>> result = agreement(grades, grades.subset(["A", "C", "B", "D", "F"]))
        >>> round(result.value, 6), result.p_value < 0.05
        (1.0, True)
    """
    _checks.choice("agreement", "method", method, ["rsa", "procrustes"])
    if metric is not None:
        _checks.choice("agreement", "metric", metric, [*METRICS, "precomputed"])
    _checks.choice("agreement", "correlation", correlation, ["spearman", "pearson"])
    draws = _checks.whole("agreement", "permutations", permutations, low=1)
    generator = np.random.default_rng(_inputs.seed("agreement", seed))
    space_b = _matched(space_a, space_b)
    if method == "rsa":
        tables = [_dissimilarity(*given, metric) for given in (("space_a", space_a), ("space_b", space_b))]
        classes = _same_classes(*tables)
        orders = [np.arange(classes), *(generator.permutation(classes) for _ in range(draws))]
        values = _correlations(tables[0].numpy(), tables[1].numpy(), orders, correlation)
        return Agreement(float(values[0]), float(np.mean(values >= values[0] - 1e-12)), method)
    rows = [_rows(*given) for given in (("space_a", space_a), ("space_b", space_b))]
    classes = _same_classes(*rows)
    orders = [np.arange(classes), *(generator.permutation(classes) for _ in range(draws))]
    values = _disparities(rows[0].numpy(), rows[1].numpy(), orders)
    return Agreement(float(values[0]), float(np.mean(values <= values[0] + 1e-12)), method)


def _matched(first: LabelSpace | Numbers, second: LabelSpace | Numbers) -> LabelSpace | Numbers:
    """Return the second space with its classes in the order of the first."""
    if not (isinstance(first, LabelSpace) and isinstance(second, LabelSpace)):
        return second
    _checks.known_names("agreement", "space_b", second.names, first.names)
    known = set(second.names)
    missing = [name for name in first.names if name not in known]
    if missing:
        remedy = "Compare subsets: space.subset(names)."
        raise _checks.fail("agreement", "space_b", "of the same classes", f"no {missing[0]!r}", remedy)
    # a subset in another order would renormalise relations; they already sum to 1, so nothing else changes
    return second if first.names == second.names else second.subset(first.names)


def _dissimilarity(argument: str, space: LabelSpace | Numbers, metric: str | None) -> Float[Tensor, "k k"]:
    if isinstance(space, LabelSpace):
        between_rows = space.kind == "vectors" and metric != "precomputed"
        return space.distances(metric if between_rows else None).double()
    if metric == "precomputed":
        return symmetric("agreement", space, argument)
    return row_distances(_inputs.matrix("agreement", argument, space), metric or "cosine")


def _rows(argument: str, space: LabelSpace | Numbers) -> Float[Tensor, "k d"]:
    if isinstance(space, LabelSpace):
        return space.matrix.double()
    return _inputs.matrix("agreement", argument, space)


def _same_classes(first: Tensor, second: Tensor) -> int:
    if len(first) != len(second) or len(first) < 3:
        got = f"{len(first)} and {len(second)} classes"
        raise _checks.fail("agreement", "space_b", "of the same classes as `space_a`, at least 3", got)
    return len(first)


def _correlations(
    first: NDArray[np.float64], second: NDArray[np.float64], orders: list[NDArray[np.int64]], correlation: str
) -> NDArray[np.float64]:
    """Return the correlation of the upper triangles for each order of the second's classes."""
    from scipy.stats import rankdata

    upper = np.triu_indices(len(first), k=1)
    pairs = []
    for argument, table in (("space_a", first), ("space_b", second)):
        values = table[upper]
        if np.ptp(values) <= 1e-6 * np.abs(values).max():
            remedy = "One-hot and uniform spaces have no geometry to compare."
            raise _checks.fail("agreement", argument, "of distances that differ", "all equal", remedy)
        values = rankdata(values) if correlation == "spearman" else values
        pairs.append((values - values.mean()) / np.linalg.norm(values - values.mean()))
    # Permuting classes permutes the pairs, so that ranks and scale are computed once, for the order as it is.
    table = np.zeros_like(second)
    table[upper] = pairs[1]
    table += table.T
    return np.array([pairs[0] @ table[order[upper[0]], order[upper[1]]] for order in orders]).clip(-1, 1)


def _disparities(
    first: NDArray[np.float64], second: NDArray[np.float64], orders: list[NDArray[np.int64]]
) -> NDArray[np.float64]:
    """Return scipy's Procrustes disparity for each order, ``1 − (Σ singular values of AᵀB)²``.

    scipy's function centres and scales both tables anew every time; here that is done once.
    """
    units = []
    for argument, rows in (("space_a", first), ("space_b", second)):
        centred = rows - rows.mean(axis=0)
        size = np.linalg.norm(centred)
        if size <= 1e-9 * max(float(np.abs(rows).max()), 1e-300):
            raise _checks.fail("agreement", argument, "of rows that differ", "all equal")
        units.append(torch.from_numpy(_narrowed(centred / size)))
    products = (units[0].T @ units[1][torch.from_numpy(order)] for order in orders)
    sums = [float(torch.linalg.svdvals(product).sum()) for product in products]
    return (1 - np.square(sums)).clip(0, 1)


def _narrowed(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the same points in at most K coordinates: turning them changes no disparity, and saves time if D > K."""
    if rows.shape[1] <= len(rows):
        return rows
    left, values, _ = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(left * values)

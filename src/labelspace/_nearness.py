"""What near means for each kind of label space: the one place where distances between classes are defined.

``relations``: from the entries, never between rows. A class and its nearest relative each have their mass where the
other has none, so that their rows lie far apart just because the two are close. ``cost``: the prices of both
directions, averaged. Trees and orders (relations that know their path lengths): those. ``vectors``: between the points.

Every function takes ``chosen``, the classes whose rows are wanted (all if left out), and computes in float64.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

METRICS = ("cosine", "cos2", "euclidean")
ROUNDING = 1e-13  # a distance below this is that of a point to itself: divided by such others it would look like one
# Entries are float32: shares that differ by less than about a millionth are equal. The step is a power of two, so that
# distances are exact in float32 and no 1/n lies near the middle of two steps: equal shares of rows of different sizes
# stay equal distances, different ones different.
STEP = 2.0**-20


def between(
    matrix: Tensor, kind: str, metric: str | None, hops: Tensor | None, chosen: Int[Tensor, " r"] | None = None
) -> Float[Tensor, "r k"]:
    """Return the distances of the chosen classes to all; rows are compared where a metric is given."""
    if metric is not None:
        return row_distances(matrix.double(), metric, chosen)
    if kind == "cost":
        places = _places(matrix, chosen)
        return _cleared(_both_ways(matrix, places), places)
    return entry_distances(matrix, chosen) if hops is None else path_distances(hops, chosen)


def entry_distances(relations: Float[Tensor, "k k"], chosen: Int[Tensor, " r"] | None = None) -> Float[Tensor, "r k"]:
    """Return ``d_ij = 1 − r_ij/2`` with ``r_ij = (A_ij/m_i + A_ji/m_j)/2``, m_i the largest entry of row i but its own.

    Shares of the row's largest entry undo what normalising rows does: the first of ten ordered classes has fewer near
    relatives than the fifth, and more mass for the last. With them ``r_ij = 1/|i−j|`` for ordered classes. All
    distances lie in [½, 1]: no two classes are at distance 0, and the triangle inequality holds. Classes without any
    relatives are at distance 1 from all others.
    """
    places = _places(relations, chosen)
    largest = _largest_other(relations)
    shares = _both_ways(relations, places, torch.where(largest > 0, largest, 1).double())
    return _cleared(1 - torch.round(shares / STEP) * STEP / 2, places)


def path_distances(hops: Tensor, chosen: Int[Tensor, " r"] | None = None) -> Float[Tensor, "r k"]:
    """Return path lengths; no path (below 0) is one step more than the longest."""
    places = _places(hops, chosen)
    lengths = torch.where(hops < 0, hops.max().clamp_min(0) + 1, hops)
    return _cleared(_both_ways(lengths, places), places)


def row_distances(
    rows: Float[Tensor, "k d"], metric: str, chosen: Int[Tensor, " r"] | None = None
) -> Float[Tensor, "r k"]:
    """Return ``1 − cos``, ``1 − cos²`` or ``‖a − b‖`` between rows."""
    places = _places(rows, chosen)
    if metric == "euclidean":
        distances = torch.cdist(rows[places], rows, compute_mode="donot_use_mm_for_euclid_dist")
    else:
        similar = cosines(rows, chosen)
        distances = 1 - (similar if metric == "cosine" else similar.square())
    if chosen is None:
        distances = (distances + distances.T) / 2
    return _cleared(torch.where(distances < ROUNDING, 0, distances), places)


def cosines(rows: Float[Tensor, "k d"], chosen: Int[Tensor, " r"] | None = None) -> Float[Tensor, "r k"]:
    """Return the cosines of rows; a zero row has no direction, its cosine with everything is 0."""
    norms = rows.norm(dim=1, keepdim=True)
    unit = rows / torch.where(norms > 0, norms, 1)
    return ((unit if chosen is None else unit[chosen]) @ unit.T).clamp(-1, 1)


def weights(
    matrix: Tensor, kind: str, metric: str | None, chosen: Int[Tensor, " r"] | None = None
) -> Float[Tensor, "r k"]:
    """Return what is said of two classes in numbers, larger being nearer.

    The mass of relations, minus the price, the (squared) cosine of vectors or minus their Euclidean distance.
    """
    places = _places(matrix, chosen)
    if metric is None:
        return matrix[places].double() * (-1 if kind == "cost" else 1)
    if metric == "euclidean":
        return -row_distances(matrix.double(), metric, places)
    similar = cosines(matrix.double(), places)
    return similar if metric == "cosine" else similar.square()


def ordered(
    matrix: Tensor, kind: str, metric: str | None, hops: Tensor | None, chosen: Int[Tensor, " r"]
) -> tuple[Int[Tensor, "r k"], Float[Tensor, "r k"]]:
    """Return all classes for each chosen one, nearest first, and the weight of each pair in the order of the classes.

    Of equally near classes that with the larger weight comes first, then that with the lower index. Distances are
    compared in float32, as others get them: what rounding leaves below that says nothing.
    """
    distances = between(matrix, kind, metric, hops, chosen).float()
    found = weights(matrix, kind, metric, chosen)
    if metric is not None:  # the weight of vectors is their distance in another form, with other rounding
        return torch.argsort(distances, dim=1, stable=True), found
    by_weight = torch.argsort(found, dim=1, descending=True, stable=True)
    by_distance = torch.argsort(distances.gather(1, by_weight), dim=1, stable=True)
    return by_weight.gather(1, by_distance), found


def _places(table: Tensor, chosen: Tensor | None) -> Tensor:
    return torch.arange(len(table)) if chosen is None else chosen


def _both_ways(table: Tensor, places: Tensor, scale: Tensor | None = None) -> Tensor:
    """Return the mean of both directions, each row divided by its scale."""
    there, back = table[places].double(), table[:, places].double()
    if scale is not None:
        there, back = there / scale[places, None], back / scale[:, None]
    return (there + back.T) / 2


def _largest_other(relations: Tensor) -> Tensor:
    if len(relations) < 2:
        return torch.zeros(len(relations), dtype=relations.dtype)
    # two per row instead of a copy without the diagonal
    values, classes = relations.topk(2, dim=1)
    own = classes[:, 0] == torch.arange(len(relations))
    return torch.where(own, values[:, 1], values[:, 0])


def _cleared(distances: Tensor, places: Tensor) -> Tensor:
    distances[torch.arange(len(places)), places] = 0
    return distances

"""Neurodynamical agglomerative analysis: classes compared by the correlations of their activations.

Letters: N samples, F features, K classes, n_k samples of class k, Z_k (n_k, F) their activations (the paper's Z is
the transpose).
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers

PART = 2**24  # numbers held at once (128 MB): larger tables are made a slab at a time
# Squaring and adding up an entry of Z Zᵀ takes as long as about this many of the multiplications that make it.
REDUCTION = 100


def naa_distances(
    features: Numbers, y: Numbers, classes: int | Sequence[str] | None = None, side: str = "auto"
) -> Float[Tensor, "k k"]:
    """Return ``d_ij = 1 − cos²(R_i, R_j)`` between classes, R being the correlation matrix of a class's activations.

    ``R_k = Z_kᵀ Z_k / n_k``, not centred, and ``cos²(R_i, R_j) = Tr(R_i R_j)/√(Tr(R_i R_i)·Tr(R_j R_j))``. Since
    ``Tr(R_i R_j) = ‖Z_i Z_jᵀ‖²_F/(n_i n_j)`` there are two ways to the same numbers: F×F matrices per class, or the
    N×N products of all samples; by default the cheaper one is taken. Computed in float64.

    Args:
        features: activations, one row per sample.
        y: class index of each sample.
        classes: K or the class names; by default one more than the largest index. A class without samples is named
            in a warning, and its distances are NaN. One whose activations are all 0 has distance 1 from all others.
        side: ``"features"``, ``"samples"`` or ``"auto"``.

    Shape:
        ``features (N, F)``, ``y (N,)``; the result is ``(K, K)``, symmetric, in [0, 1], zero on the diagonal.

    Example:
        >>> features = [[1.0, 0.0], [2.0, 0.0], [1.0, 1.0], [0.0, 3.0]]
        >>> naa_distances(features, [0, 0, 1, 2])
        tensor([[0.0000, 0.5000, 1.0000],
                [0.5000, 0.0000, 0.5000],
                [1.0000, 0.5000, 0.0000]])

    Reference:
        Equations (5) to (7) of the paper on semantic target smoothing; M. Marino et al., Hierarchical modeling with
        neurodynamical agglomerative analysis, ICANN 2020.
    """
    _checks.choice("naa_distances", "side", side, ["auto", "features", "samples"])
    rows, indices, number = labelled("naa_distances", features, y, classes)
    _inputs.warn_absent("naa_distances", indices, number, "all their distances are NaN")
    order = torch.argsort(indices, stable=True)
    rows, counts = rows[order], torch.bincount(indices, minlength=number)
    if side == "auto":
        side = _cheaper(len(rows), rows.shape[1], number)
    traces = _by_features(rows, counts) if side == "features" else _by_samples(rows, indices[order], number)
    traces = traces / (counts[:, None] * counts[None, :]).double()  # 0/0 = NaN for a class without samples
    return _distances(traces)


def labelled(
    owner: str, features: Numbers, y: Numbers, classes: int | Sequence[str] | None, argument: str = "features"
) -> tuple[Float[Tensor, "n f"], Int[Tensor, " n"], int]:
    """Return features in float64, class indices and the number of classes."""
    rows = _inputs.matrix(owner, argument, features)
    number = None if classes is None else len(_inputs.class_names(owner, "classes", classes))
    indices = _inputs.class_indices(owner, "y", y, samples=len(rows), classes=number)
    number = _inputs.highest(owner, y=indices) + 1 if number is None else number
    return rows, indices, _inputs.table_of(owner, "classes", number)


def _cheaper(samples: int, features: int, classes: int) -> str:
    """Return the side that takes less time: multiplications, weighted as ``benchmarks/naa.py`` measures them.

    Only one triangle of each table is made, but the slabs of the features' side are thin, which costs what it saves.
    """
    by_features = features**2 * (samples + classes**2)
    by_samples = samples**2 * (features + REDUCTION) / 2
    return "features" if by_features <= by_samples else "samples"


def _by_features(rows: Float[Tensor, "n f"], counts: Int[Tensor, " k"]) -> Float[Tensor, "k k"]:
    """Return ``Tr(C_i C_j)`` with ``C_k = Z_kᵀ Z_k``, a slab of some rows of all C at a time.

    C is symmetric: of the rows from a to b only the columns from a on are made, and those from b on count twice.
    """
    width, number = rows.shape[1], len(counts)
    parts = torch.split(rows, counts.tolist())
    traces = rows.new_zeros(number, number)
    step = max(1, PART // (number * width))
    # Slabs of an eighth at most, so that little of what symmetry gives for free is computed.
    step = min(step, max(32, -(-width // 8)))
    for start in range(0, width, step):
        stop = min(start + step, width)
        slab = rows.new_empty(number, stop - start, width - start)
        for part, out in zip(parts, slab, strict=True):
            torch.matmul(part[:, start:stop].T, part[:, start:], out=out)
        slab[:, :, stop - start :] *= 2**0.5
        flat = slab.flatten(1)
        traces.addmm_(flat, flat.T)
    return traces


def _by_samples(rows: Float[Tensor, "n f"], indices: Int[Tensor, " n"], number: int) -> Float[Tensor, "k k"]:
    """Return ``‖Z_i Z_jᵀ‖²_F``, the products of some samples with themselves and all later ones at a time."""
    samples = len(rows)
    step = max(1, min(PART // samples, max(32, -(-samples // 8))))
    edges = [*range(0, samples, step), samples]
    diagonal, later = rows.new_zeros(number, number), rows.new_zeros(number, number)
    for start, stop in pairwise(edges):
        squares = (rows[start:] @ rows[start:stop].T).square_()
        here = indices[start:stop]
        for table, block, of_rows in (
            (diagonal, squares[: stop - start], here),
            (later, squares[stop - start :], indices[stop:]),
        ):
            by_class = rows.new_zeros(number, stop - start).index_add_(0, of_rows, block)
            table.index_add_(1, here, by_class)
    return diagonal + later + later.T


def _distances(traces: Float[Tensor, "k k"]) -> Float[Tensor, "k k"]:
    norms = traces.diagonal().sqrt()
    # a matrix of zeros has no direction: its cosine with everything is 0
    scale = torch.where(norms == 0, 1, norms)
    distances = (1 - traces / (scale[:, None] * scale[None, :])).clamp(0, 1)
    distances = (distances + distances.T) / 2
    distances.diagonal()[~norms.isnan()] = 0
    return distances.float()

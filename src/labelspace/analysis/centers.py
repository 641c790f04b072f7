"""Distances between points that stand for classes: rows of the label matrix, and centres of the features."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from labelspace import _checks, _inputs, _nearness
from labelspace._inputs import Numbers
from labelspace.analysis.naa import labelled
from labelspace.criteria.base import Criterion
from labelspace.space import LabelSpace


def target_distances(targets: Criterion | LabelSpace | Numbers, smoothing: float | None = None) -> Float[Tensor, "k k"]:
    """Return ``1 − cos²`` between the rows of the targets: what the class distances of a network are held against.

    Args:
        targets: the criterion that trained the network, whose ``target_matrix()`` is what the loss saw; or a label
            matrix T; or a label space.
        smoothing: σ, for a label space of relations or costs: its rows are then ``T = (1−σ)·I + σ·relations``. There it
            must be given: two classes that are each other's only relatives have nothing in common in the relations
            themselves, whose diagonal is 0.

    Shape:
        ``(K, D)`` to ``(K, K)``, symmetric, in [0, 1], zero on the diagonal.

    Example:
        >>> from labelspace import SemanticSmoothing, groups
        >>> space = groups([["cat", "dog"], ["car", "bus"]])
        >>> target_distances(space, smoothing=0.5)[0]  # cat and dog are both (½, ½, 0, 0)
        tensor([0., 0., 1., 1.])
        >>> target_distances(SemanticSmoothing(space, smoothing=0.5))[0]
        tensor([0., 0., 1., 1.])

    Reference:
        Equation (7) of the paper on semantic target smoothing, for the targets themselves.
    """
    if isinstance(targets, LabelSpace):
        rows = _smoothed(targets, smoothing)
    elif smoothing is not None:
        remedy = "Give the label space, or mix the matrix yourself."
        raise _checks.fail("target_distances", "smoothing", "left out for a matrix", smoothing, remedy)
    elif isinstance(targets, Criterion):
        rows = _seen(targets)
    else:
        rows = _inputs.matrix("target_distances", "targets", targets)
    return _nearness.row_distances(rows.double(), "cos2").float()


def _smoothed(space: LabelSpace, smoothing: float | None) -> Tensor:
    if smoothing is not None:
        return space.targets(smoothing)
    if space.kind != "vectors":
        remedy = "Networks are held against the targets that the loss saw, not against the relations alone."
        raise _checks.fail("target_distances", "smoothing", f"given for a space of {space.kind}", None, remedy)
    return space.matrix


def _seen(criterion: Criterion) -> Tensor:
    matrix = criterion.target_matrix()
    if matrix is None:
        expected, got = "a criterion with one target per class", f"{type(criterion).__name__}, which has none"
        raise _checks.fail("target_distances", "targets", expected, got)
    return matrix


def center_distances(
    features: Numbers, y: Numbers, classes: int | Sequence[str] | None = None, normalise: bool = True
) -> Float[Tensor, "k k"]:
    """Return cosine distances between class centres, each row divided by its sum.

    ``cd_ij = 1 − c_i·c_j/(‖c_i‖‖c_j‖)`` with c_k the mean of the features of class k; then ``cd_ij / Σ_j cd_ij``,
    which is no longer symmetric: trees need ``normalise=False``.

    Args:
        features: activations, one row per sample.
        y: class index of each sample.
        classes: K or the class names; by default one more than the largest index. A class without samples is named
            in a warning, and its distances are NaN.
        normalise: divide each row by its sum (the L1 norm); a row of zeros stays.

    Shape:
        ``features (N, F)``, ``y (N,)``; the result is ``(K, K)``, zero on the diagonal.

    Example:
        >>> features = [[1.0, 0.0], [3.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]
        >>> center_distances(features, [0, 0, 1, 2])  # distances 1 and 2, 1 and 1, 2 and 1
        tensor([[0.0000, 0.3333, 0.6667],
                [0.5000, 0.0000, 0.5000],
                [0.6667, 0.3333, 0.0000]])

    Reference:
        Learnable label smoothing, section on clusters (second rows of figures 5 and 8).
    """
    rows, indices, number = labelled("center_distances", features, y, classes)
    present = _inputs.warn_absent("center_distances", indices, number, "all their distances are NaN")
    counts = torch.bincount(indices, minlength=number)
    centres = rows.new_zeros(number, rows.shape[1]).index_add_(0, indices, rows) / counts.clamp_min(1)[:, None]
    distances = _nearness.row_distances(centres[present], "cosine")
    if normalise:
        total = distances.sum(dim=1, keepdim=True)
        distances = distances / torch.where(total > 0, total, 1)
    result = torch.full((number, number), torch.nan)
    places = present.nonzero().flatten()
    result[places[:, None], places[None, :]] = distances.float()
    return result

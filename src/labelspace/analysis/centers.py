"""Points that stand for classes: rows of the label matrix, centres of features, vectors of similarities; distances."""

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
    features: Numbers, y: Numbers, classes: int | Sequence[str] | None = None, normalize: bool = True
) -> Float[Tensor, "k k"]:
    """Return cosine distances between class centres, each row divided by its sum.

    ``cd_ij = 1 − c_i·c_j/(‖c_i‖‖c_j‖)`` with c_k the mean of the features of class k; then ``cd_ij / Σ_j cd_ij``,
    which is no longer symmetric: trees need ``normalize=False``.

    Args:
        features: activations, one row per sample.
        y: class index of each sample.
        classes: K or the class names; by default one more than the largest index. A class without samples is named
            in a warning, and its distances are NaN.
        normalize: divide each row by its sum (the L1 norm); a row of zeros stays.

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
    if normalize:
        total = distances.sum(dim=1, keepdim=True)
        distances = distances / torch.where(total > 0, total, 1)
    result = torch.full((number, number), torch.nan)
    places = present.nonzero().flatten()
    result[places[:, None], places[None, :]] = distances.float()
    return result


def spectral_vectors(similarity: LabelSpace | Numbers, names: Sequence[str] | None = None) -> LabelSpace:
    """Return vectors whose products are the similarities: ``V = U·√Λ`` with ``(S + Sᵀ)/2 = U Λ Uᵀ``.

    What no vectors can have, the negative part of Λ, is left out; ``source["left_out"]`` is its share of ``Σ|λ|``. The
    vectors are compared by Euclidean distance, ``‖v_i − v_j‖² = S_ii + S_jj − 2·S_ij`` where nothing was left out.

    Args:
        similarity: the relations that label embedding has learned (``LabelEmbedding.label_space()``, softmax(E)), or a
            square matrix of similarities, such as E itself; the diagonal counts.
        names: class names of a matrix, numbers if left out; a label space has its own.

    Shape:
        ``(K, K)`` similarities to ``(K, K)`` vectors, the coordinate of the largest eigenvalue first.

    Example:
        >>> space = spectral_vectors([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]], ["cat", "dog", "car"])
        >>> space.distances()[0] ** 2  # 2 + 2 − 2·1 and 2 + 1 − 2·0
        tensor([0.0000, 2.0000, 3.0000])

    Reference:
        Table 2 of learning with adaptive labels: how Kendall's τ is measured for label embedding.
    """
    if isinstance(similarity, LabelSpace):
        if similarity.kind != "relations":
            got = repr(similarity)
            raise _checks.fail("spectral_vectors", "similarity", "relations or a matrix of similarities", got)
        classes, table = similarity.names, similarity.matrix.double()
    else:
        given = _inputs.tensor("spectral_vectors", "similarity", similarity)
        table = _checks.matrix("spectral_vectors", "similarity", given, square=True)
        classes = _inputs.class_names("spectral_vectors", "names", len(table) if names is None else names, len(table))
    values, vectors = torch.linalg.eigh((table + table.T) / 2)
    values, vectors = values.flip(0), _signed(vectors.flip(1))
    total = float(values.abs().sum())
    left_out = float(-values.clamp_max(0).sum()) / total if total > 0 else 0.0
    source = {"builder": "spectral_vectors", "metric": "euclidean", "left_out": left_out}
    return LabelSpace(classes, vectors * values.clamp_min(0).sqrt(), "vectors", source)


def class_means(outputs: Numbers, y: Numbers, classes: int | Sequence[str] | None = None) -> LabelSpace:
    """Return the mean output of every class, by the true label: ``v_c = mean of z_n over the samples with y_n = c``.

    The vectors are compared by Euclidean distance. This is what a method without explicit labels of its own, such as
    retrospection, has learned about its classes: ``class_means(run.scores["test_scores"], run.scores["test_y"])``.

    Args:
        outputs: of a network, one row per sample; activations of any layer do as well.
        y: the true class index of each sample.
        classes: K or the class names; by default one more than the largest index. Each must have a sample.

    Shape:
        ``outputs (N, D)``, ``y (N,)`` to vectors ``(K, D)``.

    Example:
        >>> class_means([[1.0, 0.0], [3.0, 2.0], [0.0, 5.0]], [0, 0, 1], ["cat", "dog"]).matrix
        tensor([[2., 1.],
                [0., 5.]])

    Reference:
        Equation (1) of learning with adaptive labels; Table 2 for retrospection.
    """
    rows, indices, number = labelled("class_means", outputs, y, classes, "outputs")
    counts = torch.bincount(indices, minlength=number)
    absent = (counts == 0).nonzero().flatten().tolist()
    if absent:
        remedy = "Give only the classes that have samples."
        raise _checks.fail(
            "class_means", "y", "a sample of every class", f"none of {_inputs.some_classes(absent)}", remedy
        )
    sums = rows.new_zeros(number, rows.shape[1]).index_add_(0, indices, rows)
    names = _inputs.class_names("class_means", "classes", number if classes is None else classes)
    return LabelSpace(names, sums / counts[:, None], "vectors", {"builder": "class_means", "metric": "euclidean"})


def _signed(vectors: Tensor) -> Tensor:
    """Return the columns with their largest entry positive: an eigenvector has no sign of its own."""
    largest = vectors.gather(0, vectors.abs().argmax(dim=0, keepdim=True))
    return vectors * torch.where(largest < 0, -1, 1)

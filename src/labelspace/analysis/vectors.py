"""Vectors that stand for classes: from similarities that a method learned, and from the outputs of a network."""

from collections.abc import Sequence

import torch
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.analysis.naa import labelled
from labelspace.space import LabelSpace


def spectral_vectors(similarity: LabelSpace | Numbers, names: int | Sequence[str] | None = None) -> LabelSpace:
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

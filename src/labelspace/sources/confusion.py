"""What a model confused: counts of mistakes turned into relations."""

from collections.abc import Sequence
from typing import Any

from labelspace import _checks
from labelspace.space import LabelSpace, kept_mass


def confusion(matrix: Any, names: int | Sequence[str] | None = None) -> LabelSpace:
    """Return relations from a confusion matrix: the mistakes of each class, scaled to sum to 1.

    Correct predictions (the diagonal) are left out. A class that was never mistaken keeps its mass.

    Args:
        matrix: ``(K, K)`` counts or rates; rows are true classes, columns predictions.
        names: class names in the order of the rows; numbers if left out.

    Example:
        >>> confusion([[90, 8, 2], [10, 90, 0], [0, 0, 50]], ["cat", "dog", "car"]).matrix
        tensor([[0.0000, 0.8000, 0.2000],
                [1.0000, 0.0000, 0.0000],
                [0.0000, 0.0000, 1.0000]])
    """
    counts = _checks.matrix("confusion", "matrix", matrix, square=True)
    classes = _checks.class_names("confusion", len(counts) if names is None else names)
    if len(classes) != len(counts):
        raise _checks.fail("confusion", "names", f"{len(counts)} names, one per row of `matrix`", len(classes))
    if bool((counts < 0).any()):
        raise _checks.fail("confusion", "matrix", "counts that are not negative", f"{counts.min().item():g}")
    return LabelSpace(classes, kept_mass(counts.fill_diagonal_(0)), "relations", {"builder": "confusion"})

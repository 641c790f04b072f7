"""Prices of mistakes."""

from collections.abc import Sequence
from typing import Any

from labelspace import _checks
from labelspace.space import LabelSpace


def cost(matrix: Any, names: int | Sequence[str] | None = None) -> LabelSpace:
    """Return a cost space: ``matrix[i][j]`` is the price of calling a true ``i`` a ``j``.

    Args:
        matrix: ``(K, K)``, non-negative, zero on the diagonal.
        names: class names in the order of the rows; numbers if left out.

    Example:
        >>> prices = cost([[0, 1], [5, 0]], ["healthy", "ill"])
        >>> prices.nearest("ill")
        [('healthy', -5.0)]
    """
    prices = _checks.matrix("cost", "matrix", matrix, square=True)
    classes = _checks.class_names("cost", len(prices) if names is None else names)
    if len(classes) != len(prices):
        raise _checks.fail("cost", "names", f"{len(prices)} names, one per row of `matrix`", len(classes))
    return LabelSpace(classes, prices, "cost", {"builder": "cost"})

"""What the prices of each sample are multiplied by: an amount at stake, known before anything is decided."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from labelspace import _checks
from labelspace.data.numbers import is_number, number

REMEDY = "It multiplies the sample's prices: the amount at stake, and 0 where nothing is."


def listed(values: object) -> list[object]:
    """Return the members of a column or an array."""
    found = values.detach().cpu() if isinstance(values, torch.Tensor) else values
    return list(np.asarray(found, dtype=object).ravel())


def checked(owner: str, argument: str, values: Sequence[object]) -> NDArray[np.float64]:
    """Return factors ``(N,)`` in float64: finite numbers, 0 or more, not all of them 0.

    Args:
        owner: whose argument they are.
        argument: what it calls them.
        values: one per sample; texts that are numbers are numbers.

    Example:
        >>> checked("load", "cost_factors", [1, "2.5"])
        array([1. , 2.5])
    """
    wrong = next(((row, value) for row, value in enumerate(values) if problem(value)), None)
    if wrong is not None:
        got = f"{wrong[1]!r} in row {wrong[0]}"
        raise _checks.fail(owner, argument, "finite numbers, 0 or more, in every row", got, REMEDY)
    found = np.array([number(value) for value in values], dtype=np.float64)
    if not found.any():
        raise _checks.fail(owner, argument, "more than 0 for some sample", "0 for all", REMEDY)
    return found


def problem(value: object) -> str:
    """Return why a value is no factor; empty where it is one.

    Example:
        >>> problem("3.5"), problem(-1)
        ('', '-1, where a number of 0 or more was expected')
    """
    sound = is_number(value) and np.isfinite(number(value)) and number(value) >= 0
    return "" if sound else f"{value!r}, where a number of 0 or more was expected"

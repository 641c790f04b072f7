"""What decisions, metrics and analysis accept: scores, probabilities, class indices and prices, checked at the door.

Tensors on any device, arrays and lists all do. They are computed with in float64 on the CPU: judging a model takes a
moment once, so exact sums are worth more than speed.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labelspace import _checks
from labelspace.space import LabelSpace

Numbers = Tensor | NDArray[Any] | Sequence[Any]

# how far a row of probabilities may be from 1 (else 1e-4): half precision rounds entries by up to 0.05 % and 0.2 %
TOLERANCE = {torch.float16: 2e-3, torch.bfloat16: 1e-2}


def tensor(owner: str, argument: str, value: Any) -> Tensor:
    """Return numbers as a tensor of their own type: lists of floats in float64, which torch would make float32."""
    if isinstance(value, Tensor):
        return value.detach()
    try:
        # a copy, so that arrays that cannot be written to do as well
        return torch.from_numpy(np.array(value))
    except (TypeError, ValueError) as error:
        raise _checks.fail_type(owner, argument, "a tensor or array of numbers", type(value).__name__) from error


def matrix(owner: str, argument: str, value: Any, rows: int | None = None) -> Tensor:
    """Return finite ``(N, D)`` float64 numbers with at least one row."""
    numbers = _checks.matrix(owner, argument, tensor(owner, argument, value))
    if len(numbers) == 0:
        raise _checks.fail(owner, argument, "at least one sample", f"shape {tuple(numbers.shape)}")
    if rows is not None and len(numbers) != rows:
        raise _checks.fail(owner, argument, f"of {rows} rows, one per sample", f"shape {tuple(numbers.shape)}")
    return numbers


def vector(owner: str, argument: str, value: Any, length: int | None = None) -> Tensor:
    """Return finite ``(N,)`` float64 numbers, at least one."""
    numbers = tensor(owner, argument, value).to("cpu", torch.float64)
    if numbers.ndim != 1 or len(numbers) == 0 or (length is not None and len(numbers) != length):
        expected = "of shape (N,), N ≥ 1" if length is None else f"of shape ({length},)"
        raise _checks.fail(owner, argument, expected, f"shape {tuple(numbers.shape)}")
    bad = (~torch.isfinite(numbers)).nonzero()
    if len(bad):
        raise _checks.fail(owner, argument, "finite", f"{numbers[bad[0]].item()} at position {int(bad[0])}")
    return numbers


def probabilities(owner: str, argument: str, value: Any) -> Tensor:
    """Return ``(N, K)`` float64 probabilities, after checking that rows are such."""
    given = tensor(owner, argument, value)
    rows = matrix(owner, argument, given)
    remedy = "Turn scores into probabilities with torch.softmax(scores, dim=1) or decide.Temperature."
    if bool((rows < 0).any()):
        row, column = (rows < 0).nonzero()[0].tolist()
        got = f"{rows[row, column].item():g} in row {row}"
        raise _checks.fail(owner, argument, "probabilities, none below 0", got, remedy)
    total = rows.sum(dim=1)
    worst = int((total - 1).abs().argmax())
    if abs(total[worst].item() - 1) > TOLERANCE.get(given.dtype, 1e-4):
        got = f"{total[worst].item():.6g} in row {worst}"
        raise _checks.fail(owner, argument, "probabilities whose rows sum to 1", got, remedy)
    return rows.clamp(max=1)


def class_indices(
    owner: str, argument: str, value: Any, *, samples: int | None = None, classes: int | None = None, lowest: int = 0
) -> Tensor:
    """Return ``(N,)`` class indices as int64."""
    indices = tensor(owner, argument, value).cpu()
    if indices.is_floating_point() or indices.is_complex() or indices.dtype == torch.bool:
        remedy = "numpy.unique(y, return_inverse=True) turns labels of any kind into names and indices."
        raise _checks.fail_type(owner, argument, "class indices (whole numbers)", f"dtype {indices.dtype}", remedy)
    if indices.ndim != 1 or len(indices) == 0 or (samples is not None and len(indices) != samples):
        expected = "of shape (N,), N ≥ 1" if samples is None else f"of shape ({samples},), one per sample"
        raise _checks.fail(owner, argument, expected, f"shape {tuple(indices.shape)}")
    indices = indices.to(torch.int64)
    outside = (indices < lowest) | (indices >= (torch.iinfo(torch.int64).max if classes is None else classes))
    if bool(outside.any()):
        place = int(outside.nonzero()[0])
        expected = f"class indices from {lowest}" + ("" if classes is None else f" to {classes - 1}")
        remedy = "Leave ignored and abstained samples out first." if int(indices[place]) < 0 else ""
        raise _checks.fail(owner, argument, expected, f"{int(indices[place])} at position {place}", remedy)
    return indices


def predictions(owner: str, argument: str, value: Any, lowest: int = 0) -> tuple[Tensor, int | None]:
    """Return predicted indices from ``(N,)`` indices or ``(N, K)`` scores, and K where the scores tell it."""
    given = tensor(owner, argument, value)
    if given.ndim != 2:
        return class_indices(owner, argument, given, lowest=lowest), None
    scores = matrix(owner, argument, given)
    # the first of equals: a model that says the same of all classes must not be counted as right
    return scores.argmax(dim=1), scores.shape[1]


def pair(owner: str, guesses: Any, y: Any, classes: int | None = None) -> tuple[Tensor, Tensor, int]:
    """Return predictions, labels and K; without scores or ``classes``, K is one more than the largest index."""
    predicted, number = predictions(owner, "predictions", guesses)
    if classes is not None:
        wanted = _checks.whole(owner, "classes", classes, low=1)
        if number not in (None, wanted):
            raise _checks.fail(owner, "classes", f"{number}, the columns of the scores", wanted)
        number = wanted
        class_indices(owner, "predictions", predicted, classes=number)
    labels = class_indices(owner, "y", y, samples=len(predicted), classes=number)
    return predicted, labels, number or int(torch.maximum(predicted, labels).max()) + 1


def prices(owner: str, value: Any, classes: int | None = None) -> Tensor:
    """Return the ``(K, K)`` price of calling a true ``i`` a ``j``, in float64.

    A cost space is its matrix; a space from a taxonomy prices a mistake by the edges between the two classes.
    """
    matrix = _priced(owner, value) if isinstance(value, LabelSpace) else tensor(owner, "cost", value)
    cost = _checks.matrix(owner, "cost", matrix, square=True)
    if bool((cost < 0).any()):
        row, column = (cost < 0).nonzero()[0].tolist()
        got = f"{cost[row, column].item():g} at row {row}, column {column}"
        raise _checks.fail(owner, "cost", "non-negative", got, "Shift gains so that being right costs 0.")
    if bool((cost.diagonal() != 0).any()):
        place = int((cost.diagonal() != 0).nonzero()[0])
        got = f"{cost[place, place].item():g} for class {place}"
        raise _checks.fail(owner, "cost", "zero on its diagonal (being right costs nothing)", got)
    if classes is not None and len(cost) != classes:
        raise _checks.fail(owner, "cost", f"of shape ({classes}, {classes})", f"shape {tuple(cost.shape)}")
    return cost


def _priced(owner: str, space: LabelSpace) -> Tensor:
    if space.kind == "cost":
        return space.matrix
    if space.hops is None:
        remedy = "Build one with labelspace.cost(matrix, names), or give space.distances()."
        raise _checks.fail(owner, "cost", "a cost space or one from a taxonomy", repr(space), remedy)
    if bool((space.hops < 0).any()):
        place = int((space.hops < 0).any(dim=1).nonzero()[0])
        remedy = "Give a cost matrix in which every mistake has a price."
        got = f"no path from {space.names[place]!r}"
        raise _checks.fail(owner, "cost", "a taxonomy that joins all classes", got, remedy)
    return space.hops


def warn_absent(owner: str, y: Tensor, classes: int, consequence: str) -> Tensor:
    """Return which classes have samples, after a warning that names those without."""
    present = torch.bincount(y, minlength=classes) > 0
    absent = (~present).nonzero().flatten().tolist()
    if absent:
        shown = ", ".join(map(str, absent[:8])) + (f" and {len(absent) - 8} more" if len(absent) > 8 else "")
        word = "class" if len(absent) == 1 else "classes"
        warnings.warn(f"{owner}: `y` has no sample of {word} {shown}; {consequence}.", stacklevel=3)
    return present

"""What decisions, metrics and analysis accept: scores, probabilities, class indices and prices, checked at the door.

Tensors on any device, arrays and lists all do. They are computed with in float64 on the CPU: judging a model takes a
moment once, so exact sums are worth more than speed.
"""

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labelspace import _checks, _opening
from labelspace._checks import MOST_CLASSES
from labelspace.space import LabelSpace

Numbers = Tensor | NDArray[Any] | Sequence[Any]

# how far a row of probabilities may be from 1 (else 1e-4): half precision rounds entries by up to 0.05 % and 0.2 %
TOLERANCE = {torch.float16: 2e-3, torch.bfloat16: 1e-2}
LARGEST_TABLE = 2**15  # classes: their number squared takes 8 GB
SEEDS = 2**32  # what scikit-learn accepts; one range for all functions
NUMBERING = "numpy.unique(y, return_inverse=True) turns labels of any kind into names and indices."
MOST_BYTES = 4 << 30  # of a matrix with a number for every two classes


def tensor(owner: str, argument: str, value: object, remedy: str = "") -> Tensor:
    """Return numbers as a dense tensor of their own type: lists of floats in float64, which torch would make float32.

    Args:
        owner: the function that was called.
        argument: what it calls the value.
        value: a tensor, an array, or lists of numbers or tensors, which may require gradients.
        remedy: what to do about text.
    """
    expected = "a tensor or array of numbers"
    try:
        numbers = value.detach() if isinstance(value, Tensor) else _read(value)
    except (TypeError, ValueError, RuntimeError) as error:
        text = " of text" if _is_text(value) else ""
        raise _checks.fail_type(owner, argument, expected, f"{type(value).__name__}{text}", remedy) from error
    if numbers.is_complex():
        raise _checks.fail_type(owner, argument, "real numbers", f"dtype {numbers.dtype}", "Give its .real or .abs().")
    if numbers.is_meta or numbers.is_nested:
        got = "a nested tensor" if numbers.is_nested else "a tensor on the meta device, which holds none"
        raise _checks.fail_type(owner, argument, expected, got)
    numbers = numbers.dequantize() if numbers.is_quantized else numbers
    return numbers if numbers.layout == torch.strided else numbers.to_dense()


def _read(value: object) -> Tensor:
    if isinstance(value, list | tuple) and any(isinstance(part, Tensor) for part in value):
        return torch.stack([part.detach() if isinstance(part, Tensor) else _read(part) for part in value])
    try:
        # a copy, so that arrays that cannot be written to do as well
        array = np.array(value)
    except (TypeError, RuntimeError):
        # tensors further down that numpy cannot read, since they require gradients or are of half precision
        if not isinstance(value, list | tuple):
            raise
        return torch.stack([_read(part) for part in value])
    return torch.from_numpy(array.astype(array.dtype.newbyteorder("="), copy=False))


def _is_text(value: object) -> bool:
    try:
        parts = np.asarray(value).ravel()[:1].tolist()
    except (TypeError, ValueError, RuntimeError):
        return False
    return bool(parts) and isinstance(parts[0], str | bytes)


def matrix(owner: str, argument: str, value: object, rows: int | None = None) -> Tensor:
    """Return finite ``(N, D)`` float64 numbers with at least one row."""
    numbers = _checks.matrix(owner, argument, tensor(owner, argument, value))
    if len(numbers) == 0:
        raise _checks.fail(owner, argument, "at least one sample", f"shape {tuple(numbers.shape)}")
    if rows is not None and len(numbers) != rows:
        raise _checks.fail(owner, argument, f"of {rows} rows, one per sample", f"shape {tuple(numbers.shape)}")
    return numbers


def vector(owner: str, argument: str, value: object, length: int | None = None) -> Tensor:
    """Return finite ``(N,)`` float64 numbers, at least one."""
    numbers = tensor(owner, argument, value).to("cpu", torch.float64)
    if numbers.ndim != 1 or len(numbers) == 0 or (length is not None and len(numbers) != length):
        expected = "of shape (N,), N ≥ 1" if length is None else f"of shape ({length},)"
        raise _checks.fail(owner, argument, expected, f"shape {tuple(numbers.shape)}")
    bad = (~torch.isfinite(numbers)).nonzero()
    if len(bad):
        raise _checks.fail(owner, argument, "finite", f"{numbers[bad[0]].item()} at position {int(bad[0])}")
    return numbers


def scores(owner: str, argument: str, value: object) -> Tensor:
    """Return finite ``(N, K)`` float64 scores of at least two classes."""
    numbers = matrix(owner, argument, value)
    if numbers.shape[1] == 1:
        remedy = "Predicted classes are x[:, 0]; of two classes, a probability p becomes [1 − p, p], a score z [0, z]."
        raise _checks.fail(owner, argument, "scores of at least 2 classes", f"shape {tuple(numbers.shape)}", remedy)
    return numbers


def probabilities(
    owner: str,
    argument: str,
    value: object,
    remedy: str = "Turn scores into probabilities with torch.softmax(scores, dim=1) or decisions.Temperature.",
) -> Tensor:
    """Return ``(N, K)`` float64 probabilities, after checking that rows are such."""
    given = tensor(owner, argument, value)
    rows = matrix(owner, argument, given)
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
    owner: str, argument: str, value: object, *, samples: int | None = None, classes: int | None = None, lowest: int = 0
) -> Tensor:
    """Return ``(N,)`` class indices as int64."""
    indices = tensor(owner, argument, value, NUMBERING).cpu()
    if indices.is_floating_point() or indices.dtype == torch.bool:
        raise _checks.fail_type(owner, argument, "class indices (whole numbers)", f"dtype {indices.dtype}", NUMBERING)
    if indices.ndim != 1 or len(indices) == 0 or (samples is not None and len(indices) != samples):
        expected = "of shape (N,), N ≥ 1" if samples is None else f"of shape ({samples},), one per sample"
        raise _checks.fail(owner, argument, expected, f"shape {tuple(indices.shape)}")
    if indices.dtype == torch.uint64 and bool((indices.view(torch.int64) < 0).any()):
        # as int64 they would be negative, and -1 may mean something
        large = int(indices.numpy().max())
        raise _checks.fail(owner, argument, "class indices (whole numbers)", f"{large} of dtype uint64", NUMBERING)
    indices = indices.to(torch.int64)
    outside = (indices < lowest) | (indices >= (torch.iinfo(torch.int64).max if classes is None else classes))
    if bool(outside.any()):
        place = int(outside.nonzero()[0])
        expected = f"class indices from {lowest}" + ("" if classes is None else f" to {classes - 1}")
        remedy = "Leave ignored and abstained samples out first." if int(indices[place]) < 0 else ""
        raise _checks.fail(owner, argument, expected, f"{int(indices[place])} at position {place}", remedy)
    return indices


def predictions(owner: str, argument: str, value: object, lowest: int = 0) -> tuple[Tensor, int | None]:
    """Return predicted indices from ``(N,)`` indices or ``(N, K)`` scores, and K where the scores tell it."""
    given = tensor(owner, argument, value, NUMBERING)
    if given.ndim != 2:
        return class_indices(owner, argument, given, lowest=lowest), None
    rows = scores(owner, argument, given)
    # the first of equals: a model that says the same of all classes must not be counted as right
    return rows.argmax(dim=1), rows.shape[1]


def pair(
    owner: str, guesses: object, y: object, classes: int | None = None, source: str = "classes"
) -> tuple[Tensor, Tensor, int]:
    """Return predictions, labels and K; without scores or ``classes``, K is one more than the largest index.

    Args:
        owner: the function that was called, whose arguments are ``predictions`` and ``y``.
        guesses: class indices, or scores.
        y: true class indices.
        classes: K.
        source: the argument that K comes from.
    """
    predicted, columns = predictions(owner, "predictions", guesses)
    number = columns
    if classes is not None:
        number = class_count(owner, "classes", classes) if source == "classes" else classes
        same_classes(owner, source, number, columns)
        class_indices(owner, "predictions", predicted, classes=number)
    labels = class_indices(owner, "y", y, samples=len(predicted), classes=number)
    return predicted, labels, number or highest(owner, predictions=predicted, y=labels) + 1


def same_classes(owner: str, source: str, number: int, columns: int | None) -> None:
    """Refuse an argument that speaks of another number of classes than the scores have columns."""
    if columns not in (None, number):
        expected = f"{columns}" if source == "classes" else f"of {columns} classes"
        raise _checks.fail(owner, source, f"{expected}, the columns of the scores", number)


def highest(owner: str, **indices: Tensor) -> int:
    """Return the largest class index of some arguments, none of which may be an id of something else."""
    for argument, values in indices.items():
        if int(values.max()) >= MOST_CLASSES:
            got = f"{int(values.max())} at position {int(values.argmax())}"
            raise _checks.fail(owner, argument, f"class indices below {MOST_CLASSES}", got, NUMBERING)
    return max(int(values.max()) for values in indices.values())


def class_count(owner: str, argument: str, value: object) -> int:
    """Return a number of classes."""
    number = _checks.whole(owner, argument, value, low=1)
    if number > MOST_CLASSES:
        raise _checks.fail(owner, argument, f"at most {MOST_CLASSES} classes", number)
    return number


def table_of(owner: str, argument: str, number: int) -> int:
    """Return a number of classes that a K×K table is made of."""
    if number > LARGEST_TABLE:
        raise _checks.fail(owner, argument, f"at most {LARGEST_TABLE} classes, for a table of all pairs", number)
    return number


def class_names(owner: str, argument: str, value: object, number: int | None = None) -> tuple[str, ...]:
    """Return unique names, from a number of classes or from a sequence, and ``number`` of them if that is given."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        names = tuple(map(str, range(class_count(owner, argument, value))))
    elif isinstance(value, str | bool) or not isinstance(value, Iterable):
        raise _checks.fail_type(owner, argument, "a number of classes or a list of names", repr(value))
    else:
        names = tuple(value)
    for name in names:
        if not isinstance(name, str) or not name:
            remedy = "Turn it into text first, for example with str()."
            raise _checks.fail_type(owner, argument, "non-empty strings", repr(name), remedy)
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise _checks.fail(owner, argument, "unique", f"{repeated[0]!r} more than once", "Rename or merge the classes.")
    if not names or len(names) != (number or len(names)):
        expected = "at least one class" if number is None else f"{number} names, one per class"
        raise _checks.fail(owner, argument, expected, len(names))
    return names


def seed(owner: str, value: object) -> int:
    """Return a seed that all of numpy, torch and scikit-learn accept."""
    number = _checks.whole(owner, "seed", value)
    if number >= SEEDS:
        raise _checks.fail(owner, "seed", f"a whole number from 0 to {SEEDS - 1}", number)
    return number


def prices(owner: str, value: object, classes: int | None = None) -> Tensor:
    """Return the ``(K, K)`` price of calling a true ``i`` a ``j``, in float64.

    A cost space is its matrix; a space from a taxonomy or an order prices a mistake by the steps between the classes.
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
        remedy = "Build one with labelspace.cost(matrix, names), or price a mistake by space.distances()."
        raise _checks.fail(owner, "cost", "a cost space or one from a taxonomy or an order", repr(space), remedy)
    if bool((space.hops < 0).any()):
        place = int((space.hops < 0).any(dim=1).nonzero()[0])
        remedy = "Give a cost matrix in which every mistake has a price, such as space.distances()."
        got = f"no path from {space.names[place]!r}"
        raise _checks.fail(owner, "cost", "a taxonomy that joins all classes", got, remedy)
    return space.hops


def warn_absent(owner: str, y: Tensor, classes: int, consequence: str) -> Tensor:
    """Return which classes have samples, after a warning that names those without."""
    present = torch.bincount(y, minlength=classes) > 0
    absent = (~present).nonzero().flatten().tolist()
    if absent:
        warnings.warn(f"{owner}: `y` has no sample of {some_classes(absent)}; {consequence}.", stacklevel=3)
    return present


def some_classes(places: list[int], most: int = 8) -> str:
    """Return text such as ``"class 3"`` or ``"classes 0, 2 and 5 more"``."""
    shown = ", ".join(map(str, places[:most])) + (f" and {len(places) - most} more" if len(places) > most else "")
    return f"class {shown}" if len(places) == 1 else f"classes {shown}"


def check_table(owner: str, argument: str, classes: int) -> None:
    """Refuse so many classes that a number for every two of them takes more than 4 GiB, or what the variable says."""
    if 8 * classes**2 > _opening.cap(MOST_BYTES):
        got = f"{classes:,}, for which that takes {8 * classes**2 / 2**30:,.0f} GiB"
        raise _checks.fail(
            owner, argument, "so few classes that a number for every two of them fits", got, _opening.REMEDY
        )

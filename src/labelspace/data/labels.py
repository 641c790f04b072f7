"""Labels of any spelling → class indices and class names."""

import math
import re
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from labelspace import _checks
from labelspace.data.digests import Array
from labelspace.data.files import OWNER

Codes = NDArray[np.int64]
# as long as Python turns text into numbers
WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")
# so many different labels need no second look; above it numbers must occur so often, and beyond MANY someone must say
# that they are classes
FEW, FEW_EACH, MANY = 100, 10, 1000
EXACT = 2**53  # up to here every whole number has a float of its own
Numbers = NDArray[np.integer[Any]]


def encode(values: object, names: Sequence[str] | None = None) -> tuple[Codes, tuple[str, ...]]:
    """Return class indices and class names.

    Without ``names`` the classes are what occurs: numbers in numerical order (also numbers written as text),
    anything else in alphabetical order. With ``names`` the order is theirs: labels are names, or positions in it.

    Args:
        values: one label per sample: texts, whole numbers, booleans.
        names: the classes in their order, if it is to be fixed.

    Example:
        >>> codes, names = encode(["10", "9", "9"])
        >>> codes.tolist(), names
        ([1, 0, 0], ('9', '10'))
    """
    flat = _flat(values)
    if names is not None:
        return _encode_known(flat, _checks.class_names(OWNER, names))
    texts = [str(value) for value in flat.tolist()]
    if flat.dtype.kind in "UO" and all(WHOLE.fullmatch(text) for text in texts):
        # numbers written as text keep their spelling ("007") and are put in numerical order
        return _by_place(texts, sorted(set(texts), key=lambda text: (int(text), text)))
    numbers = _numbers(flat)
    if numbers is not None:
        found, codes = np.unique(numbers, return_inverse=True)
        return codes.astype(np.int64), tuple(str(int(value)) for value in found)
    return _by_place(texts, sorted(set(texts)))


def _by_place(texts: Sequence[str], classes: Sequence[str]) -> tuple[Codes, tuple[str, ...]]:
    place = {name: index for index, name in enumerate(classes)}
    return np.asarray([place[text] for text in texts], dtype=np.int64), tuple(classes)


def check_classes(y: Codes, names: Sequence[str]) -> None:
    """Refuse a single class, classes that have a name but no sample, and names that no file can hold."""
    _checks.writable_names(OWNER, "y", names)
    if len(names) < 2:
        got = f"only {names[0]!r}" if names else "no samples"
        remedy = "There is nothing to tell apart: add samples of another class, or name another column of labels."
        raise _checks.fail(OWNER, "name_or_path", "data with labels of at least two classes", got, remedy)
    counts = np.bincount(y, minlength=len(names))
    empty = [name for name, count in zip(names, counts, strict=True) if count == 0]
    if empty:
        shown = ", ".join(repr(name) for name in empty[:5]) + (" …" if len(empty) > 5 else "")
        remedy = "Add samples of these classes, or take them out of the names."
        raise _checks.fail(OWNER, "names", "classes with samples", f"{len(empty)} without any ({shown})", remedy)


def check_classes_repeat(column: str, values: Sequence[object]) -> None:
    """Refuse a column of a table that is no column of classes: numbers to predict, or texts that hardly repeat.

    Args:
        column: its name.
        values: one per row.

    Example:
        >>> check_classes_repeat("price", list(range(300, 700)))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        labelspace._checks.InputError: ...Got 'price' with 400 different numbers in 400 rows...
    """
    different = {str(value).strip() for value in values}
    if len(different) <= FEW:
        return
    numbers = all(WHOLE.fullmatch(text.removesuffix(".0")) for text in different)
    if numbers and (len(different) > MANY or len(values) < FEW_EACH * len(different)):
        what, looks = "numbers", "a quantity (a regression target): cut it into classes first, as pandas.qcut does"
    elif len(values) < 2 * len(different):
        what, looks = "values", "texts, measurements or names of rows"
    else:
        return
    got = f"{column!r} with {len(different)} different {what} in {len(values)} rows"
    meant = _checks.Setting("categorical", [column])
    remedy = (f"That looks like {looks}. Name another column, or say ", meant, " if each is a class.")
    raise _checks.fail(OWNER, "label", "a column of classes", got, remedy)


def _flat(values: object) -> Array:
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        remedy = "For one-hot labels give y.argmax(1)."
        raise _checks.fail(OWNER, "y", "one label per sample", f"shape {array.shape}", remedy)
    missing = [row for row, value in enumerate(array.tolist()) if _is_missing(value)]
    if missing:
        drop = ("Take these rows out (", _checks.Setting("missing", "drop"), " does it for tables).")
        raise _checks.fail(OWNER, "y", "a label for every sample", f"{len(missing)} missing (row {missing[0]})", drop)
    return array


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip()) or (value != value)


def _numbers(array: Array) -> Numbers | None:
    """Return whole numbers, None if the labels are not numbers, or refuse fractions and what is too large."""
    if array.dtype == bool:
        return None
    if np.issubdtype(array.dtype, np.integer):
        return cast(Numbers, array)  # of its own type: uint64 holds what int64 would turn negative
    try:
        numbers = [float(value) for value in array.tolist() if not isinstance(value, bool)]
    except (TypeError, ValueError):
        return None
    except OverflowError:
        numbers = [math.inf] * len(array)
    if len(numbers) < len(array) or any("_" in value for value in array.tolist() if isinstance(value, str)):
        return None
    fractions = [value for value in numbers if not math.isfinite(value) or value != int(value)]
    if fractions:
        got = f"{fractions[0]:g} and {len(fractions) - 1} more like it"
        remedy = "These look like measurements: cut them into classes first, for example with numpy.digitize."
        raise _checks.fail(OWNER, "y", "class labels (texts or whole numbers)", got, remedy)
    large = next((value for value in numbers if abs(value) > EXACT), None)
    if large is not None:
        remedy = "Beyond that, different numbers are the same float: give such labels as texts or integers."
        raise _checks.fail(OWNER, "y", f"class labels of at most {EXACT:,} where they are floats", f"{large:g}", remedy)
    return np.asarray(numbers, dtype=np.int64)


def _encode_known(array: Array, names: tuple[str, ...]) -> tuple[Codes, tuple[str, ...]]:
    place = set(names)
    texts = [str(value) for value in array.tolist()]
    if all(text in place for text in texts):
        return _by_place(texts, names)
    numbers = _numbers(array)
    if numbers is None:
        _checks.known_names(OWNER, "y", texts, names)
        raise AssertionError("some label is no name")
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= len(names)):
        got = f"labels from {numbers.min()} to {numbers.max()}"
        raise _checks.fail(OWNER, "y", f"positions 0 to {len(names) - 1} in the {len(names)} names", got)
    return numbers.astype(np.int64), names

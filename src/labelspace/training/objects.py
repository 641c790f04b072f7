"""Samples that Python holds, in one of the few forms that are prepared for a model: columns, texts or an array."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from labelspace.data.digests import Array
from labelspace.data.source import Kind
from labelspace.spec.frames import Frame

NUMBERS = "biuf"  # the kinds of numpy's types that are numbers


@runtime_checkable
class Series(Protocol):
    """What is used of a row or a column of a DataFrame."""

    def to_dict(self) -> dict[object, object]:
        """Return a row by the names of its columns."""

    def to_numpy(self) -> Array:
        """Return a column."""


def formed(x: object, kind: Kind, columns: Sequence[str]) -> object:
    """Return columns, a list (of texts or files) or an array of numbers; anything else stays what it is.

    Args:
        x: an array, lists of numbers, a list of rows (lists or dicts), a DataFrame, a row or a column of one, …
        kind: of the data that the model was trained on.
        columns: of a table, in the order of training: rows without names are in this order.

    Example:
        >>> formed([[1.5, "red"], [2.0, "blue"]], "table", ["size", "colour"])
        {'size': [1.5, 2.0], 'colour': ['red', 'blue']}
        >>> formed([{"size": 1}, {"size": 2}], "table", ["size"])
        {'size': [1, 2]}
    """
    if isinstance(x, Mapping) or (isinstance(x, Frame) and kind in ("table", "text")):
        return x
    if isinstance(x, Series):  # a frame has both, too
        x = x.to_dict() if kind == "table" else x.to_numpy()
    elif isinstance(x, Frame):
        x = x.to_numpy()
    if isinstance(x, np.ndarray):
        return _of_array(x, kind, columns)
    return _of_list(x, kind, columns) if isinstance(x, list | tuple) and x else x


def _of_array(x: NDArray[np.generic], kind: Kind, columns: Sequence[str]) -> object:
    if kind == "table" and x.ndim == 2 and x.shape[1] == len(columns):
        return {name: x[:, place].tolist() for place, name in enumerate(columns)}
    return x if x.dtype.kind in NUMBERS else _of_list(x.tolist(), kind, columns)


def _of_list(x: Sequence[object], kind: Kind, columns: Sequence[str]) -> object:
    if all(isinstance(row, Mapping) for row in x):
        rows = [row for row in x if isinstance(row, Mapping)]
        return {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}
    if kind == "table" and all(isinstance(row, list | tuple) and len(row) == len(columns) for row in x):
        return {name: [row[place] for row in x if isinstance(row, list | tuple)] for place, name in enumerate(columns)}
    if all(isinstance(one, str) for one in x):
        return list(x)
    found = _numbers(x)
    return x if found is None else found


def _numbers(x: Sequence[object]) -> Array | None:
    """Return lists of numbers, arrays or tensors as an array; None where they are none, or of different lengths."""
    try:
        found = np.asarray(x)
    except (TypeError, ValueError, RuntimeError):
        return None
    return found if found.dtype.kind in NUMBERS else None

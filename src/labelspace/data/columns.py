"""Columns of a table → numbers: what kind each one is, and how it is encoded from the training part alone."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelspace import _checks
from labelspace.data.arrays import check_finite
from labelspace.data.table_files import Columns, is_missing

OWNER = "data.load"
# a column of texts with more different values than this is no category unless someone says so
MOST_CATEGORIES = 100
Rows = NDArray[np.int64]


def kinds(columns: Columns, numeric: Sequence[str], categorical: Sequence[str]) -> dict[str, str]:
    """Return ``"numeric"`` or ``"categorical"`` per column: as said, else numeric if every value is a number."""
    _checks.known_names(OWNER, "numeric", list(numeric), list(columns))
    _checks.known_names(OWNER, "categorical", list(categorical), list(columns))
    found = {}
    for name, values in columns.items():
        filled = [value for value in values if not is_missing(value)]
        if name in numeric:
            _check_numeric(name, filled)
        if name in categorical or (name not in numeric and not all(_is_number(value) for value in filled)):
            if name not in categorical:
                _check_categories(name, filled)
            found[name] = "categorical"
        else:
            found[name] = "numeric"
    return found


def encode(
    columns: Columns, kind: Mapping[str, str], order: Sequence[Rows]
) -> tuple[list[NDArray[Any]], dict[str, Any]]:
    """Return float32 features of three parts, and what was done.

    A numeric column is one feature, a categorical one a feature per category of the training part; a category that
    occurs only elsewhere is all zeros. A missing number becomes the median of the training part, a missing category
    its most frequent one.
    """
    train = order[0]
    features: list[str] = []
    encoded: list[list[NDArray[Any]]] = [[] for _ in order]
    said: dict[str, Any] = {"columns": features}
    for name, values in columns.items():
        if kind[name] == "numeric":
            numbers = _numbers(values, train)
            features.append(name)
            blocks = [numbers[rows][:, None] for rows in order]
        else:
            texts = _categories(values, train)
            known = sorted(set(texts[train].tolist()))
            features += [f"{name}={category}" for category in known]
            blocks = [(texts[rows][:, None] == np.asarray(known, dtype=object)).astype(np.float32) for rows in order]
            unseen = sum(int((block.sum(axis=1) == 0).sum()) for block in blocks)
            if unseen:
                said.setdefault("unseen categories (all zeros)", {})[name] = unseen
        for part, block in zip(encoded, blocks, strict=True):
            part.append(block)
    parts = [np.concatenate(blocks, axis=1, dtype=np.float32) for blocks in encoded]
    return parts, said


def _numbers(values: Sequence[Any], train: Rows) -> NDArray[Any]:
    numbers = np.asarray([np.nan if is_missing(value) else float(value) for value in values], dtype=np.float64)
    empty = np.isnan(numbers)
    if empty.any():
        filled = numbers[train][~empty[train]]
        numbers[empty] = median(filled.tolist()) if len(filled) else 0.0
    return numbers


def check_numbers(columns: Columns, kind: Mapping[str, str]) -> None:
    """Refuse infinite values, naming column and row; also those that only fit into more than 32 bits."""
    for name, values in columns.items():
        if kind[name] == "numeric":
            numbers = [0.0 if is_missing(value) else float(value) for value in values]
            with np.errstate(over="ignore"):
                check_finite(np.asarray(numbers).astype(np.float32)[:, None], [repr(name)])


def _categories(values: Sequence[Any], train: Rows) -> NDArray[Any]:
    texts = np.asarray([None if is_missing(value) else str(value).strip() for value in values], dtype=object)
    empty = np.asarray([text is None for text in texts])
    if empty.any():
        counts = Counter(text for text in texts[train].tolist() if text is not None)
        texts[empty] = min(counts, key=lambda text: (-counts[text], text)) if counts else "missing"
    return texts


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    # Python reads 1_000 as a number, which in a table is more likely a code
    return "_" not in str(value)


def _check_numeric(name: str, values: Sequence[Any]) -> None:
    bad = next((value for value in values if not _is_number(value)), None)
    if bad is not None:
        raise _checks.fail(OWNER, "numeric", f"columns of numbers ({name!r})", repr(bad))


def _check_categories(name: str, values: Sequence[Any]) -> None:
    different = len({str(value) for value in values})
    if different > MOST_CATEGORIES:
        expected = f"columns of numbers or of at most {MOST_CATEGORIES} categories"
        got = f"{name!r} with {different} different texts in {len(values)} rows"
        remedy = f"Say what it is: text={name!r}, categorical=[{name!r}] or ignore=[{name!r}]."
        raise _checks.fail(OWNER, "name_or_path", expected, got, remedy)

"""Scores as people keep them: arrays in NPZ files, tables with a column for each class, frames, dicts and pairs."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._opening import Asked
from labelspace.data import memory, tables
from labelspace.data.npy import Stored
from labelspace.data.numbers import is_number, number
from labelspace.data.tables import Columns
from labelspace.spec.naming import canonical

PARTS = ("validation", "test")
PLAIN = ("scores", "y", "groups", "cost_factors")
# what is read of an NPZ file; other arrays in it stay where they are
MEMBERS = ("names", *PLAIN, *(f"{part}_{name}" for part in PARTS for name in PLAIN))
PART_COLUMNS = ("part", "split")
# how tables call a column that only numbers their rows
ROW_NUMBERS = ("", "Unnamed: 0", "__index_level_0__")
FORMS = "an NPZ, CSV or Parquet file, a DataFrame, a dict of arrays or a pair (scores, y)"


class Beside(NamedTuple):
    """The columns of a table that are no classes.

    Args:
        label: of true classes.
        groups: of what belongs together.
        ignore: to leave out.
        keep: to pass on.
        factors: of what the prices of each sample are multiplied by, if there is one.
    """

    label: str = "y"
    groups: str = "groups"
    ignore: Sequence[str] = ()
    keep: Sequence[str] = ()
    factors: str | None = None

    @property
    def others(self) -> set[str]:
        """All of them by name."""
        return {self.label, self.groups, *self.ignore, *self.keep, *([] if self.factors is None else [self.factors])}


class Sheet(NamedTuple):
    """The scores of some samples as they were given.

    Args:
        origin: where they come from, for messages.
        scores: numbers of shape ``(N, K)``, or ``(seeds, N, K)``.
        names: of the columns, where something names them.
        y: true classes, where they are known.
        groups: what belongs together, where that is said.
        by_name: whether labels are names of columns, as in a table; in arrays whole numbers count the columns.
        unread: rows of a table with something else than a number in them, and what that is.
        kept: columns that were asked for.
        factors: what the prices of each sample are multiplied by, where that is said.
    """

    origin: str
    scores: object
    names: tuple[str, ...] | None = None
    y: object = None
    groups: object = None
    by_name: bool = False
    unread: Mapping[int, str] = {}
    kept: Columns = {}
    factors: object = None


def read(given: object, origin: str, asked: Asked, beside: Beside | None = None) -> dict[str, Sheet]:
    """Return what a file or an object holds: the sheets ``validation`` and ``test``, or one without a name.

    Args:
        given: the path of an NPZ file, or of a table (.csv, .tsv, also gzipped, .parquet) that has a column for each
            class; a DataFrame or a dict of such columns; a dict of arrays as in an NPZ file; or a pair ``(scores, y)``.
        origin: what it is called in messages; files have names of their own.
        asked: whose argument it is.
        beside: columns of tables that are no classes.
    """
    beside = beside or Beside()
    if isinstance(given, str | Path):
        path = Path(given)
        if not path.is_file():
            raise _checks.fail(*asked, "the path of an NPZ, CSV or Parquet file", f"{str(given)!r}, which is not there")
        if tables.is_table(path):
            return _of_columns(_table(path, asked, beside), str(given), asked, beside)
        stored = Stored(path, *asked)
        return _of_arrays({name: stored[name] for name in MEMBERS if name in stored}, str(given), asked)
    if isinstance(given, Mapping) and any(name in given for name in MEMBERS if name.endswith("scores")):
        return _of_arrays(given, origin, asked)
    columns = memory.columns_of(given, *asked)
    if columns is not None:
        return _of_columns(columns, origin, asked, beside)
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise _checks.fail(*asked, f"for each part {FORMS}", type(given).__name__)
    framed = memory.columns_of(given[0], *asked)
    if framed is None:
        return {"": Sheet(origin, given[0], y=given[1])}
    numbers, unread = _numbers(framed)
    return {"": Sheet(origin, numbers, tuple(framed), given[1], unread=unread)}


def checked(sheet: Sheet, asked: Asked) -> Tensor:
    """Return the scores of a sheet, ``(seeds, N, K)``, in their own type; whether they are finite is left to others.

    Args:
        sheet: which must have a name for each column, or none.
        asked: whose argument it is.
    """
    given = _inputs.tensor(*asked, sheet.scores)
    table = given[None] if given.ndim == 2 else given
    if table.ndim != 3 or 0 in table.shape or table.shape[2] < 2:
        expected = "scores of shape (N, K), or (seeds, N, K), with at least one sample and two classes"
        raise _checks.fail(*asked, expected, f"{tuple(given.shape)} in {sheet.origin}")
    if sheet.names is not None and len(sheet.names) != table.shape[2]:
        expected = f"{table.shape[2]} names, one per column of the scores"
        raise _checks.fail(asked.owner, "names", expected, f"{len(sheet.names)} in {sheet.origin}")
    return table.cpu()


def in_order(values: Tensor, own: Sequence[str] | None, classes: Sequence[str]) -> Tensor:
    """Return scores with their columns in the order of the classes, which are the same by name.

    Args:
        values: ``(seeds, N, K)``.
        own: names of the columns; None where nothing names them, and they stay as they are.
        classes: in the order that is wanted.

    Example:
        >>> import torch
        >>> in_order(torch.tensor([[[1.0, 2.0]]]), ["dog", "cat"], ["cat", "dog"])
        tensor([[[2., 1.]]])
    """
    if own is None or list(own) == list(classes):
        return values
    place = {canonical(name): number for number, name in enumerate(own)}
    return values[:, :, [place[canonical(name)] for name in classes]]


def _of_arrays(arrays: Mapping[str, object], origin: str, asked: Asked) -> dict[str, Sheet]:
    names = None if arrays.get("names") is None else tuple(map(_text, np.ravel(np.asarray(arrays["names"])).tolist()))
    if "scores" in arrays or not any(f"{part}_scores" in arrays for part in PARTS):
        if "scores" not in arrays:
            expected = "with arrays named scores and y, or validation_scores, validation_y, test_scores and test_y"
            raise _checks.fail(*asked, expected, f"no scores in {origin}")
        known = arrays.get("y"), arrays.get("groups")
        return {"": Sheet(origin, arrays["scores"], names, *known, factors=arrays.get("cost_factors"))}
    found = {}
    for part in PARTS:
        groups = arrays.get(f"{part}_groups", arrays.get("groups") if part == "test" else None)
        place = f"{part}_scores in {origin}"
        if f"{part}_scores" in arrays:
            y, factors = arrays.get(f"{part}_y"), arrays.get(f"{part}_cost_factors")
            found[part] = Sheet(place, arrays[f"{part}_scores"], names, y, groups, factors=factors)
    return found


def _of_columns(columns: Columns, origin: str, asked: Asked, beside: Beside) -> dict[str, Sheet]:
    named = [*beside.ignore, *beside.keep, *([] if beside.factors is None else [beside.factors])]
    named += [name for name, usual in zip(beside[:2], Beside()[:2], strict=True) if name != usual]
    absent = next((name for name in named if name not in columns), None)
    if absent is not None:
        got = f"no {absent!r} among {_checks.listed(list(columns))}"
        raise _checks.fail(*asked, f"a table with a column {absent!r}", f"{got} in {origin}")
    parts = next((name for name in PART_COLUMNS if name in columns and _are_parts(columns[name])), None)
    apart = {*beside.others, parts, *ROW_NUMBERS}
    scores = {name: values for name, values in columns.items() if name not in apart}
    if len(scores) < 2:
        expected = f"a table with a column for each class beside {beside.label!r}"
        raise _checks.fail(*asked, expected, f"{_checks.listed(list(scores)) or 'none'} in {origin}")
    numbers, unread = _numbers(scores)
    kept = {name: columns[name] for name in beside.keep}
    y, groups = columns.get(beside.label), columns.get(beside.groups)
    factors = None if beside.factors is None else columns[beside.factors]
    whole = Sheet(origin, numbers, tuple(scores), y, groups, True, unread, kept, factors)
    if parts is None:
        return {"": whole}
    said = [memory.SPELLINGS[str(value).strip().lower()] for value in columns[parts]]
    return {part: _rows(whole, part, [row for row, each in enumerate(said) if each == part]) for part in PARTS}


def _rows(sheet: Sheet, part: str, rows: Sequence[int]) -> Sheet:
    """Return some rows of a table."""
    place = {row: number for number, row in enumerate(rows)}

    def some(values: object) -> object:
        return [values[row] for row in rows] if isinstance(values, Sequence) else None

    assert isinstance(sheet.scores, np.ndarray)
    return sheet._replace(
        origin=f"the {part} part of {sheet.origin}",
        scores=sheet.scores[list(rows)],
        y=some(sheet.y),
        groups=some(sheet.groups),
        factors=some(sheet.factors),
        unread={place[row]: why for row, why in sheet.unread.items() if row in place},
    )


def _are_parts(values: Sequence[object]) -> bool:
    return {str(value).strip().lower() for value in values} <= set(memory.SPELLINGS)


def _table(path: Path, asked: Asked, beside: Beside) -> Columns:
    header = next(iter(tables.pieces(path, 1, asked, wanted=[beside.label])))
    others = {*beside.others, *PART_COLUMNS}
    found: dict[str, list[object]] = {name: [] for name in header}
    scores = [name for name in header if name not in others or name == beside.factors]
    for piece in tables.pieces(path, tables.ROWS, asked, wanted=[beside.label], numeric=scores):
        for name, values in piece.items():
            found[name].extend(values)
    return found


def _numbers(columns: Columns) -> tuple[NDArray[np.float64], dict[int, str]]:
    """Return the columns as numbers, and the rows in which something else stands, with NaN for it."""
    arrays, unread = [], dict[int, str]()
    for name, values in columns.items():
        array = _floats(values)
        for row in np.flatnonzero(~np.isfinite(array)).tolist():
            unread.setdefault(row, f"{values[row]!r} for {name!r}")
        arrays.append(array)
    return np.stack(arrays, axis=1), dict(sorted(unread.items()))


def _floats(values: Sequence[object]) -> NDArray[np.float64]:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # a cell that is none
        return np.array([number(value) if is_number(value) else np.nan for value in values])


def _text(name: object) -> str:
    return name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else label_of(name)


def label_of(value: object) -> str:
    """Return the name of a class as it is written: a whole number without a decimal point.

    Example:
        >>> label_of(3.0), label_of("low"), label_of(2)
        ('3', 'low', '2')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def labels_of(y: object) -> list[str] | None:
    """Return labels that are text; None where they are numbers, or nothing that could be labels."""
    values: object = y
    for name in ("detach", "tolist", "to_pylist"):  # of torch, of numpy and pandas, of Arrow
        if hasattr(values, name):
            values = getattr(values, name)()
    if not isinstance(values, Iterable) or isinstance(values, str | bytes):
        return None
    listed = list(values)
    return list(map(_text, listed)) if any(isinstance(value, str | bytes) for value in listed) else None

"""Data that are objects in Python: which form each has, its ready parts, and tables as columns.

Nothing here imports the packages that such objects come from: a DataFrame is what has columns, a Hugging Face dataset
what has column names and features.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeGuard

import numpy as np
import torch
from torch.utils.data import Dataset as TorchDataset
from torch.utils.data import IterableDataset

from labelspace import _checks
from labelspace.data.files import OWNER
from labelspace.data.tables import PARTS, Columns

FORMS = (
    "a name, a path, a pair (x, y), a DataFrame, a dict of columns, a torch or Hugging Face Dataset, or a dict of parts"
)
SPELLINGS = {spelling: part for part, spellings in PARTS.items() for spelling in spellings}


class HuggingFace(Protocol):
    """What is used of a Hugging Face dataset."""

    column_names: Sequence[str]
    features: Mapping[str, object]

    def __len__(self) -> int:
        """Return the number of rows."""
        ...

    def __getitem__(self, key: int | str) -> Any:
        """Return a row by its number, or a column by its name."""
        ...


class Tables(NamedTuple):
    """Columns of every part, and the classes in their order where a column says which it holds.

    Numbers in files may have decimal commas; what separates the cells tells.
    """

    parts: dict[str, Columns]
    classes: dict[str, tuple[str, ...]]
    separator: str = ","


def form(source: object) -> str:
    """Return in what form all parts of the data are: ``"arrays"``, ``"items"``, ``"pictures"`` or ``"columns"``.

    Args:
        source: what was given; anything else is refused in words.

    Example:
        >>> form(([[1.0], [2.0]], [0, 1])), form({"size": [1, 2], "label": ["a", "b"]})
        ('arrays', 'columns')
    """
    forms = {name: _form(part) for name, part in parts(source).items()}
    different = set(forms.values())
    if different == {"arrays", "items"}:
        return "items"
    if len(different) > 1:
        got = ", ".join(f"{kind} for {name!r}" for name, kind in forms.items())
        raise _checks.fail(OWNER, "name_or_path", "parts of one form", got, "Give all of them in the same form.")
    return different.pop()


def parts(source: object) -> dict[str, object]:
    """Return ready parts by the names train, validation and test; anything else, or a lone train, is ``all``.

    Example:
        >>> list(parts({"train": ([[1.0]], [0]), "val": ([[2.0]], [1])}))
        ['train', 'validation']
    """
    if not is_split(source):
        return {"all": source}
    found: dict[str, object] = {}
    for key, part in source.items():
        name = SPELLINGS.get(str(key).lower())
        if name is None or name in found:
            got = f"{str(key)!r} among {', '.join(repr(str(each)) for each in source)}"
            remedy = "Give a dict of the parts that are meant, under these names."
            raise _checks.fail(OWNER, "name_or_path", "parts called train, validation and test, each once", got, remedy)
        found[name] = part
    if "train" not in found:
        raise _checks.fail(OWNER, "name_or_path", "parts with one called train", f"only {', '.join(found)}")
    # a training part alone is split like any other data
    return {name: found[name] for name in PARTS if name in found} if len(found) > 1 else {"all": found["train"]}


def is_split(source: object) -> TypeGuard[Mapping[object, object]]:
    """Return whether a dict holds parts of the data, not columns."""
    if not isinstance(source, Mapping):
        return False
    named = any(str(key).lower() in PARTS["train"] for key in source)
    return named or any(isinstance(part, Mapping | TorchDataset) or _is_table(part) for part in source.values())


def is_hugging_face(part: object) -> TypeGuard[HuggingFace]:
    """Return whether something has the columns and features of a Hugging Face dataset."""
    return hasattr(part, "column_names") and hasattr(part, "features")


def picture_columns(part: HuggingFace) -> list[str]:
    """Return the columns of a Hugging Face dataset that hold pictures."""
    return [name for name in part.column_names if type(part.features[name]).__name__ == "Image"]


def class_names(part: HuggingFace, column: str) -> tuple[str, ...] | None:
    """Return the classes that a column of a Hugging Face dataset stands for, None where it holds something else."""
    found = getattr(part.features[column], "names", None)
    return None if found is None else _checks.class_names(OWNER, list(found))


def decoded(values: Sequence[object], classes: tuple[str, ...] | None, where: str) -> list[object]:
    """Return the names of classes for their positions; names stay what they are.

    Args:
        values: one per sample.
        classes: in their order; None leaves everything as it is.
        where: the part, for the message.
    """
    if classes is None:
        return list(values)
    wrong = next((value for value in values if isinstance(value, int) and not 0 <= value < len(classes)), None)
    if wrong is not None:
        remedy = "Leave out a part without labels, or samples without one." if wrong == -1 else ""
        expected = f"positions 0 to {len(classes) - 1} in the {len(classes)} classes that the data names"
        raise _checks.fail(OWNER, "y", expected, f"{wrong} in part {where!r}", remedy)
    return [classes[value] if isinstance(value, int) else value for value in values]


def in_order(classes: Mapping[str, tuple[str, ...] | None], y: Sequence[object]) -> tuple[str, ...] | None:
    """Return the classes that occur, in the order of the training part's names; None where it has no names.

    Args:
        classes: of every part, the training part first.
        y: the labels of all parts, decoded.
    """
    first = next(iter(classes.values()))
    if first is None:
        return None
    present = {str(value) for value in y if value is not None}
    return (*(name for name in first if name in present), *sorted(present.difference(first)))


def tables(source: object) -> Tables:
    """Return the columns of every part of tables in memory."""
    found: dict[str, Columns] = {}
    classes: dict[str, tuple[str, ...]] = {}
    for name, part in parts(source).items():
        table = columns_of(part, OWNER, "name_or_path")
        assert table is not None
        if not table or not next(iter(table.values())):
            raise _checks.fail(OWNER, "name_or_path", f"a table with rows (part {name!r})", "none")
        if is_hugging_face(part):
            named = {column: class_names(part, column) for column in part.column_names}
            table = {column: decoded(values, named[column], name) for column, values in table.items()}
            for column, own in named.items():
                if own is not None:
                    classes.setdefault(column, own)  # the training part comes first
        found[name] = table
    return Tables(found, classes)


def columns_of(x: Any, owner: str = "Run", argument: str = "x") -> Columns | None:
    """Return the columns of a dict (of columns, or of one row) or of a DataFrame; None for anything else.

    Args:
        x: what was given.
        owner: whose argument it is, for messages.
        argument: that argument.

    Example:
        >>> columns_of({"size": 3.0, "colour": "red"})
        {'size': [3.0], 'colour': ['red']}
    """
    if not isinstance(x, Mapping) and not _is_table(x):
        return None
    names = list(x) if isinstance(x, Mapping) else list(getattr(x, "column_names", None) or x.columns)
    texts = [str(name) for name in names]
    twice = next((name for name in texts if texts.count(name) > 1), None) if len(set(texts)) < len(texts) else None
    if twice is not None:
        raise _checks.fail(owner, argument, "columns of different names", f"{twice!r} more than once")
    table = {text: x[name] for text, name in zip(texts, names, strict=True)}
    if table and all(isinstance(value, str) or not hasattr(value, "__len__") for value in table.values()):
        table = {name: [value] for name, value in table.items()}
    found = {name: list(_values(values)) for name, values in table.items()}
    if len({len(values) for values in found.values()}) != 1:
        lengths = ", ".join(f"{name!r} {len(values)}" for name, values in list(found.items())[:5])
        raise _checks.fail(owner, argument, "columns of one length", lengths or "no columns")
    return found


def check_cells(table: Columns, used: Sequence[str]) -> None:
    """Refuse columns with lists, pictures and the like in cells, or with text that no file can hold."""
    for name in used:
        if not _is_writable(name):
            raise _checks.fail(OWNER, "name_or_path", "columns with names that UTF-8 can write", repr(name))
        for row, cell in enumerate(table[name]):
            if _is_nested(cell):
                ignore = _checks.Setting("ignore", [name])
                remedy = ("Leave the column out with ", ignore, ", or give arrays as a pair (x, y).")
                expected = f"columns of numbers, categories or texts ({name!r})"
                raise _checks.fail(OWNER, "name_or_path", expected, f"{type(cell).__name__} in row {row}", remedy)
            if isinstance(cell, str) and not _is_writable(cell):
                expected = f"texts that UTF-8 can write ({name!r})"
                raise _checks.fail(OWNER, "name_or_path", expected, f"{cell[:80]!r} in row {row}")


def _form(part: object) -> str:
    if isinstance(part, tuple):
        return "arrays"
    if isinstance(part, IterableDataset) or (is_hugging_face(part) and not hasattr(part, "__len__")):
        remedy = (
            "It is read once into memory: give a dataset with a length and numbered items, or a list of them as (x, y)."
        )
        raise _checks.fail(OWNER, "name_or_path", "data with a length", "an iterable (streaming) dataset", remedy)
    if is_hugging_face(part):
        return "pictures" if picture_columns(part) else "columns"
    if isinstance(part, TorchDataset):
        return "items"
    if isinstance(part, Mapping) or _is_table(part):
        return "columns"
    raise _checks.fail_type(OWNER, "name_or_path", FORMS, type(part).__name__)


def _is_table(part: object) -> bool:
    return (hasattr(part, "columns") or hasattr(part, "column_names")) and hasattr(part, "__getitem__")


def _is_nested(cell: object) -> bool:
    return not isinstance(cell, str) and (hasattr(cell, "__len__") or hasattr(cell, "getbands"))


def _is_writable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _values(column: Any) -> Iterator[object]:
    for name in ("tolist", "to_pylist"):  # of pandas, numpy and torch, and of Arrow: Python's own numbers
        if hasattr(column, name):
            column = getattr(column, name)()
    yield from (_plain(value) for value in column)


def _plain(value: object) -> object:
    # pandas writes a missing value as an object of its own
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, torch.Tensor) and value.ndim == 0:
        return value.item()
    return value.item() if isinstance(value, np.generic) else value

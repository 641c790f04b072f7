"""Samples that are handed over one by one: torch datasets, and pictures of Hugging Face datasets, read once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import torch

from labelspace import _checks, _opening
from labelspace.data import images, memory, roles, tables
from labelspace.data.digests import Array
from labelspace.data.files import OWNER
from labelspace.data.found import Found
from labelspace.data.readers import arrays
from labelspace.data.source import ReaderOptions

if TYPE_CHECKING:
    from PIL import Image

PAIR = "pairs (x, y) of a tensor, an array, a picture or a number and a class"


@dataclass(frozen=True)
class _Part:
    x: Array | list[Array]  # a list while pictures may still be grey or coloured
    y: list[object]
    classes: tuple[str, ...] | None = None
    groups: list[str] | None = None


def read(
    source: object,
    *,
    names: Sequence[str] | None = None,
    groups: object = None,
    cost_factors: object = None,
    resize: int | tuple[int, int] | None = None,
    colour: bool | None = None,
) -> Found:
    """Return the samples of torch datasets, with what ``arrays.read`` makes of such numbers.

    Args:
        source: a torch dataset of items ``(x, y)``, or a dict of parts, some of which may be pairs of arrays. Its
            ``classes``, as torchvision has them, name the labels.
        names: class names in the order of the labels, in place of ``classes``.
        groups: a group per sample; for parts a dict of them.
        cost_factors: what a comparison multiplies the prices of each sample by, given as groups are.
        resize: a size to bring pictures to: ``n`` for n×n, or ``(height, width)``.
        colour: three channels or one, for pictures; by default one if all of them are grey.
    """
    wanted = _wanted(resize, colour)
    found = {name: _of_items(name, part, wanted) for name, part in memory.parts(source).items()}
    stored = arrays.beside("groups", groups, found) | arrays.beside("cost_factors", cost_factors, found)
    return _found(found, stored, names, wanted, "torch Dataset")


def read_pictures(
    source: object,
    *,
    label: str | None = None,
    group_by: str | None = None,
    ignore: Sequence[str] = (),
    names: Sequence[str] | None = None,
    resize: int | tuple[int, int] | None = None,
    colour: bool | None = None,
) -> Found:
    """Return the pictures of Hugging Face datasets; columns of anything else than pictures are left out.

    Args:
        source: a dataset with a column of pictures, or a dict of parts.
        label: the column of labels; by default one of classes, or one called label, class, target or y.
        group_by: a column whose values (patients, users, devices) are kept on one side of every split.
        ignore: columns to leave out, where there is more than one of pictures.
        names: class names in the order of the labels, in place of those that the data has.
        resize: a size to bring pictures to: ``n`` for n×n, or ``(height, width)``. Needed where sizes differ.
        colour: three channels or one; by default one if all pictures are grey.
    """
    wanted = _wanted(resize, colour)
    found = {}
    for name, part in memory.parts(source).items():
        assert memory.is_hugging_face(part)  # as its form says
        columns = _columns(part, label, group_by, ignore)
        found[name] = _of_pictures(name, part, columns, wanted, names is None)
    stored = {name: part.groups for name, part in found.items()}
    result = _found(
        found, arrays.beside("groups", stored if group_by else None, found), names, wanted, "Hugging Face Dataset"
    )
    options: ReaderOptions = {**result.source["options"], "group_by": group_by}
    return replace(result, source={**result.source, "options": options})


def _wanted(resize: int | tuple[int, int] | None, colour: bool | None) -> images.Wanted:
    return images.Wanted(None if colour is None else not colour, images.size_of(resize))


def _found(
    found: Mapping[str, _Part],
    stored: dict[str, Array],
    names: Sequence[str] | None,
    wanted: images.Wanted,
    title: str,
) -> Found:
    """Return what the arrays of all parts are, grey pictures among coloured ones coloured."""
    coloured = any(isinstance(part.x, list) and any(len(row) == 3 for row in part.x) for part in found.values())
    y = {}
    for name, part in found.items():
        end = "" if name == "all" else f"_{name}"
        stored[f"x{end}"] = _stacked(name, part.x, coloured)
        y[f"y{end}"] = part.y if names is not None else memory.decoded(part.y, part.classes, name)
    known = memory.in_order(
        {name: part.classes for name, part in found.items()}, [c for own in y.values() for c in own]
    )
    stored |= {name: np.asarray(values) for name, values in y.items()}
    options: ReaderOptions = {"resize": list(wanted.size)[::-1] if wanted.size else None, "colour": _colour(wanted)}
    return arrays.found_in(stored, known if names is None else names, title, options)


def _colour(wanted: images.Wanted) -> bool | None:
    return None if wanted.grey is None else not wanted.grey


def _stacked(part: str, rows: Array | list[Array], coloured: bool) -> Array:
    if not isinstance(rows, list):
        return rows
    same = [np.repeat(row, 3, axis=0) if coloured and len(row) == 1 else row for row in rows]
    other = next((row for row in same if row.shape != same[0].shape), None)
    if other is not None:
        (_, *first), (_, *second) = same[0].shape, other.shape
        got = f"height and width {tuple(first)} and {tuple(second)} in part {part!r}"
        remedy = ("Give one size to bring them to: ", _checks.Setting("resize", 64), ".")
        raise _checks.fail(OWNER, "resize", "given, because the pictures differ in size", got, remedy)
    return np.stack(same)


def _of_items(name: str, part: Any, wanted: images.Wanted) -> _Part:
    if isinstance(part, tuple):
        x, y = arrays.pair(part)
        return _Part(x, y.tolist() if y.ndim else [])
    rows: list[Array] = []
    labels: list[object] = []
    pictured: list[bool] = []
    for number, item in enumerate(_items(name, part)):
        if not isinstance(item, tuple | list) or len(item) != 2:
            raise _checks.fail_type(OWNER, "name_or_path", PAIR, f"{type(item).__name__} as item {number} of {name!r}")
        pictured.append(_pictured(item[0]))
        rows.append(_row(item[0], wanted, f"item {number} of {name!r}"))
        labels.append(_label(item[1], number, name))
        _check_room(rows, len(part))
    return _Part(rows if all(pictured) else _one_shape(name, rows), labels, _classes(part))


def _of_pictures(
    name: str, part: memory.HuggingFace, columns: tuple[str, str, str | None], wanted: images.Wanted, named: bool
) -> _Part:
    picture, label, group_by = columns
    rows: list[Array] = []
    for number, item in enumerate(_items(name, part)):
        rows.append(_row(item[picture], wanted, f"row {number} of {name!r}"))
        _check_room(rows, len(part))
    y = [_label(value, number, name) for number, value in enumerate(part[label])]
    groups = None if group_by is None else [str(value) for value in part[group_by]]
    return _Part(rows, y, memory.class_names(part, label) if named else None, groups)


def _columns(
    part: memory.HuggingFace, label: str | None, group_by: str | None, ignore: Sequence[str]
) -> tuple[str, str, str | None]:
    """Return the columns of pictures, labels and groups."""
    for option, wanted in (("label", label), ("group_by", group_by)):
        tables.check_columns(option, [] if wanted is None else [wanted], part.column_names)
    tables.check_columns("ignore", ignore, part.column_names)
    pictures = [name for name in memory.picture_columns(part) if name not in ignore]
    if len(pictures) != 1:
        listed = ", ".join(repr(name) for name in pictures) or "none"
        remedy = ("Leave the others out with ", _checks.Setting("ignore", pictures[1:]), ".") if pictures else ""
        raise _checks.fail(OWNER, "name_or_path", "one column of pictures", listed, remedy)
    free = [name for name in part.column_names if name not in {*pictures, group_by, *ignore}]
    classes = [name for name in free if memory.class_names(part, name) is not None]
    return pictures[0], label or roles.label_of(classes or free, {})[0], group_by


def _items(name: str, part: Any) -> Iterator[Any]:
    """Go through the items; one that cannot be had is named."""
    try:
        count = len(part)
    except (TypeError, NotImplementedError) as error:
        remedy = "It is read once into memory."
        raise _checks.fail(OWNER, "name_or_path", "a dataset with a length", f"{name!r} without", remedy) from error
    if not count:
        raise _checks.fail(OWNER, "name_or_path", "a dataset with items", f"none in {name!r}")
    for number in range(count):
        try:
            item = part[number]
        except Exception as error:  # somebody's own code
            got = f"{type(error).__name__}: {error}, for item {number} of {name!r}"
            raise _checks.fail(OWNER, "name_or_path", "items that can all be read", got) from error
        yield item


def _pictured(value: object) -> "TypeGuard[Image.Image]":
    return hasattr(value, "getbands")  # of Pillow, which may not be here


def _row(value: object, wanted: images.Wanted, where: str) -> Array:
    if _pictured(value):
        grey = value.mode in images.GREY_MODES if wanted.grey is None else wanted.grey
        return images.as_row(value, grey, wanted.size)
    if isinstance(value, torch.Tensor | np.ndarray | np.generic | int | float):
        row = arrays.as_array("x", value.detach() if isinstance(value, torch.Tensor) else value)
        return row if row.ndim else row[None]
    raise _checks.fail_type(OWNER, "name_or_path", PAIR, f"{type(value).__name__} for {where}")


def _label(value: object, number: int, part: str) -> object:
    plain = value
    if isinstance(value, torch.Tensor | np.ndarray | np.generic) and np.prod(value.shape) == 1:
        plain = value.item()
    if plain is not None and not isinstance(plain, str | int | float):
        expected = "a class for every sample: a whole number or a text"
        raise _checks.fail_type(OWNER, "y", expected, f"{type(value).__name__} for item {number} of {part!r}")
    return plain


def _one_shape(part: str, rows: Sequence[Array]) -> Array:
    first = rows[0]
    for number, row in enumerate(rows):
        if row.shape != first.shape or row.dtype != first.dtype:
            got = f"{row.dtype} {row.shape} for item {number} of {part!r}, {first.dtype} {first.shape} for item 0"
            raise _checks.fail(OWNER, "x", "samples of one shape and type", got)
    return np.stack(rows)


def _check_room(rows: Sequence[Array], count: int) -> None:
    """Refuse, from the first sample on, what would take more memory than anything that is read may fill."""
    most = _opening.cap(_opening.MOST)
    if len(rows) & (len(rows) - 1):  # asked after 1, 2, 4, 8 … samples: pictures may differ in size
        return
    taken = sum(row.nbytes for row in rows) * count // len(rows)
    if taken > most:
        got = f"{count:,} samples that take about {taken:,}"
        raise _checks.fail(OWNER, "name_or_path", f"data of at most {most:,} bytes", got, _opening.REMEDY)


def _classes(part: object) -> tuple[str, ...] | None:
    """Return the names of classes that a dataset, or the one that it is a subset of, knows as torchvision's do."""
    while not hasattr(part, "classes") and hasattr(part, "dataset"):
        part = part.dataset
    found = getattr(part, "classes", None)
    return None if not isinstance(found, list | tuple) else _checks.class_names(OWNER, [str(name) for name in found])

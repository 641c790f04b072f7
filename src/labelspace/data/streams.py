"""Samples without labels, for a model that has learned: rows by the names of columns, and pictures, some at a time.

What will not do has a reason: each for its row or its picture.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from difflib import get_close_matches
from functools import partial
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelspace import _checks
from labelspace._opening import Asked
from labelspace.data import files, images, missing
from labelspace.data.columns import Encoding
from labelspace.data.images import Picture
from labelspace.data.missing import is_missing
from labelspace.data.numbers import is_number, number
from labelspace.data.tables import Columns

ASKED = Asked("Run", "x")
# bytes of one piece, so that large pictures come in smaller pieces
PIECE_BYTES = 1 << 28


class Decoded(NamedTuple):
    """One piece: the names of its pictures, rows of those that could be read, and why the others could not."""

    names: list[str]
    rows: NDArray[np.uint8]
    problems: dict[int, str]


def pictures_in(place: Path | Sequence[Path]) -> list[Picture]:
    """Return the pictures of a file, of a list of files, or below a folder, which are named by their place in it."""
    if not isinstance(place, Path):
        return [Picture(str(path), partial(files.whole, path)) for path in place]
    if place.is_file():
        return [Picture(place.name, partial(files.whole, place))]
    if not place.is_dir():
        raise _checks.fail(*ASKED, "a picture or a folder of pictures", f"{place}, which is a device or a pipe")
    found = [Picture(inside.as_posix(), partial(files.whole, place / inside)) for inside in images.below(place)]
    if not found:
        endings = ", ".join(images.ENDINGS)
        raise _checks.fail(*ASKED, f"a folder with pictures ({endings})", f"{place}, which holds none")
    return found


def picture_pieces(
    pictures: Sequence[Picture], shape: tuple[int, int, int], resized: bool, size: int
) -> Iterator[Decoded]:
    """Yield the pictures as uint8 rows of one shape, in their order.

    Args:
        pictures: from ``pictures_in``.
        shape: channels, height and width; a grey row of a coloured picture, and the other way round, are made as in
            training.
        resized: whether pictures of another size are brought to this one; if not, they are refused.
        size: how many pictures a piece has at most.
    """
    step = min(size, max(1, PIECE_BYTES // prod(shape)))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(0, len(pictures), step):
            block = pictures[start : start + step]
            found = list(pool.map(lambda picture: _row(picture, shape, resized), block))
            good = [row for row in found if not isinstance(row, Exception)]
            problems = {place: str(why) for place, why in enumerate(found) if isinstance(why, Exception)}
            rows = np.asarray(good, dtype=np.uint8).reshape(-1, *shape)
            yield Decoded([picture.name for picture in block], rows, problems)


def row_problems(encoding: Encoding, table: Columns, rule: str) -> dict[int, str]:
    """Return why rows cannot be encoded; a missing value is a reason where training filled none."""
    problems: dict[int, str] = {}
    if rule in ("drop", "error"):
        gaps = missing.gaps_of(table, [column.name for column in encoding.columns], [])
        problems = {int(row): f"no value in {name!r}" for name, mask in gaps.items() for row in np.flatnonzero(mask)}
    for column in encoding.columns:
        for row, value in enumerate(table[column.name] if column.categories is None else ()):
            if not is_missing(value) and not _fits(value):
                problems.setdefault(row, f"{value!r} in {column.name!r}, which is no finite number")
    return problems


def without(table: Columns, problems: Mapping[int, str]) -> Columns:
    """Return a table without the rows that have problems."""
    if not problems:
        return table
    return {name: [value for row, value in enumerate(values) if row not in problems] for name, values in table.items()}


def slices(table: Columns, size: int) -> Iterator[Columns]:
    """Yield a table so many rows at a time."""
    for start in range(0, len(next(iter(table.values()))), size):
        yield {name: values[start : start + size] for name, values in table.items()}


def check_columns(wanted: Sequence[str], table: Columns) -> None:
    """Refuse a table that lacks columns, and suggest the nearest that it has."""
    absent = [name for name in wanted if name not in table]
    if absent:
        near = get_close_matches(absent[0], list(table), n=1)
        listed = ", ".join(repr(name) for name in list(table)[:8]) + (" …" if len(table) > 8 else "")
        remedy = f"Did you mean {near[0]!r}?" if near else f"It has {listed}."
        got = f"none called {', '.join(repr(name) for name in absent[:5])}{' …' if len(absent) > 5 else ''}"
        raise _checks.fail(*ASKED, "rows with the columns of training", got, remedy)


def _row(picture: Picture, shape: tuple[int, int, int], resized: bool) -> NDArray[np.uint8] | Exception:
    channels, height, width = shape
    if not resized:
        head = images.head_of(picture)
        if isinstance(head, Exception):
            return head
        if head[1] != (width, height):
            own = f"{head[1][0]}×{head[1][1]}"
            return ValueError(f"{own} pixels where training had {width}×{height} and resized nothing")
    return images.decode(picture, channels == 1, (width, height))


def _fits(value: object) -> bool:
    return is_number(value) and abs(number(value)) <= float(np.finfo(np.float32).max)

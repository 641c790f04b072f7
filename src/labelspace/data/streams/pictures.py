"""Pictures a piece at a time, for pictures without labels: each becomes a row of one shape, or a reason why not."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelspace import _checks
from labelspace.data import files, images
from labelspace.data.images import Picture
from labelspace.data.readers import image_folder

OWNER = "Run"
# bytes of one piece, so that large pictures come in smaller pieces
PIECE_BYTES = 1 << 28


class Decoded(NamedTuple):
    """One piece: the names of its pictures, rows of those that could be read, and why the others could not."""

    names: list[str]
    rows: NDArray[np.uint8]
    problems: dict[int, str]


def listed(place: Path | Sequence[Path]) -> list[Picture]:
    """Return the pictures of a file, of a list of files, or below a folder, which are named by their place in it."""
    if not isinstance(place, Path):
        return [Picture(str(path), partial(files.whole, path)) for path in place]
    if place.is_file():
        return [Picture(place.name, partial(files.whole, place))]
    if not place.is_dir():
        raise _checks.fail(OWNER, "x", "a picture or a folder of pictures", f"{place}, which is a device or a pipe")
    found = [Picture(inside.as_posix(), partial(files.whole, place / inside)) for inside in image_folder._listed(place)]
    if not found:
        endings = ", ".join(image_folder.ENDINGS)
        raise _checks.fail(OWNER, "x", f"a folder with pictures ({endings})", f"{place}, which holds none")
    return found


def pieces(pictures: Sequence[Picture], shape: tuple[int, int, int], resized: bool, size: int) -> Iterator[Decoded]:
    """Yield the pictures as uint8 rows of one shape, in their order.

    Args:
        pictures: from ``listed``.
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


def _row(picture: Picture, shape: tuple[int, int, int], resized: bool) -> NDArray[Any] | Exception:
    channels, height, width = shape
    if not resized:
        head = images._head(picture)
        if isinstance(head, Exception):
            return head
        if head[1] != (width, height):
            own = f"{head[1][0]}×{head[1][1]}"
            return ValueError(f"{own} pixels where training had {width}×{height} and resized nothing")
    return images._decode(picture, channels == 1, (width, height))

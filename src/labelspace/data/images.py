"""Pictures → arrays of bytes: one place that knows about formats, colours, orientation and sizes."""

import io
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labelspace import _checks
from labelspace.data import cache, digests
from labelspace.data.files import OWNER, files_below
from labelspace.data.found import Rows, Taken
from labelspace.data.source import Source

if TYPE_CHECKING:
    from PIL import Image

# decoded in one piece: bytes, and pictures at least and at most
BLOCK_BYTES, FEWEST, MOST = 1 << 25, 8, 512
ORIENTATION = 0x0112
LONGEST = 65_535  # pixels of a side: the most that a JPEG has
ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm", ".pbm")
GREY_MODES = ("1", "L", "LA", "I", "I;16", "I;16L", "I;16B", "I;16N")


@dataclass(frozen=True)
class Picture:
    """One picture: its name for messages, and how to get its bytes."""

    name: str
    content: Callable[[], bytes]


@dataclass(frozen=True)
class Wanted:
    """How pictures become rows: ``grey`` None decides by looking, ``size`` None takes them as they are."""

    grey: bool | None = None
    size: tuple[int, int] | None = None
    skip_unreadable: bool = False


def below(folder: Path) -> list[Path]:
    """Return the pictures below a folder, relative to it, in an order that no file system decides."""
    found = (path.relative_to(folder) for path in files_below(folder) if path.suffix.lower() in ENDINGS)
    return sorted(found, key=lambda place: place.as_posix())


def take(pictures: Sequence[Picture], found: digests.Digests, wanted: Wanted, order: Sequence[Rows]) -> Taken:
    """Return the pictures of three parts from the array cache, in which the parts lie one after the other."""
    rows = np.concatenate(list(order))
    chosen = [pictures[row] for row in rows]
    options = [wanted.grey, list(wanted.size or ()), wanted.skip_unreadable]
    entry = cache.fetch(digests.of_values(found[rows], options), lambda: _blocks(chosen, wanted))
    kept = np.split(entry.kept, np.cumsum([len(part) for part in order])[:-1])
    ends = np.cumsum([int(flags.sum()) for flags in kept])[:-1]
    skipped = [chosen[row].name for row in np.flatnonzero(~entry.kept)]
    source: Source = {"cache": entry.notice} if entry.notice else {}
    if skipped:
        source["skipped"] = {"count": len(skipped), "files": sorted(skipped)[:20]}
    return Taken(np.split(entry.rows, ends), np.split(entry.digests, ends), kept, source)


def _blocks(pictures: Sequence[Picture], wanted: Wanted) -> cache.Blocks:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        grey, size = _plan(pictures, wanted, pool)
        good = 0
        shape = (1 if grey else 3, size[1], size[0])
        step = min(max(BLOCK_BYTES // prod(shape), FEWEST), MOST)
        for start in range(0, len(pictures), step):
            block = pictures[start : start + step]
            rows = list(pool.map(lambda picture: decode(picture, grey, size), block))
            _check_readable(block, rows, wanted.skip_unreadable)
            flags = np.asarray([not isinstance(row, Exception) for row in rows])
            good += int(flags.sum())
            yield (
                np.asarray([row for row in rows if not isinstance(row, Exception)], np.uint8).reshape(-1, *shape),
                flags,
            )
    if not good:
        raise _none_readable(pictures)


def _none_readable(pictures: Sequence[Picture]) -> ValueError:
    return _checks.fail(OWNER, "name_or_path", "readable pictures", f"{len(pictures)} files, none readable")


def _plan(pictures: Sequence[Picture], wanted: Wanted, pool: ThreadPoolExecutor) -> tuple[bool, tuple[int, int]]:
    """Return whether the rows are grey and their (width, height), looking at the heads of files where it must."""
    if wanted.grey is not None and wanted.size is not None:
        return wanted.grey, wanted.size
    heads = list(pool.map(head_of, pictures))
    _check_readable(pictures, heads, wanted.skip_unreadable)
    read = [head for head in heads if not isinstance(head, Exception)]
    if not read:
        raise _none_readable(pictures)
    grey = all(mode in GREY_MODES for mode, _ in read) if wanted.grey is None else wanted.grey
    if wanted.size is not None:
        return grey, wanted.size
    sizes = Counter(size for _, size in read)
    if len(sizes) != 1:
        common = ", ".join(f"{width}×{height} ({count})" for (width, height), count in sizes.most_common(5))
        got = f"{len(sizes)} sizes, width×height: {common}{' …' if len(sizes) > 5 else ''}"
        one, two = _checks.Setting("resize", 64), _checks.Setting("resize", (48, 64))
        remedy = ("Give one size to bring them to: ", one, ", or ", two, " for height and width.")
        raise _checks.fail(OWNER, "resize", "given, because the pictures differ in size", got, remedy)
    return grey, next(iter(sizes))


def _check_readable(pictures: Sequence[Picture], results: Sequence[object], skip: bool) -> None:
    bad = [(picture, error) for picture, error in zip(pictures, results, strict=True) if isinstance(error, Exception)]
    if bad and not skip:
        picture, error = bad[0]
        more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
        skip_them = _checks.Setting("skip_unreadable", True)
        remedy = ("Repair or remove it, or leave such files out with ", skip_them, ".")
        raise _checks.fail(OWNER, "name_or_path", "readable pictures", f"{picture.name}{more} ({error})", remedy)


def head_of(picture: Picture) -> tuple[str, tuple[int, int]] | Exception:
    """Return the mode and (width, height) of a picture as it is turned, or why it cannot be read."""
    try:
        with _opened(picture) as image:
            turned = image.getexif().get(ORIENTATION) in (5, 6, 7, 8)
            return image.mode, (image.height, image.width) if turned else image.size
    except Exception as error:  # Pillow's plugins raise what they like for damaged files
        return _named(error)


def decode(picture: Picture, grey: bool, size: tuple[int, int]) -> NDArray[np.uint8] | Exception:
    """Return a picture as ``as_row`` does, or why it cannot be read."""
    try:
        with _opened(picture) as opened:
            return as_row(opened, grey, size)
    except Exception as error:  # as above
        return _named(error)


@contextmanager
def _opened(picture: Picture) -> Iterator["Image.Image"]:
    from PIL import Image

    with Image.open(io.BytesIO(picture.content())) as image:
        if max(image.size) > LONGEST:  # Pillow keeps a pointer for every line, however short
            raise ValueError(f"{image.width}×{image.height} pixels; a side may have {LONGEST:,}")
        yield image


def as_row(opened: "Image.Image", grey: bool, size: tuple[int, int] | None) -> NDArray[np.uint8]:
    """Return a picture as bytes ``(C, H, W)``, turned as its EXIF data says.

    Args:
        opened: of any mode.
        grey: one channel or three.
        size: Pillow's (width, height) to bring it to; its own if None.
    """
    from PIL import Image, ImageOps

    image = _bytes_per_channel(ImageOps.exif_transpose(opened), grey)
    if size is not None and image.size != size:
        image = image.resize(size, Image.Resampling.BILINEAR)
    array = np.asarray(image, dtype=np.uint8)
    return array[None] if grey else np.ascontiguousarray(array.transpose(2, 0, 1))


def size_of(resize: int | tuple[int, int] | None) -> tuple[int, int] | None:
    """Return Pillow's (width, height) of what people give: a size for both, or (height, width)."""
    if resize is None:
        return None
    pair = (resize, resize) if isinstance(resize, int) else tuple(resize)
    if len(pair) != 2:
        raise _checks.fail(OWNER, "resize", "a size n or a pair (height, width)", repr(resize))
    height, width = (_checks.whole(OWNER, "resize", value, low=1) for value in pair)
    return width, height


def _named(error: Exception) -> Exception:
    # a message of Pillow holds the address of the buffer, which is different every time
    text = str(error).split(" <_io")[0] or type(error).__name__
    return ValueError(text)


def _bytes_per_channel(image: "Image.Image", grey: bool) -> "Image.Image":
    """Return a picture of mode L or RGB: 16 bits are cut to 8, what is transparent becomes white."""
    from PIL import Image

    mode = "L" if grey else "RGB"
    if image.mode.startswith("I"):
        # Pillow would clip everything above 255 to white
        image = Image.fromarray((np.asarray(image).astype(np.uint32) >> 8).astype(np.uint8))
    if image.mode == "F":
        raise ValueError("a picture of floating-point values")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        coloured = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", coloured.size, "white"), coloured)
    return image.convert(mode)

"""A folder of pictures: ``train/CLASS/…``, ``test/CLASS/…``, or just ``CLASS/…``."""

import os
import re
from functools import partial
from pathlib import Path

import numpy as np

from labelspace import _checks
from labelspace.data import digests, files, images, labels
from labelspace.data.files import HIDDEN, OWNER
from labelspace.data.found import Found, Rows
from labelspace.data.source import ReaderOptions

PARTS = {
    "train": "train",
    "training": "train",
    "val": "validation",
    "valid": "validation",
    "validation": "validation",
    "dev": "validation",
    "test": "test",
    "testing": "test",
}


def read(
    folder: Path,
    *,
    resize: int | tuple[int, int] | None = None,
    colour: bool | None = None,
    skip_unreadable: bool = False,
    group_by: str | None = None,
) -> Found:
    r"""Return the pictures of a folder; the names of its folders are the classes.

    Pictures are turned as their EXIF data says; transparent parts become white; of several frames the first counts.

    Args:
        folder: holds ``train``, ``val`` and ``test`` (or some of them) with a folder per class inside, or the
            folders of classes themselves, which are then split. Hidden files and files of other kinds are left out;
            links to folders are followed, each once in every folder directly below; one that leads nowhere is a
            picture that cannot be read.
        resize: a size to bring all pictures to: ``n`` for n×n, or ``(height, width)``. Needed where sizes differ.
        colour: three channels or one; by default one if all pictures are grey.
        skip_unreadable: leave unreadable pictures out, and count them in ``source``, instead of stopping.
        group_by: a regular expression; what it finds in a picture's path (its first bracket, if it has one) is
            the picture's group, for example ``r"patient(\d+)"``.
    """
    paths = images.below(folder)
    parts = {place.parts[0]: PARTS.get(place.parts[0].lower()) for place in paths}
    in_parts = "train" in parts.values()
    kept = [place for place in paths if not in_parts or parts[place.parts[0]]]
    depth = 1 if in_parts else 0
    kept = [place for place in kept if len(place.parts) > depth + 1]
    if not kept:
        remedy = "Put the pictures into one folder per class."
        raise _checks.fail(OWNER, "name_or_path", "a folder of folders of pictures", str(folder), remedy)
    y, names = labels.encode([place.parts[depth] for place in kept], _classes(folder, parts if in_parts else None))
    pictures = [images.Picture(place.as_posix(), partial(files.whole, folder / place)) for place in kept]
    found = digests.of_bytes(_bytes(picture, skip_unreadable) for picture in pictures)
    wanted = images.Wanted(None if colour is None else not colour, images.size_of(resize), skip_unreadable)
    size = list(wanted.size)[::-1] if wanted.size else None
    options: ReaderOptions = {"resize": size, "colour": colour, "group_by": group_by}
    return Found(
        "images",
        y,
        names,
        _given([str(parts[place.parts[0]]) for place in kept] if in_parts else ["all"] * len(kept)),
        found,
        digests.of_values([place.as_posix() for place in kept], found),
        {"reader": "image_folder", "path": folder.resolve().name, "options": options},
        lambda order: images.take(pictures, found, wanted, order),
        None if group_by is None else _groups([place.as_posix() for place in kept], group_by),
    )


def _classes(folder: Path, parts: dict[str, str | None] | None) -> tuple[str, ...]:
    """Return the names of all class folders, also of empty ones, numbers in numerical order."""
    roots = [folder] if parts is None else [folder / name for name, part in parts.items() if part]
    inside = {path.name for root in roots for path in root.iterdir() if path.is_dir()}
    return labels.encode(sorted(name for name in inside if not name.startswith(HIDDEN)))[1]


def _bytes(picture: images.Picture, skip: bool) -> bytes:
    try:
        return picture.content()
    except (OSError, ValueError) as error:
        if skip:
            return os.fsencode(picture.name)
        skip_them = _checks.Setting("skip_unreadable", True)
        remedy = ("Repair or remove it, or leave such files out with ", skip_them, ".")
        got = f"{picture.name} ({getattr(error, 'strerror', None) or error})"
        raise _checks.fail(OWNER, "name_or_path", "readable pictures", got, remedy) from error


def _given(parts: list[str]) -> dict[str, Rows]:
    names = np.asarray(parts)
    given = {name: np.flatnonzero(names == name) for name in ("all", "train", "validation", "test")}
    given = {name: rows for name, rows in given.items() if len(rows)}
    # a train folder alone is split like any other folder
    return {"all": given["train"]} if list(given) == ["train"] else given


def _groups(names: list[str], pattern: str) -> Rows:
    try:
        found = [re.search(pattern, name) for name in names]
    except re.error as error:
        raise _checks.fail(OWNER, "group_by", "a regular expression", f"{pattern!r} ({error})") from error
    texts = [match.group(1 if match.re.groups else 0) if match else None for match in found]
    missing = [name for name, text in zip(names, texts, strict=True) if text is None]
    if missing:
        got = f"{len(missing)} without a match (first: {missing[0]})"
        raise _checks.fail(OWNER, "group_by", f"a pattern found in every path ({pattern!r})", got)
    return np.unique(np.asarray(texts, dtype=str), return_inverse=True)[1].astype(np.int64)

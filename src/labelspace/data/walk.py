"""Every file below a folder once, however its links go in circles."""

import os
from collections.abc import Iterator
from pathlib import Path

from labelspace import _checks

HIDDEN = (".", "__MACOSX")
Identity = tuple[int, int]


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, in an order that no file system decides, hidden ones left out.

    Links to folders are followed, once each in every folder directly below this one: two folders of classes may share
    pictures, but two links to the same place, or to a folder that holds them, add nothing. A folder is known again by
    its identity on the disk, not by its name.

    Args:
        folder: where to look.
    """
    top = folder.resolve()
    holders = {_identity(place) for place in (top, *top.parents)}
    for entry in _entries(folder):
        if _is_folder(entry):
            yield from _branch(Path(entry.path), set(holders))
        else:
            yield Path(entry.path)


def _branch(folder: Path, seen: set[Identity]) -> Iterator[Path]:
    waiting, links = [folder], list[Path]()
    while waiting or links:
        # a folder keeps its own name where it is also reached by a link
        place = waiting.pop() if waiting else links.pop(0)
        identity = _identity(place)
        if identity in seen:
            continue
        seen.add(identity)
        for entry in _entries(place):
            if not _is_folder(entry):
                yield Path(entry.path)
            else:
                (links if entry.is_symlink() else waiting).append(Path(entry.path))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            found = [entry for entry in entries if not entry.name.startswith(HIDDEN)]
    except OSError as error:
        got = f"{folder} ({error.strerror})"
        raise _checks.fail("data.load", "name_or_path", "a folder that can be read", got) from error
    return sorted(found, key=lambda entry: entry.name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _identity(folder: Path) -> Identity:
    about = folder.stat()
    return about.st_dev, about.st_ino

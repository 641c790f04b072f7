"""Where data lie on this machine, and the bytes of files, plain or gzipped, with an error that names the file."""

import io
import os
import stat
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

from labelspace import _checks, _opening
from labelspace._opening import BLOCK, HARMLESS, Asked, packed

OWNER = "data.load"  # whose arguments the messages of this package speak of
ASKED = Asked(OWNER, "name_or_path")
HIDDEN = (".", "__MACOSX")
Identity = tuple[int, int]


@contextmanager
def reading(path: Path, most: int | None = None) -> Iterator[BinaryIO]:
    """Open a file, unpacked if its name says that it is gzipped; what goes wrong while it is read names the file.

    Args:
        path: the file.
        most: how many bytes a gzipped file may unpack to, where its content says so.
    """
    try:
        with _opening.opened(path, ASKED, most) as file:
            yield file
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, str(error)) from error


def contents(path: Path, most: int | None = None) -> bytes:
    """Return the bytes of a file, unpacked if its name says that it is gzipped.

    Args:
        path: the file.
        most: how many bytes a gzipped file may unpack to; a plain one is what it is.
    """
    with reading(path, most) as file:
        return b"".join(iter(lambda: file.read(BLOCK), b"")) if packed(path) else file.read()


def beginning(path: Path, count: int) -> bytes:
    """Return the first bytes of a file, fewer if it is shorter."""
    with reading(path) as file:
        return file.read(count)


def whole(path: Path) -> bytes:
    """Return the bytes of a plain file that is held in memory as it is, such as a picture.

    Example:
        >>> whole(Path("/dev/zero"))
        Traceback (most recent call last):
        ValueError: a device or a pipe, no file
    """
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise ValueError("a device or a pipe, no file")
    if about.st_size > _opening.cap(_opening.MOST):
        raise ValueError(f"{about.st_size:,} bytes, more than the cap of {_opening.cap(_opening.MOST):,}")
    return path.read_bytes()


def damaged(path: Path, why: str, remedy: _checks.Remedy | None = None) -> _checks.InputError:
    """Return the error for a file that cannot be read as what it should be."""
    return _opening.damaged(path, why, ASKED, remedy)


def present(folder: Path, names: Iterable[str]) -> Path | None:
    """Return the first of these files that the folder holds, plain or gzipped."""
    for name in names:
        for candidate in (folder / name, folder / f"{name}.gz"):
            if candidate.is_file():
                return candidate
    return None


def lines(path: Path) -> list[str]:
    """Return the non-empty lines of a small text file."""
    text = contents(path, HARMLESS).decode("utf-8", errors="replace")
    return [line.strip() for line in text.splitlines() if line.strip()]


def members(path: Path, wanted: Callable[[str], bool]) -> dict[str, Callable[[], bytes]]:
    """Return the files inside of a tar file, plain or gzipped, by name; their bytes when they are asked for.

    They are looked at in memory, never extracted: no name inside can reach a file outside.

    Args:
        path: the tar file.
        wanted: whether a file of that name is.
    """
    content = memoryview(contents(path))
    found: dict[str, Callable[[], bytes]] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            for member in archive:
                if member.isfile() and wanted(member.name):
                    found[member.name] = partial(bytes, content[member.offset_data : member.offset_data + member.size])
    except tarfile.TarError as error:
        raise damaged(path, f"no tar file ({error})") from error
    return found


def cache_folder() -> Path:
    """Return the folder of decoded images: ``$LABELSPACE_CACHE``, else the platform's cache folder."""
    if os.environ.get("LABELSPACE_CACHE"):
        return Path(os.environ["LABELSPACE_CACHE"]).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "labelspace" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "labelspace"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "labelspace"


def data_folder(data_dir: str | Path | None = None) -> Path:
    """Return the folder of datasets: ``data_dir``, else ``$LABELSPACE_DATA``, else ``data`` in the cache folder.

    Example:
        >>> data_folder("downloads").name
        'downloads'
    """
    if data_dir is not None:
        return Path(data_dir).expanduser()
    if os.environ.get("LABELSPACE_DATA"):
        return Path(os.environ["LABELSPACE_DATA"]).expanduser()
    return cache_folder() / "data"


def find(name: str, folders: tuple[str, ...], contents: str, data_dir: str | Path | None) -> Path:
    """Return the folder of a dataset known by name, or say where it was looked for and what belongs there."""
    root = data_folder(data_dir)
    for folder in folders:
        if (root / folder).is_dir():
            return root / folder
    looked = " or ".join(str(root / folder) for folder in folders)
    expected = f"a dataset that is on this machine (looked for {looked})"
    place = _checks.Setting("data_dir")
    remedy = (f"Put {contents} there, or say where it is with ", place, " or $LABELSPACE_DATA; nothing is downloaded.")
    raise _checks.fail(*ASKED, expected, repr(name), remedy)


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
        raise _checks.fail(*ASKED, "a folder that can be read", got) from error
    return sorted(found, key=lambda entry: entry.name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _identity(folder: Path) -> Identity:
    about = folder.stat()
    return about.st_dev, about.st_ino

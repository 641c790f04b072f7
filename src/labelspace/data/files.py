"""Reading bytes, plain or gzipped, with an error that names the file and a bound on what unpacking may fill."""

import gzip
import io
import stat
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, final

from labelspace import _checks, _limits

OWNER = "data.load"
PACKED = (".gz", ".tgz")
BLOCK = 1 << 20
# bytes: no packed file may unpack to more than the first, nor to more than so many times its own size once it is past
# what any memory holds. Data packs 3 to 50 times smaller, a file made to fill the memory a thousand times.
# $LABELSPACE_MAX_UNPACKED takes the place of all three.
MOST = 4 << 30
HARMLESS = 64 << 20
TIGHTEST = 200


@contextmanager
def reading(path: Path, most: int | None = None) -> Iterator[BinaryIO]:
    """Open a file, unpacked if its name says that it is gzipped; what goes wrong while it is read names the file.

    Args:
        path: the file.
        most: how many bytes a gzipped file may unpack to, where its content says so.
    """
    try:
        with opened(path, most) as file:
            yield file
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, str(error)) from error


@contextmanager
def opened(
    path: Path, most: int | None = None, owner: str = OWNER, argument: str = "name_or_path"
) -> Iterator[BinaryIO]:
    """Open a file as ``reading`` does, and leave it to the caller to say what goes wrong while it is read.

    Args:
        path: the file.
        most: how many bytes a gzipped file may unpack to, where its content says so.
        owner: whose argument it is, for the message about a file that unpacks to more.
        argument: that argument.
    """
    _limits.check_regular(owner, argument, path)
    if not packed(path):
        with path.open("rb") as file:
            yield file
        return
    with gzip.open(path, "rb") as inside:
        capped = _Capped(inside, path, most, owner, argument)
        with io.BufferedReader(capped, BLOCK) as file:
            yield file


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


def packed(path: Path) -> bool:
    """Return whether a file's name says that it is gzipped."""
    return path.suffix.lower() in PACKED


def may_unpack(size: int) -> int:
    """Return how many bytes a packed file of this size may unpack to."""
    return _limits.cap(min(MOST, max(HARMLESS, TIGHTEST * size)))


def check_unpacked(
    path: Path, count: int, size: int, owner: str = OWNER, argument: str = "name_or_path", what: str = "a file"
) -> None:
    """Refuse what says that it unpacks to too much, before it is unpacked; what is not packed may be of any size.

    Args:
        path: the file.
        count: how many bytes it unpacks to.
        size: how many of its bytes hold them.
        owner: whose argument it is.
        argument: that argument.
        what: which part of it, for the message.
    """
    if count > max(size, may_unpack(size)):
        expected = f"{what} that unpacks to at most {may_unpack(size):,} bytes"
        got = f"{count:,} in the {size:,} bytes of {path.name}"
        remedy = f"It is damaged, or made to fill the memory. {_limits.REMEDY}"
        raise _checks.fail(owner, argument, expected, got, remedy)


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
    if about.st_size > _limits.cap(MOST):
        raise ValueError(f"{about.st_size:,} bytes, more than the cap of {_limits.cap(MOST):,}")
    return path.read_bytes()


def damaged(path: Path, why: str, remedy: _checks.Remedy | None = None) -> ValueError:
    """Return the error for a file that cannot be read as what it should be."""
    remedy = f"Put a sound copy in its place: {path}" if remedy is None else remedy
    return _checks.fail(OWNER, "name_or_path", f"a readable {path.name}", why, remedy)


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


@final
class _Capped(io.RawIOBase):
    """The unpacked bytes of a file, and an error instead of more of them than it may hold."""

    def __init__(self, inside: gzip.GzipFile, path: Path, most: int | None, owner: str, argument: str) -> None:
        super().__init__()
        self.owner, self.argument = owner, argument
        self.inside, self.path, self.size = inside, path, path.stat().st_size
        allowed = may_unpack(self.size)
        self.allowed = allowed if most is None else min(most, allowed)
        self.left = self.allowed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        count = self.inside.readinto(buffer)
        self.left -= count
        if self.left < 0:
            expected = f"a file that unpacks to at most {self.allowed:,} bytes"
            got = f"more than that in the {self.size:,} bytes of {self.path.name}"
            remedy = f"It is damaged, or made to fill the memory. If you trust it, unpack it first: gzip -d {self.path}"
            remedy += f", or raise the cap: {_limits.VARIABLE}=16G"
            raise _checks.fail(self.owner, self.argument, expected, got, remedy)
        return count

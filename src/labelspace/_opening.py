"""Opening files: plain or gzipped, with caps on what one input may fill, and texts in their encoding."""

import gzip
import io
import os
import re
import shlex
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO, final

from labelspace import _checks

PACKED = (".gz", ".tgz")
BLOCK = 1 << 20
# bytes: no packed file may unpack to more than the first, nor to more than so many times its own size once it is past
# what any memory holds. Data packs 3 to 50 times smaller, a file made to fill the memory a thousand times.
# $LABELSPACE_MAX_UNPACKED takes the place of all three.
MOST = 4 << 30
HARMLESS = 64 << 20
TIGHTEST = 200
# the one variable that sets the caps
VARIABLE = "LABELSPACE_MAX_UNPACKED"
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
REMEDY = f"If you trust it, raise the cap, for example with {VARIABLE}=16G in front of the command."
UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Asked(NamedTuple):
    """Whose argument a file is, for messages."""

    owner: str
    argument: str


def cap(usual: int) -> int:
    """Return how many bytes (of a text, characters) may be filled: the variable's number where it is set.

    Args:
        usual: what holds where nobody said anything.

    Example:
        >>> cap(4096)
        4096
    """
    said = chosen()
    return usual if said is None else said


def chosen() -> int | None:
    """Return the number in ``$LABELSPACE_MAX_UNPACKED``: bytes, or with a letter such as ``500M`` or ``16G``."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return None
    found = re.fullmatch(r"([0-9]{1,15})\s*([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    if found is None or int(found[1]) == 0:
        raise _checks.fail("labelspace", VARIABLE, "a number of bytes such as 500M or 16G", repr(text))
    return int(found[1]) * UNITS[found[2].upper()]


def check_regular(owner: str, argument: str, path: Path) -> None:
    """Refuse devices and pipes: they have no end, or wait for one. What is not there is left to whoever opens it."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a device or a pipe"
        raise _checks.fail(owner, argument, "a file", f"{path}, which is {kind}")


def packed(path: Path) -> bool:
    """Return whether a file's name says that it is gzipped."""
    return path.suffix.lower() in PACKED


@contextmanager
def opened(path: Path, asked: Asked, most: int | None = None) -> Iterator[BinaryIO]:
    """Open a file, unpacked if its name says that it is gzipped; the caller says what goes wrong while it is read.

    Args:
        path: the file.
        asked: whose argument it is, for the message about a file that unpacks to more than it may.
        most: how many bytes a gzipped file may unpack to, where its content says so.
    """
    check_regular(*asked, path)
    if not packed(path):
        with path.open("rb") as file:
            yield file
        return
    with gzip.open(path, "rb") as inside, io.BufferedReader(_Capped(inside, path, most, asked), BLOCK) as file:
        yield file


def may_unpack(size: int) -> int:
    """Return how many bytes a packed file of this size may unpack to."""
    return cap(min(MOST, max(HARMLESS, TIGHTEST * size)))


def check_unpacked(path: Path, count: int, size: int, asked: Asked, what: str = "a file") -> None:
    """Refuse what says that it unpacks to too much, before it is unpacked; what is not packed may be of any size.

    Args:
        path: the file.
        count: how many bytes it unpacks to.
        size: how many of its bytes hold them.
        asked: whose argument it is.
        what: which part of it, for the message.
    """
    if count > max(size, may_unpack(size)):
        expected = f"{what} that unpacks to at most {may_unpack(size):,} bytes"
        got = f"{count:,} in the {size:,} bytes of {path.name}"
        remedy = f"It is damaged, or made to fill the memory. {REMEDY}"
        raise _checks.fail(*asked, expected, got, remedy)


def damaged(path: Path, why: str, asked: Asked, remedy: _checks.Remedy | None = None) -> _checks.InputError:
    """Return the error for a file that cannot be read as what it should be."""
    remedy = f"Put a sound copy in its place: {path}" if remedy is None else remedy
    return _checks.fail(*asked, f"a readable {path.name}", why, remedy)


@contextmanager
def text_of(path: Path, asked: Asked) -> Iterator[TextIO]:
    """Open the text of a table; what goes wrong while it is read names the file."""
    try:
        with opened(path, asked) as head:
            mark = head.read(4)
        encoding = "utf-16" if mark.startswith(UTF16) and mark[2:] != b"\0\0" else "utf-8-sig"
        with opened(path, asked) as file, io.TextIOWrapper(file, encoding, newline="") as text:
            yield text
    except UnicodeError as error:
        raise damaged(path, "text that is not UTF-8", asked, to_utf8(path, asked)) from error
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, str(error), asked) from error


def decoded(content: bytes) -> str:
    """Return the text of a small file that a person wrote: UTF-8, UTF-16 with its mark, or else as Windows writes."""
    if content.startswith(UTF16):
        return content.decode("utf-16", errors="replace")
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")


def to_utf8(path: Path, asked: Asked) -> str:
    """Return how to turn a file of another encoding into one that can be read."""
    plain = Path(re.sub(r"\.gz$", "", path.name, flags=re.IGNORECASE))
    new = shlex.quote(str(path.with_name(f"{plain.stem}-utf8{plain.suffix}")))
    show = "gzip -dc" if packed(path) else "cat"
    command = f"{show} {shlex.quote(str(path))} | iconv -f {_encoding(path, asked)} -t UTF-8 > {new}"
    return f"Save it as UTF-8 (in a spreadsheet: CSV UTF-8) and use that file, for example: {command}"


def replaced_by_utf8(path: Path, asked: Asked) -> str:
    """Return how to put a file that can be read in the place of one of another encoding, whose name has to stay."""
    old, new = (
        shlex.quote(str(path.with_name(name)))
        for name in (f"{path.name}.original", re.sub(r"\.gz$", "", path.name, flags=re.IGNORECASE))
    )
    show = "gzip -dc <" if packed(path) else "cat"
    change = f"{show} {old} | iconv -f {_encoding(path, asked)} -t UTF-8 > {new}"
    return f"Put it there as UTF-8 under the same name, for example: mv {shlex.quote(str(path))} {old} && {change}"


def _encoding(path: Path, asked: Asked) -> str:
    """Return the likeliest encoding of a text that is not UTF-8."""
    with opened(path, asked) as file:
        blocks: Iterable[bytes] = iter(lambda: file.read(BLOCK), b"")
        # Windows' own encoding leaves these five bytes out; Latin-1, which it extends, can read anything
        undefined = any(byte in block for block in blocks for byte in b"\x81\x8d\x8f\x90\x9d")
    return "ISO-8859-1" if undefined else "WINDOWS-1252"


@final
class _Capped(io.RawIOBase):
    """The unpacked bytes of a file, and an error instead of more of them than it may hold."""

    def __init__(self, inside: gzip.GzipFile, path: Path, most: int | None, asked: Asked) -> None:
        super().__init__()
        self.inside, self.path, self.asked, self.size = inside, path, asked, path.stat().st_size
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
            remedy += f", or raise the cap: {VARIABLE}=16G"
            raise _checks.fail(*self.asked, expected, got, remedy)
        return count

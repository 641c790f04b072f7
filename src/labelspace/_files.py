"""Writing files and folders whole or not at all, and noticing later that one is no longer what was written."""

import ctypes
import errno
import hashlib
import json
import os
import re
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

try:
    import fcntl
except ImportError:  # not on Windows, where nothing says whether another process is at work
    fcntl = None  # type: ignore[assignment]

DIGEST = "digest"
SWAP = 2  # RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS
HERE = -100  # AT_FDCWD


def write_bytes(path: Path, content: bytes) -> Path:
    """Write the file beside its place and move it there, so that a reader never meets half of it."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} into; make it first.")
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give the name of a file to write, which then takes its place; where that fails nothing is left of it.

    A process that is killed leaves its file, and the next one that writes to the same place removes it: whoever is
    still at work holds a lock on its own.

    Args:
        path: the place, in a folder that is there.
    """
    _sweep(path)
    temporary, held = _own(path)
    with held:
        try:
            yield temporary
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _own(path: Path) -> tuple[Path, BinaryIO]:
    while True:
        temporary = beside(path)
        held = temporary.open("xb")
        if fcntl is None:
            held.close()  # where an open file cannot be moved
            return temporary, held
        with suppress(OSError):  # a file system without locks
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if temporary.exists():  # nobody swept it before it was locked
            return temporary, held
        held.close()


def _sweep(path: Path) -> None:
    """Remove what killed processes left of this file."""
    left = re.compile(re.escape(f".{path.name}.") + r"[0-9a-f]{32}\.part")
    if fcntl is None:
        return
    for stale in [entry for entry in os.scandir(path.parent) if left.fullmatch(entry.name)]:
        with suppress(OSError), open(stale.path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(stale.path)


def write_json(path: Path, content: object) -> Path:
    """Write JSON that a person can read and a program can compare."""
    return write_bytes(path, json_bytes(content))


def json_bytes(content: object) -> bytes:
    """Return what ``write_json`` writes."""
    return (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()


def line_bytes(lines: Iterable[Mapping[str, float]]) -> bytes:
    """Return one line of JSON each, to be written at once: a resumed run leaves none that it will write again."""
    return "".join(json.dumps(line, sort_keys=True) + "\n" for line in lines).encode()


def parsed(content: str | bytes) -> object:
    """Return what JSON holds; a whole number that is too large for a float is refused, as no measure can be one."""
    found: object = json.loads(content, parse_int=_whole)
    return found


def _whole(digits: str) -> int:
    try:
        float(number := int(digits))
    except OverflowError as error:
        raise ValueError(f"a number of {len(digits)} digits") from error
    return number


def read_bytes(path: Path) -> bytes:
    """Return what a file holds; a device or a pipe has no end, or waits for one, and is none."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a file")
    return path.read_bytes()


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    return json.loads(read_bytes(path).decode("utf-8"))


def beside(path: Path) -> Path:
    """Return a name of its own for what is made beside its place; a process that is killed leaves it there."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")


def digest(content: bytes) -> str:
    """Return what tells one content from another."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def sealed(content: Mapping[str, object]) -> dict[str, object]:
    """Return plain data with their own digest among them.

    Example:
        >>> holds(sealed({"rule": "argmax"})), holds({**sealed({"rule": "argmax"}), "rule": "min_cost"})
        (True, False)
    """
    return {**content, DIGEST: digest(canonical(content))}


def holds(content: Mapping[str, object]) -> bool:
    """Return whether plain data are what was sealed; those without a digest, of earlier versions or by hand, are."""
    return DIGEST not in content or content[DIGEST] == digest(canonical(content))


def canonical(content: Mapping[str, object]) -> bytes:
    """Return one text for equal data, however they were laid out in a file; without their digest."""
    rest = {name: value for name, value in content.items() if name != DIGEST}
    try:
        return json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()
    except RecursionError:  # what somebody nested too deep was not written here: it has no digest that could be right
        return b""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until no other process holds the lock of a file, which is made; it goes with the process that holds it."""
    with path.open("a") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def sharing(folder: Path, sweep: Callable[[], None]) -> Iterator[None]:
    """Work in a folder that other processes may work in; whoever finds it empty of them sweeps first.

    Args:
        folder: which must be there.
        sweep: removes what killed processes left; called only while nobody else is at work here.
    """
    if fcntl is None:
        yield
        return
    held = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # somebody is at work, or the file system has no locks
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            sweep()
        with suppress(OSError):
            fcntl.flock(held, fcntl.LOCK_SH)
        yield
    finally:
        os.close(held)


def exchange(one: Path, other: Path) -> None:
    """Let two folders change places, at once where the system can: there is then no moment without either."""
    if _exchanged(one, other):
        return
    aside = beside(other)
    os.rename(other, aside)
    try:
        os.rename(one, other)
    except OSError:
        os.rename(aside, other)
        raise
    os.rename(aside, one)


def _exchanged(one: Path, other: Path) -> bool:
    names = os.fsencode(one), os.fsencode(other)
    with suppress(AttributeError):  # a C library without it
        if sys.platform == "linux":
            return bool(ctypes.CDLL(None).renameat2(HERE, names[0], HERE, names[1], SWAP) == 0)
        if sys.platform == "darwin":
            return bool(ctypes.CDLL(None).renamex_np(names[0], names[1], SWAP) == 0)
    return False

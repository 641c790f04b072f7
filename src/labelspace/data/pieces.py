"""Rows that take long to compute: kept piece by piece until all are there, so that a killed process loses one at most.

Until the entry of the array cache is whole, its pieces lie in a folder beside it: ``START-DIGEST.npy`` each.
"""

import io
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import numpy as np

from labelspace import _files
from labelspace.data import cache, files, npy
from labelspace.data.digests import Array

SHELF = "images"  # of the cache, where such rows have always been

Progress = Callable[[int], None]  # told how many rows have been made ready


def fetch(key: str, count: int, size: int, compute: Callable[[int, int], Array], progress: Progress) -> cache.Entry:
    """Return the rows of a key, computing those that were not computed before.

    Two processes that want the same do not compute it twice: the second one waits for the first.

    Args:
        key: a digest of everything the rows depend on.
        count: how many rows there are.
        size: rows of a piece.
        compute: gives the rows from one place up to another.
        progress: told after each piece, while pieces are gone through.
    """
    place = files.cache_folder() / SHELF / key
    folder = place.with_name(f".{key}.pieces")

    def blocks() -> cache.Blocks:
        for start in range(0, count, size):
            end = min(start + size, count)
            rows = _kept(folder, start, end)
            if rows is None:
                rows = compute(start, end)
                _keep(folder, start, rows)
            progress(end)
            yield rows, np.ones(len(rows), dtype=np.bool_)

    with _alone(place):
        entry = cache.fetch(key, blocks, SHELF)
        if (place / "entry.json").is_file():
            shutil.rmtree(folder, ignore_errors=True)
    return entry


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Wait until no other process computes the same; an entry that is there needs no waiting."""
    with ExitStack() as stack:
        if not place.exists():
            lock = place.with_name(f".{place.name}.lock")
            with suppress(OSError):  # a cache that cannot be written to
                lock.parent.mkdir(parents=True, exist_ok=True)
                stack.enter_context(_files.locked(lock))
                stack.callback(lock.unlink, missing_ok=True)
        yield


def _keep(folder: Path, start: int, rows: Array) -> None:
    content = io.BytesIO()
    np.save(content, rows, allow_pickle=False)
    name = f"{start}-{_files.digest(content.getvalue())}.npy"
    with suppress(OSError):  # no room, or not ours to write to: the rows are in hand all the same
        folder.mkdir(parents=True, exist_ok=True)
        _files.write_bytes(folder / name, content.getvalue())


def _kept(folder: Path, start: int, end: int) -> Array | None:
    """Return the rows of a piece; None where there are none that are what was written."""
    for path in folder.glob(f"{start}-*.npy"):
        digest = re.fullmatch(rf"{start}-([0-9a-f]+)\.npy", path.name)
        with suppress(OSError, ValueError):
            if digest is None or _files.digest(_files.read_bytes(path)) != digest[1]:
                continue
            rows = npy.read(path)
            if rows.dtype == np.float32 and len(rows) == end - start:
                return rows
    return None

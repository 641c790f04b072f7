"""The array cache: what takes long to make is made once, written as plain bytes, and memory-mapped ever after.

One entry is one folder named by the digest of what it was made from::

    rows.bin      the array, row after row       digests.npy   one fingerprint per row
    kept.npy      which of the inputs became rows (unreadable ones may be skipped)
    entry.json    shape, dtype, size and a checksum: written last, so that an entry without it is no entry
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from labelspace.data import digests, files, npy
from labelspace.data.digests import Array, Digests

VERSION = 1
PROBES = 256
WHOLE = 2**28  # bytes
STALE_SECONDS = 3600.0
# what is written here (pictures, token ids, features); addresses that a file holds would be followed to anywhere
DTYPES = ("uint8", "int32", "float32")
# what a damaged entry may raise
DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)

# each block: the decoded rows, and for every input of the block whether it became a row
Blocks = Iterator[tuple[Array, NDArray[np.bool_]]]


@dataclass(frozen=True)
class Entry:
    """Decoded rows, memory-mapped where the cache could be written, and what happened on the way."""

    rows: Array
    digests: Digests
    kept: NDArray[np.bool_]
    notice: str = ""


def fetch(key: str, decode: Callable[[], Blocks], shelf: str = "images") -> Entry:
    """Return the entry of a key, decoding what is missing or damaged.

    Args:
        key: a digest of everything the rows depend on.
        decode: makes the blocks of rows; called only when the cache cannot serve.
        shelf: the folder in the cache folder.
    """
    place = files.cache_folder() / shelf / key
    damage = ""
    if place.exists():
        try:
            return _open(place)
        except DAMAGE as error:
            damage = f"rebuilt, the cached copy was damaged: {error}"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{key}.", suffix=".part"))
    except OSError as error:
        return _in_memory(decode, error)
    try:
        _write(building, decode())
        _move(building, place)
        entry = _open(place)
    except OSError as error:
        return _in_memory(decode, error)
    finally:
        shutil.rmtree(building, ignore_errors=True)
        _sweep(place)
    return Entry(entry.rows, entry.digests, entry.kept, damage)


def _in_memory(decode: Callable[[], Blocks], error: OSError) -> Entry:
    rows, kept = zip(*decode(), strict=True)
    array = np.concatenate(rows)
    reason = f"decoded in memory, the cache folder cannot be written: {error.strerror or error}"
    return Entry(array, digests.of_rows(array), np.concatenate(kept), reason)


def _write(folder: Path, blocks: Blocks) -> None:
    found: list[Digests] = []
    kept: list[NDArray[np.bool_]] = []
    shape: tuple[int, ...] = ()
    dtype = "uint8"
    with (folder / "rows.bin").open("wb") as file:
        for rows, flags in blocks:
            assert str(rows.dtype) in DTYPES
            file.write(np.ascontiguousarray(rows).data)
            found.append(digests.of_rows(rows))
            kept.append(flags)
            shape, dtype = rows.shape[1:], str(rows.dtype)
        file.flush()
        os.fsync(file.fileno())
    all_found = np.concatenate(found)
    np.save(folder / "digests.npy", all_found, allow_pickle=False)
    np.save(folder / "kept.npy", np.concatenate(kept), allow_pickle=False)
    size = (folder / "rows.bin").stat().st_size
    header = {"version": VERSION, "shape": [len(all_found), *shape], "dtype": dtype, "size": size}
    header["digests"] = digests.of_values(all_found)
    (folder / "entry.json").write_text(json.dumps({**header, "checksum": digests.of_values(header)}))


def _move(building: Path, place: Path) -> None:
    if place.exists():
        try:
            _open(place)
        except DAMAGE:
            pass
        else:
            # another process was faster with the same content
            return
        # out of the way first: a folder cannot replace a folder that is not empty
        grave = Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}.", suffix=".part"))
        os.replace(place, grave / "damaged")
        shutil.rmtree(grave, ignore_errors=True)
    try:
        os.rename(building, place)
    except OSError:
        # the same race, lost a moment later; anything else is a real failure
        if not (place / "entry.json").exists():
            raise


def _open(place: Path) -> Entry:
    header = json.loads((place / "entry.json").read_text())
    checksum = header.pop("checksum")
    if checksum != digests.of_values(header) or header["version"] != VERSION:
        raise ValueError("its header does not match its checksum")
    found, kept = npy.read(place / "digests.npy"), npy.read(place / "kept.npy")
    if found.dtype != np.uint64 or kept.dtype != np.bool_ or found.ndim != 1 or kept.ndim != 1:
        raise ValueError("its fingerprints are of other types")
    if digests.of_values(found) != header["digests"] or int(kept.sum()) != len(found):
        raise ValueError("its fingerprints do not match its header")
    shape = _shape(header, len(found))
    if not (place / "rows.bin").is_file() or (place / "rows.bin").stat().st_size != header["size"]:
        raise ValueError("its size does not match its header")
    # copy-on-write: torch wants a writable array, the file stays as it is
    rows: Array = np.memmap(place / "rows.bin", header["dtype"], "c", shape=shape)
    # all rows where that takes less than a second, some where a file may be larger than memory
    count = len(rows) if header["size"] <= WHOLE else min(PROBES, len(rows))
    probes = np.linspace(0, len(rows) - 1, count).astype(np.int64)
    if not np.array_equal(digests.of_rows(rows[probes]), found[probes]):
        raise ValueError("its rows do not match their fingerprints")
    return Entry(rows, cast(Digests, found), cast(NDArray[np.bool_], kept))


def _shape(header: Mapping[str, object], count: int) -> tuple[int, ...]:
    """Return the shape in a header, whose type must be one that is written here, and whose size must be right."""
    if header["dtype"] not in DTYPES:
        raise ValueError(f"its type is {header['dtype']!r}, which is never written")
    given = header["shape"]
    lengths = given if isinstance(given, list) else []
    shape = tuple(length for length in lengths if type(length) is int and length >= 0)
    if not shape or len(shape) < len(lengths) or shape[0] != count:
        raise ValueError("its shape is not that of its rows")
    if prod(shape) * np.dtype(header["dtype"]).itemsize != header["size"] or not header["size"]:
        raise ValueError("its size does not match its shape")
    return shape


def _sweep(place: Path) -> None:
    """Remove what killed processes left of this entry."""
    for left in place.parent.glob(f".{place.name}.*.part"):
        try:
            if time.time() - left.stat().st_mtime > STALE_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
        except OSError:
            continue

"""CIFAR-10 and CIFAR-100 in their binary version, plain or gzipped, with any number of training batches."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from labelspace import _checks
from labelspace.data import digests, files, labels
from labelspace.data.digests import Array
from labelspace.data.found import Found, ranges, rows_of
from labelspace.data.source import ReaderOptions, Source

NAMES_10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
PIXELS = 3 * 32 * 32
# in one gzipped file; the largest published one holds 50,000
MOST_RECORDS = 100_000


def recognises(folder: Path) -> bool:
    """Return whether a folder holds CIFAR's binary files."""
    return bool(_batches(folder)) or files.present(folder, ["train.bin"]) is not None


def read(folder: Path, *, coarse: bool = False, names: Sequence[str] | None = None) -> Found:
    """Return the images of CIFAR-10 (``data_batch_*.bin``, ``test_batch.bin``) or CIFAR-100 (``train``, ``test``).

    Args:
        folder: holds the batches; those of the training part that are there are read, in their order.
        coarse: the 20 coarse labels of CIFAR-100 instead of the 100 fine ones.
        names: class names in the order of the labels; else those in the folder's own list of names.
    """
    hundred = not _batches(folder)
    if coarse and not hundred:
        raise _checks.fail(files.OWNER, "coarse", "False for CIFAR-10, which has no coarse labels", coarse)
    train = _batches(folder) or _required(folder, "train.bin")
    test = _required(folder, "test.bin" if hundred else "test_batch.bin")
    batches = [_records(path, 2 if hundred else 1) for path in (*train, *test)]
    # a record of CIFAR-100 begins with the coarse label and the fine one
    column = 0 if coarse or not hundred else 1
    x = np.concatenate([batch[:, -PIXELS:] for batch in batches]).reshape(-1, 3, 32, 32)
    classes = _names(folder, hundred, coarse) if names is None else tuple(names)
    y, classes = labels.encode(np.concatenate([batch[:, column] for batch in batches]), classes)
    given = ranges({"train": sum(len(batch) for batch in batches[: len(train)]), "test": len(batches[-1])})
    found = digests.of_rows(x)
    options: ReaderOptions = {"coarse": coarse, "names": None if names is None else list(names)}
    names_of_files = [path.name for path in train]
    source: Source = {"reader": "cifar", "path": folder.name, "options": options, "batches": names_of_files}
    content = digests.of_files([*train, *test])
    return Found("images", y, classes, given, found, content, source, rows_of(x, found))


def _batches(folder: Path) -> list[Path]:
    paths = [files.present(folder, [f"data_batch_{number}.bin"]) for number in range(1, 10)]
    return [path for path in paths if path is not None]


def _required(folder: Path, name: str) -> list[Path]:
    path = files.present(folder, [name])
    if path is None:
        expected = f"a folder with {name} or {name}.gz"
        remedy = "It takes the binary version of CIFAR; the version made of Python pickles is not read."
        raise _checks.fail(files.OWNER, "name_or_path", expected, f"{folder}, which has none", remedy)
    return [path]


def _records(path: Path, label_bytes: int) -> Array:
    record = label_bytes + PIXELS
    content = files.contents(path, MOST_RECORDS * record)
    if not content or len(content) % record:
        raise files.damaged(path, f"{len(content)} bytes, which is no whole number of records of {record}")
    return np.frombuffer(content, dtype=np.uint8).reshape(-1, record)


def _names(folder: Path, hundred: bool, coarse: bool) -> tuple[str, ...] | None:
    listed = "batches.meta.txt"
    if hundred:
        listed = "coarse_label_names.txt" if coarse else "fine_label_names.txt"
    path = files.present(folder, [listed])
    if path is not None:
        return tuple(files.lines(path))
    return None if hundred else NAMES_10

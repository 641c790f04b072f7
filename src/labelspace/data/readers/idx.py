"""MNIST's IDX files, plain or gzipped: MNIST, Fashion-MNIST, and anything in the same four files."""

from collections.abc import Sequence
from math import prod
from pathlib import Path

import numpy as np

from labelspace import _checks
from labelspace.data import digests, files, labels
from labelspace.data.digests import Array
from labelspace.data.found import Found, ranges, rows_of
from labelspace.data.source import ReaderOptions, Source

FASHION = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
LONGEST_HEAD = 4 + 4 * 255
# the four files, each as published with a dash and as some unpackers leave it, with a dot
STEMS = {
    ("train", "images"): ("train-images-idx3-ubyte", "train-images.idx3-ubyte"),
    ("train", "labels"): ("train-labels-idx1-ubyte", "train-labels.idx1-ubyte"),
    ("test", "images"): ("t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte"),
    ("test", "labels"): ("t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte"),
}


def recognises(folder: Path) -> bool:
    """Return whether a folder holds IDX files."""
    return files.present(folder, STEMS["train", "images"]) is not None


def read(folder: Path, *, names: Sequence[str] | None = None) -> Found:
    """Return the images of four IDX files.

    Args:
        folder: holds the files ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte`` and the two of ``t10k``.
        names: class names in the order of the labels; Fashion-MNIST's own for a folder called so, else the numbers.
    """
    paths = {key: _present(folder, stems) for key, stems in STEMS.items()}
    arrays = {key: parse(path) for key, path in paths.items()}
    for part in ("train", "test"):
        if len(arrays[part, "images"]) != len(arrays[part, "labels"]) or arrays[part, "images"].ndim != 3:
            got = f"{arrays[part, 'images'].shape} and {arrays[part, 'labels'].shape}"
            raise files.damaged(paths[part, "images"], f"images and labels of shapes {got}")
    if names is None and "fashion" in folder.name.lower():
        names = FASHION
    x = np.concatenate([arrays["train", "images"], arrays["test", "images"]])[:, None]
    y, classes = labels.encode(np.concatenate([arrays["train", "labels"], arrays["test", "labels"]]), names)
    given = ranges({part: len(arrays[part, "labels"]) for part in ("train", "test")})
    found = digests.of_rows(x)
    options: ReaderOptions = {"names": None if names is None else list(names)}
    source: Source = {"reader": "idx", "path": folder.name, "options": options}
    return Found("images", y, classes, given, found, digests.of_files(paths.values()), source, rows_of(x, found))


def parse(path: Path) -> Array:
    """Return the array of one IDX file of bytes: two zeros, the type, the number of axes, the sizes, the values."""
    head = files.beginning(path, LONGEST_HEAD)
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] != 0x08:
        raise files.damaged(path, "a file that does not begin like an IDX file of bytes")
    start = 4 + 4 * head[3]
    if len(head) < start:
        raise files.damaged(path, f"{len(head)} bytes where the sizes alone take {start}")
    shape = tuple(int(size) for size in np.frombuffer(head[4:start], dtype=">u4"))
    announced = start + prod(shape)
    content = files.contents(path, announced)
    if len(content) != announced:
        raise files.damaged(path, f"{len(content)} bytes where {announced} were announced")
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)


def _present(folder: Path, stems: Sequence[str]) -> Path:
    path = files.present(folder, stems)
    if path is None:
        expected = f"a folder with {stems[0]} or {stems[0]}.gz"
        raise _checks.fail(files.OWNER, "name_or_path", expected, f"{folder}, which has none", "Fetch all four files.")
    return path

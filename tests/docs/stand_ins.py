"""Folders in the form of the published datasets, with few and meaningless samples: commands run on them in no time."""

import csv
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from labelspace.data.readers.cifar import NAMES_10
from parallel_text import write_lines

TRAIN, TEST = 300, 60
WNIDS = ("n01443537", "n01629819", "n02124075", "n02814533", "n03100240", "n04146614")
Array = NDArray[np.uint8]


def write_stand_ins(folder: Path) -> Path:
    """Write MNIST, Fashion-MNIST, CIFAR-10, Tiny-ImageNet, IMDB and Multi30k of a kind, and return the folder."""
    generator = np.random.default_rng(0)
    for name in ("mnist", "fashion-mnist"):
        _write_idx(folder / name, generator)
    _write_cifar(folder / "cifar-10-batches-bin", generator)
    _write_tiny_imagenet(folder / "tiny-imagenet-200", generator)
    _write_reviews(folder / "imdb")
    write_lines(folder / "multi30k")
    return folder


def _pictures(labels: Array, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    """Return pictures that differ between classes in a stripe, and otherwise by chance."""
    found = generator.integers(0, 200, (len(labels), *shape), dtype=np.uint8)
    for picture, label in zip(found, labels, strict=True):
        picture[..., 2 * label : 2 * label + 2, :] = 255
    return found


def _write_idx(folder: Path, generator: np.random.Generator) -> None:
    folder.mkdir()
    for part, count in (("train", TRAIN), ("t10k", TEST)):
        labels = (np.arange(count) % 10).astype(np.uint8)
        arrays = {"images-idx3": _pictures(labels, (28, 28), generator), "labels-idx1": labels}
        for name, array in arrays.items():
            head = struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
            (folder / f"{part}-{name}-ubyte").write_bytes(head + array.tobytes())


def _write_cifar(folder: Path, generator: np.random.Generator) -> None:
    folder.mkdir()
    for name, count in (("data_batch_1.bin", TRAIN), ("test_batch.bin", TEST)):
        labels = (np.arange(count) % len(NAMES_10)).astype(np.uint8)
        pixels = _pictures(labels, (3, 32, 32), generator).reshape(count, -1)
        (folder / name).write_bytes(np.concatenate([labels[:, None], pixels], axis=1).tobytes())


def _write_tiny_imagenet(folder: Path, generator: np.random.Generator) -> None:
    (folder / "val" / "images").mkdir(parents=True)
    lines = []
    for label, wnid in enumerate(WNIDS):
        (folder / "train" / wnid / "images").mkdir(parents=True)
        pictures = _pictures(np.full(24, label, dtype=np.uint8), (3, 64, 64), generator).transpose(0, 2, 3, 1)
        for number, picture in enumerate(pictures):
            test = number % 6 == 0
            name = f"{wnid}_{number}.JPEG"
            place = folder / "val" / "images" if test else folder / "train" / wnid / "images"
            Image.fromarray(picture).save(place / name)
            lines += [f"{name}\t{wnid}\t0\t0\t1\t1\n"] if test else []
    (folder / "val" / "val_annotations.txt").write_text("".join(lines))
    (folder / "wnids.txt").write_text("\n".join(WNIDS))


def _write_reviews(folder: Path) -> None:
    folder.mkdir()
    words = {"neg": ("dull", "flat", "tired"), "pos": ("bright", "fine", "warm")}
    for part, count in (("train", 40), ("test", 12)):
        with (folder / f"{part}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "label"])
            for number in range(count):
                label = ("neg", "pos")[number % 2]
                writer.writerow([f"{part} film {number} is {words[label][number % 3]}", label])

"""Mutated pictures in folders, archives of them, and the binary files of MNIST and CIFAR."""

import gzip
import io
import os
import shutil
import struct
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from hostile.mutations import Chance, mutated_bytes
from hostile.outcomes import Case, chance
from labelspace import data
from labelspace.data import streams
from labelspace.data.dataset import Dataset

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")
NAMES = ("a.png", "b.PNG", ".hidden.png", "ü.png", "new\nline.png", b"\xff.png", "a.txt", "c.jpeg", "x" * 200 + ".png")


def tries(seed: int, count: int, first: int = 0) -> Iterator[Case]:
    """Yield pictures, archives and binary files that are damaged or odd."""
    makers = (_folder, _stream, _tar, _idx, _links)
    with tempfile.TemporaryDirectory() as place:
        for number in range(first, first + count):
            draw = chance(seed, number)
            folder = Path(place) / str(number)
            folder.mkdir()
            yield makers[int(draw.integers(len(makers)))](draw, folder)
            shutil.rmtree(folder)


def _picture(draw: Chance, damaged: bool) -> bytes:
    mode = str(draw.choice(["L", "RGB", "RGBA", "P", "1", "I;16", "LA", "CMYK", "F", "YCbCr"]))
    size = (int(draw.integers(1, 9)), int(draw.integers(1, 9)))
    content = io.BytesIO()
    try:
        Image.new(mode, size, int(draw.integers(2))).save(content, str(draw.choice(FORMATS)))
    except (OSError, ValueError, TypeError, KeyError):  # not every format has every mode
        content = io.BytesIO()
        Image.fromarray(draw.integers(0, 256, (5, 5), dtype=np.uint8)).save(content, "PNG")
    return mutated_bytes(draw, content.getvalue()) if damaged else content.getvalue()


def _folder(draw: Chance, folder: Path) -> Case:
    """Twelve pictures of two classes, some of them damaged, some with odd names."""
    total = 0
    for label in ("cat", "dog"):
        (folder / label).mkdir()
        for number in range(6):
            (folder / label / f"{number}.png").write_bytes(_picture(draw, bool(draw.integers(4) == 0)))
            total += 1
    odd = NAMES[int(draw.integers(len(NAMES)))]
    target = os.fsencode(folder / "cat") + b"/" + (odd if isinstance(odd, bytes) else odd.encode())
    with open(target, "wb") as file:
        file.write(_picture(draw, False))
    total += not (odd == ".hidden.png" or odd == "a.txt")
    if draw.integers(8) == 0:
        os.rename(folder / "dog", os.fsencode(folder) + b"/d\xf6g")
    skip = bool(draw.integers(2))

    def is_right(found: Dataset) -> bool:
        skipped = found.source.get("skipped", {}).get("count", 0)
        return sum(map(len, found.parts.values())) + skipped == total and found.input_shape in ((1, 4, 4), (3, 4, 4))

    return Case("folder", lambda: data.load(folder, resize=4, skip_unreadable=skip), is_right)


def _stream(draw: Chance, folder: Path) -> Case:
    """Pictures to predict on: each is a row or a reason."""
    count = int(draw.integers(1, 8))
    for number in range(count):
        (folder / f"{number}.png").write_bytes(_picture(draw, bool(draw.integers(2))))
    if draw.integers(3) == 0:
        (folder / "0.png").unlink()
        (folder / "0.png").symlink_to("/dev/zero")

    def run() -> list[Any]:
        return list(streams.picture_pieces(streams.pictures_in(folder), (3, 4, 4), bool(draw.integers(2)), 3))

    def is_right(pieces: list[Any]) -> bool:
        return sum(len(piece.rows) + len(piece.problems) for piece in pieces) == count

    return Case("stream", run, is_right)


def _tar(draw: Chance, folder: Path) -> Case:
    """Tiny-ImageNet in an archive whose names reach outside, or whose bytes are damaged."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for label in ("n01", "n02"):
            for number in range(4):
                _add(archive, f"t/train/{label}/images/{number}.JPEG", _picture(draw, False))
        for number in range(2):
            _add(archive, f"t/val/images/{number}.JPEG", _picture(draw, False))
        _add(archive, "t/val/val_annotations.txt", b"0.JPEG\tn01\t0\n1.JPEG\tn02\t0\n")
        _add(archive, "t/wnids.txt", b"n01\nn02\n")
        _add(archive, str(draw.choice(["../../out.txt", "/tmp/out.JPEG", "train/x.JPEG", "val//a.JPEG"])), b"x")
        link = tarfile.TarInfo("t/train/n01/images/9.JPEG")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    found = content.getvalue()
    found = mutated_bytes(draw, found[: 40 * 512]) + found[40 * 512 :] if draw.integers(3) else found
    packed = bool(draw.integers(2))
    path = folder / ("t.tar.gz" if packed else "t.tar")
    path.write_bytes(gzip.compress(found, mtime=0) if packed else found)
    return Case(
        "tar", lambda: data.load(path, skip_unreadable=True), lambda dataset: dataset.input_shape == (3, 64, 64)
    )


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    about = tarfile.TarInfo(name)
    about.size = len(content)
    archive.addfile(about, io.BytesIO(content))


def _idx(draw: Chance, folder: Path) -> Case:
    """MNIST's four files; what is accepted is compared with the bytes."""
    images = draw.integers(0, 256, (20, 3, 3), dtype=np.uint8)
    labels = np.tile([0, 1], 10).astype(np.uint8)
    for part in ("train", "t10k"):
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            head = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
            content = head + array.tobytes()
            if draw.integers(4) == 0:
                content = mutated_bytes(draw, content)
            packed = gzip.compress(content, mtime=0)
            (folder / f"{part}-{kind}-ubyte.gz").write_bytes(
                mutated_bytes(draw, packed) if draw.integers(6) == 0 else packed
            )

    def is_right(found: Dataset) -> bool:
        stored = b"".join(
            gzip.decompress((folder / f"{part}-images-idx3-ubyte.gz").read_bytes()) for part in ("train", "t10k")
        )
        total = sum(int(part.x.sum(dtype=torch.int64)) for part in found.parts.values())
        return sum(map(len, found.parts.values())) > 0 and total <= sum(stored)

    return Case("idx", lambda: data.load(folder), is_right)


def _links(draw: Chance, folder: Path) -> Case:
    """Folders with links to each other, to themselves, to what holds them, and to nothing."""
    places = [folder / name for name in ("a", "b", "c")]
    for number, place in enumerate(places):
        place.mkdir()
        for picture in range(3):
            Image.new("L", (3, 3), 40 * number + picture).save(place / f"{picture}.png")
    for number in range(int(draw.integers(1, 12))):
        targets = [*places, folder, folder.parent, Path("/"), Path("."), folder / "nowhere", Path("/proc/self")]
        # the machine's own folders are left out of a test: reading them takes as long as they are large
        target = targets[int(draw.integers(7))]
        (places[int(draw.integers(3))] / f"link {number}").symlink_to(target)

    def is_right(found: Dataset) -> bool:
        count = sum(map(len, found.parts.values()))
        return found.names == ("a", "b", "c") and 9 <= count <= 27

    return Case("links", lambda: data.load(folder), is_right)

import gzip
import struct

import numpy as np
import pytest
import torch

from labelspace import data


def write(path, array):
    header = struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    content = header + array.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "fashion-mnist"
    place.mkdir()
    generator = np.random.default_rng(0)
    for part, count in (("train", 60), ("t10k", 20)):
        write(place / f"{part}-images-idx3-ubyte.gz", generator.integers(0, 256, (count, 4, 5)))
        write(place / f"{part}-labels-idx1-ubyte", np.arange(count) % 10)
    return place


def test_four_files_plain_or_packed(folder):
    dataset = data.load(folder)
    assert dataset.input_shape == (1, 4, 5)
    assert dataset.train.x.dtype == torch.uint8
    assert (len(dataset.train), len(dataset.validation), len(dataset.test)) == (50, 10, 20)
    assert dataset.names[9] == "Ankle boot"
    assert data.load("fashion-mnist", data_dir=folder.parent).key == dataset.key


def test_a_cut_file_is_named(folder):
    content = (folder / "train-labels-idx1-ubyte").read_bytes()
    (folder / "train-labels-idx1-ubyte").write_bytes(content[:-3])
    with pytest.raises(ValueError, match="a readable train-labels-idx1-ubyte. Got 65 bytes where 68"):
        data.load(folder)


def test_a_damaged_packed_file_is_named(folder):
    (folder / "train-images-idx3-ubyte.gz").write_bytes(b"no gzip")
    with pytest.raises(ValueError, match="a readable train-images-idx3-ubyte.gz"):
        data.load(folder)


def test_a_missing_file_is_named(folder):
    (folder / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(ValueError, match="t10k-labels-idx1-ubyte"):
        data.load(folder)

import gzip

import numpy as np
import pytest

from labelspace import data


def records(labels, seed):
    """Return CIFAR records: the label bytes of each row, then random pixels."""
    pixels = np.random.default_rng(seed).integers(0, 256, (len(labels), 3072), dtype=np.uint8)
    return np.concatenate([np.asarray(labels, dtype=np.uint8).reshape(len(labels), -1), pixels], axis=1)


def test_ten_classes_with_the_batches_that_are_there(tmp_path):
    batches = [records(np.arange(20) % 10, seed) for seed in range(3)]
    (tmp_path / "data_batch_1.bin.gz").write_bytes(gzip.compress(batches[0].tobytes()))
    (tmp_path / "data_batch_3.bin").write_bytes(batches[1].tobytes())
    (tmp_path / "test_batch.bin").write_bytes(batches[2].tobytes())
    dataset = data.load(tmp_path)
    assert dataset.names[:2] == ("airplane", "automobile")
    assert (len(dataset.train) + len(dataset.validation), len(dataset.test)) == (40, 20)
    assert dataset.source["batches"] == ["data_batch_1.bin.gz", "data_batch_3.bin"]
    # red is the first plane
    assert dataset.test.x[0, 0].flatten().tolist() == batches[2][0, 1:1025].tolist()
    with pytest.raises(ValueError, match="`coarse`"):
        data.load(tmp_path, coarse=True)


def test_a_hundred_classes_fine_and_coarse(tmp_path):
    place = tmp_path / "cifar-100-binary"
    place.mkdir()
    fine = np.arange(300) % 100
    labels = np.stack([fine // 5, fine], axis=1)
    (place / "train.bin").write_bytes(records(labels, 0).tobytes())
    (place / "test.bin.gz").write_bytes(gzip.compress(records(labels[:100], 1).tobytes()))
    (place / "fine_label_names.txt").write_text("".join(f"fine{i}\n" for i in range(100)) + "\n")
    dataset = data.load("cifar-100", data_dir=tmp_path)
    assert dataset.names[99] == "fine99"
    assert dataset.test.y.tolist() == fine[:100].tolist()
    coarse = data.load("cifar-100", data_dir=tmp_path, coarse=True)
    assert len(coarse.names) == 20
    assert coarse.test.y.tolist() == (fine[:100] // 5).tolist()
    assert coarse.key != dataset.key


def test_a_cut_batch_is_named(tmp_path):
    (tmp_path / "data_batch_1.bin").write_bytes(records(np.arange(10), 0).tobytes()[:-1])
    (tmp_path / "test_batch.bin").write_bytes(records(np.arange(10), 0).tobytes())
    with pytest.raises(ValueError, match="data_batch_1.bin. Got 30729 bytes"):
        data.load(tmp_path)

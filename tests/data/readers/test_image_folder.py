"""Folders of pictures."""

import shutil

import numpy as np
import pytest
import torch
from PIL import Image

from labelspace import data


def save(path, array, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(array, dtype=np.uint8)).save(path, **options)


def test_one_folder_is_split(pictures):
    dataset = data.load(pictures)
    assert dataset.names == ("cat", "dog")
    assert dataset.input_shape == (3, 5, 6)
    assert dataset.train.x.dtype == torch.uint8
    assert dataset.source["counts"] == {"train": 14, "validation": 3, "test": 3}
    assert dataset.source["path"] == "photos"
    assert data.load(pictures, seed=1).key != dataset.key


def test_the_pixels_and_labels_are_those_of_the_files(pictures):
    dataset = data.load(pictures)
    stored = {
        np.asarray(Image.open(path)).transpose(2, 0, 1).tobytes(): path.parent.name for path in pictures.rglob("*.png")
    }
    for part in dataset.parts.values():
        for x, y in zip(part.x, part.y, strict=True):
            assert stored.pop(x.numpy().tobytes()) == dataset.names[int(y)]
    assert not stored


def test_given_parts_are_kept(pictures, tmp_path):
    for part, numbers in (("train", range(6)), ("val", range(6, 8)), ("test", range(8, 10))):
        for path in pictures.rglob("*.png"):
            if int(path.stem.split("_")[1]) in numbers:
                (tmp_path / "parts" / part / path.parent.name).mkdir(parents=True, exist_ok=True)
                shutil.copy(path, tmp_path / "parts" / part / path.parent.name)
    dataset = data.load(tmp_path / "parts")
    assert dataset.source["counts"] == {"train": 12, "validation": 4, "test": 4}
    assert dataset.source["split"]["validation"] == "given"
    shutil.rmtree(tmp_path / "parts" / "test")
    dataset = data.load(tmp_path / "parts")
    assert dataset.source["counts"]["test"] == 4
    assert dataset.source["split"]["test"] == "the validation part of the data"


def test_the_same_picture_on_both_sides_is_warned_of(pictures, tmp_path):
    for part in ("train", "test"):
        shutil.copytree(pictures, tmp_path / "parts" / part)
    with pytest.warns(UserWarning, match="20 of the 20 test samples have the same content"):
        dataset = data.load(tmp_path / "parts")
    assert dataset.source["leakage"]["test"]["rows"] == 20


def test_mixed_sizes_need_a_resize(pictures):
    save(pictures / "cat" / "large.png", np.zeros((9, 8, 3)))
    with pytest.raises(ValueError, match=r"`resize`.*2 sizes, width×height: 6×5 \(20\), 8×9 \(1\).*resize=64"):
        data.load(pictures)
    assert data.load(pictures, resize=4).input_shape == (3, 4, 4)
    assert data.load(pictures, resize=(3, 7)).input_shape == (3, 3, 7)


def test_an_unreadable_picture_is_named_or_skipped_and_counted(pictures):
    whole = (pictures / "dog" / "patient0_0.png").read_bytes()
    (pictures / "dog" / "broken.png").write_bytes(whole[:60])
    (pictures / "dog" / "empty.jpg").write_bytes(b"")
    with pytest.raises(ValueError, match=r"readable pictures. Got dog/.*skip_unreadable=True"):
        data.load(pictures)
    dataset = data.load(pictures, skip_unreadable=True)
    assert sum(dataset.source["counts"].values()) == 20
    assert dataset.source["skipped"] == {"count": 2, "files": ["dog/broken.png", "dog/empty.jpg"]}
    assert data.load(pictures, skip_unreadable=True).source["skipped"]["count"] == 2


def test_hidden_and_other_files_are_left_out(pictures):
    key = data.load(pictures).key
    (pictures / "cat" / ".hidden.png").write_bytes(b"x")
    (pictures / "cat" / "notes.txt").write_text("x")
    (pictures / ".git").mkdir()
    assert data.load(pictures).key == key


def test_groups_from_paths(pictures):
    dataset = data.load(pictures, group_by=r"patient(\d+)", validation=0.2, test=0.2)
    sides = [set(part.groups.tolist()) for part in dataset.parts.values() if part.groups is not None]
    assert len(sides) == 3
    assert sum(len(side) for side in sides) == 5
    with pytest.raises(ValueError, match="20 without a match"):
        data.load(pictures, group_by="nurse")
    with pytest.raises(ValueError, match="a regular expression"):
        data.load(pictures, group_by="(")


def test_empty_and_single_classes(pictures, tmp_path):
    (pictures / "bird").mkdir()
    with pytest.raises(ValueError, match="1 without any \\('bird'\\)"):
        data.load(pictures)
    (pictures / "bird").rmdir()
    shutil.rmtree(pictures / "dog")
    with pytest.raises(ValueError, match="at least two classes. Got only 'cat'"):
        data.load(pictures)
    (tmp_path / "nothing").mkdir()
    with pytest.raises(ValueError, match="a folder of folders of pictures"):
        data.load(tmp_path / "nothing")


def test_classes_called_by_numbers_are_in_numerical_order(tmp_path):
    for number in range(12):
        save(tmp_path / "n" / str(9 + number % 2) / f"{number}.png", np.full((3, 3), number * 20))
    assert data.load(tmp_path / "n").names == ("9", "10")


def test_pictures_of_which_none_can_be_read(pictures):
    for path in pictures.rglob("*.png"):
        path.write_bytes(b"no picture " + path.name.encode())
    for resize in (None, 4):
        with pytest.raises(ValueError, match="20 files, none readable"):
            data.load(pictures, skip_unreadable=True, resize=resize, colour=True)

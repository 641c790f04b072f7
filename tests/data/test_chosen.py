"""What people say of parts of a dataset: classes, and validation parts that they choose themselves."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from labelspace import data

X = np.arange(120, dtype=np.float64)[:, None]


Y = np.array(["cat", "dog", "eel"] * 40)


def numbers(part):
    return part.x.flatten().int().tolist()


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["cat", "dgo"], "`classes` of data.load must be names of classes. Got 'dgo', which is none. Did you mean"),
        (["cat"], "at least two classes. Got only 'cat'. There is nothing to tell apart"),
        ("", "at least two classes. Got none"),
        ("cat,dog,cat", "different classes. Got 'cat' more than once"),
        ("first 1", "at least two classes. Got only 'cat'"),
    ],
)
def test_what_is_wrong_with_classes_is_said_once(classes, message):
    with pytest.raises(ValueError, match=message):
        data.load((X, Y), classes=classes)
    with pytest.raises(TypeError, match="a list of names"):
        data.load((X, Y), classes=3)


@pytest.mark.parametrize(
    ("validation", "held"),
    [
        ("first 10", slice(None, 10)),
        ("LAST  10", slice(-10, None)),
        ("first 10%", slice(None, 10)),
        ("last 2.5%", slice(-3, None)),
    ],
)
def test_an_end_of_training_as_it_comes(validation, held):
    pool = sorted(numbers(data.load((X, Y), validation="none").train))
    dataset = data.load((X, Y), validation=validation)
    assert numbers(dataset.validation) == pool[held]
    assert sorted(numbers(dataset.train) + numbers(dataset.validation)) == pool
    assert len(pool) == 102
    assert dataset.source["split"]["validation"] == f"the {validation.split()[0].lower()} {len(pool[held])} of train"
    assert_close(dataset.normalize.mean, dataset.train.x.mean(0))


def test_none_trains_on_everything_but_the_test_part(tmp_path: Path):
    whole, every = data.load((X, Y)), data.load((X, Y), validation="none")
    assert len(every.validation) == 0
    assert every.validation.x.shape == (0, 1)
    assert sorted(numbers(every.train)) == sorted(numbers(whole.train) + numbers(whole.validation))
    assert numbers(every.test) == numbers(whole.test)
    assert every.source["split"]["validation"] == "none"
    np.savez(
        tmp_path / "own.npz",
        x_train=X[:60],
        y_train=Y[:60],
        x_val=X[60:90],
        y_val=Y[60:90],
        x_test=X[90:],
        y_test=Y[90:],
    )
    own = data.load(tmp_path / "own.npz", validation="none")
    assert numbers(own.train) == list(range(90))
    assert numbers(own.test) == list(range(90, 120))
    with pytest.raises(ValueError, match="left out where the data brings its own validation part.* or say 'none'"):
        data.load(tmp_path / "own.npz", validation="first 10")


def test_shares_as_text_and_keys():
    assert data.load((X, Y), validation="0.2").key == data.load((X, Y), validation=0.2).key
    keys = {data.load((X, Y), validation=way).key for way in (None, 0.2, "first 10", "last 10", "none")}
    assert len(keys) == 5


@pytest.mark.parametrize("validation", ["second 10", "first", "5000", 5000, 0, 1.0, True, "nan", "first 1.5"])
def test_what_is_wrong_with_a_validation_part_is_said_once(validation):
    with pytest.raises(ValueError, match="`validation` of data.load must be a share in .0, 1., 'first 5000'"):
        data.load((X, Y), validation=validation)


@pytest.mark.parametrize("validation", ["first 0", "first 102", "last 100%"])
def test_validation_cannot_be_nothing_or_all(validation):
    with pytest.raises(ValueError, match="some training samples, not all. Got .* of 102 training samples"):
        data.load((X, Y), validation=validation)


def test_a_class_that_is_nowhere_else_cannot_be_held_out():
    with pytest.raises(ValueError, match="without any .'a'"):
        data.load((np.arange(40.0)[:, None], np.array(["a"] * 10 + ["b"] * 30)), validation="first 12")


def test_a_group_on_both_sides_of_a_chosen_split_is_told():
    patients = np.arange(120) // 6
    with pytest.warns(UserWarning, match="1 groups of the validation part are in an earlier part too"):
        data.load((X, Y), groups=patients, validation="first 10")


@pytest.mark.parametrize("way", [{"ignore": ["said"]}, {"text": "said", "ignore": ["a", "b"]}])
def test_tables_and_texts_without_a_validation_part(way, tmp_path: Path):
    rows = [
        f"{number / 3},{'xyz'[number % 3]},word{number % 4} said {number},{'uv'[number % 2]}" for number in range(60)
    ]
    (tmp_path / "t.csv").write_text("a,b,said,label\n" + "\n".join(rows))
    for validation, count in (("none", 0), ("first 7", 7)):
        dataset = data.load(tmp_path / "t.csv", validation=validation, **way)
        assert [len(part) for part in dataset.parts.values()] == [51 - count, count, 9]
        assert dataset.validation.x.shape[1:] == dataset.train.x.shape[1:]


def test_folders_of_pictures_without_a_validation_part(pictures: Path):
    dataset = data.load(pictures, validation="none")
    assert [len(part) for part in dataset.parts.values()] == [17, 0, 3]
    assert dataset.validation.x.shape == (0, 3, 5, 6)


def test_a_check_says_that_there_is_no_validation_part():
    report = data.check((X, Y), validation="none", classes="cat,eel")
    none = "There are no validation samples: nothing can be tuned, stopped early or calibrated."
    assert report.notes == [none, "Only 12 test samples: a comparison decides nothing on fewer than 20. Add samples."]
    assert report.counts["validation"] == [0, 0]
    assert torch.tensor(report.counts["train"]).sum() == len(
        data.load((X, Y), validation="none", classes="cat,eel").train
    )

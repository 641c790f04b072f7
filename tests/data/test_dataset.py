"""Some classes or samples of a dataset, in all of its parts."""

import json

import numpy as np
import pytest
from torch.testing import assert_close

from labelspace import data
from labelspace.data.dataset import of_classes

X = np.arange(120, dtype=np.float64)[:, None]


Y = np.array(["cat", "dog", "eel"] * 40)


def numbers(part):
    return part.x.flatten().int().tolist()


def test_only_the_samples_of_some_classes_in_all_parts_with_labels_in_the_order_given():
    whole, some = data.load((X, Y)), data.load((X, Y), classes=["eel", "cat"])
    assert some.names == ("eel", "cat")
    for name, part in some.parts.items():
        # the class of row n is n mod 3: nothing of dog, and no sample has changed its part
        assert numbers(part) == [row for row in numbers(whole.parts[name]) if row % 3 != 1], name
        assert part.y.tolist() == [0 if row % 3 == 2 else 1 for row in numbers(part)], name
    assert_close(some.normalize.mean, some.train.x.mean(0))
    assert some.source["counts"] == {name: len(part) for name, part in some.parts.items()}
    assert some.source["all_names"] == ["cat", "dog", "eel"]
    json.dumps(some.source)


def test_every_way_to_name_classes():
    wanted = data.load((X, Y), classes=["cat", "dog"])
    for way in ("cat,dog", ' cat , "dog"', "first 2", "First 67%", ("cat", "dog")):
        found = data.load((X, Y), classes=way)
        assert found.names == ("cat", "dog")
        assert found.key == wanted.key
    assert data.load((X, Y), classes="last 2").names == ("dog", "eel")
    assert data.load("digits", classes=[3, 5]).names == ("3", "5")
    keys = {data.load((X, Y), classes=way).key for way in (None, "cat,dog", "dog,cat", "dog,eel")}
    assert len(keys) == 4
    assert data.load((X, Y), classes="cat,dog,eel").key == data.load((X, Y)).key
    # a class may be called like a number of classes
    assert data.load((X, np.where(Y == "cat", "first 2", Y)), classes=["first 2", "eel"]).names == ("first 2", "eel")


def test_a_subset_of_a_subset_remembers_all_classes():
    some = of_classes(data.load("digits"), "first 5")
    assert of_classes(some, "4,0").source["all_names"] == [str(digit) for digit in range(10)]


def test_classes_without_test_samples():
    x, y = np.arange(14.0)[:, None], np.array(["a"] * 6 + ["b"] * 6 + ["c", "d"])
    with pytest.raises(ValueError, match="classes with test samples. Got none of 'c'"):
        data.load((x, y), classes="c,d")


def test_a_limit_may_be_a_share():
    digits = data.load("digits")
    assert len(digits.limit("50%").train) == 400
    assert digits.limit("50%").key == digits.limit(400).key
    assert digits.limit("100%") is digits
    for wrong in ("0%", "101%", "half"):
        with pytest.raises(
            ValueError, match="`count` of Dataset.limit must be a whole number .*, or a share such as '50%'"
        ):
            digits.limit(wrong)
    with pytest.raises(ValueError, match="of at least 10. Got 4"):
        digits.limit("0.5%")


def test_limit_caps_training_only():
    dataset = data.load("digits")
    small = dataset.limit(50, seed=1)
    assert len(small.train) == 50
    assert set(small.train.y.tolist()) == set(range(10))
    assert small.test is dataset.test
    assert small.key not in (dataset.key, dataset.limit(50, seed=2).key)
    assert small.key == dataset.limit(50, seed=1).key
    assert small.source["counts"]["train"] == 50
    assert dataset.limit(10**6) is dataset
    with pytest.raises(ValueError, match="`count` of Dataset.limit must be a whole number of at least 10"):
        dataset.limit(5)

"""Orders and groups as lists in Python."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from labelspace import data, groups, train
from labelspace.comparison.knowledge import gather
from labelspace.spec.lists import in_lists
from labelspace.spec.named import named, order_of
from labelspace.spec.words import words

SIZES = ["high", "low", "mid"]


@pytest.mark.parametrize(
    "given",
    [["low", "mid", "high"], ("low", "mid", "high"), np.array(["low", "mid", "high"]), [" low", "mid", "high "]],
)
def test_a_list_of_names_is_an_order(given: object) -> None:
    space = named(given, SIZES)
    # by hand: from low, mid is one step and high two, so masses are 2/3 and 1/3
    expected = torch.tensor([[0, 1 / 3, 2 / 3], [1 / 3, 0, 2 / 3], [1 / 2, 1 / 2, 0]])
    torch.testing.assert_close(space.matrix, expected)
    assert order_of(space) == ("low", "mid", "high")
    assert words(space) == "order: low < mid < high"


def test_an_order_of_numbers_and_of_names_with_the_sign_of_order() -> None:
    assert order_of(named([3, 1, 2], ["1", "2", "3"])) == ("3", "1", "2")
    assert order_of(named(np.array([3, 1, 2]), ["1", "2", "3"])) == ("3", "1", "2")
    assert order_of(named(["<50K", "50K<60K"], ["50K<60K", "<50K"])) == ("<50K", "50K<60K")


@pytest.mark.parametrize(
    "given",
    [
        [["cat", "dog"], ["car", "bus"]],
        {"pets": ["cat", "dog"], "wheels": ("car", "bus")},
        [np.array(["cat", "dog"]), ("car", "bus")],
    ],
)
def test_lists_of_names_are_groups(given: object) -> None:
    names = ["bus", "car", "cat", "dog"]
    space = named(given, names)
    torch.testing.assert_close(space.matrix, groups([["cat", "dog"], ["car", "bus"]], names).matrix)
    assert words(space) == "groups: 4 classes in 2 groups"
    wanted = ["pets", "wheels"] if isinstance(given, dict) else ["group 1", "group 2"]
    assert list(space.source["groups"]) == wanted


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["low", "hgih", "mid"], "Got 'hgih', which is none of the classes. Did you mean 'high'?"),
        (["low", "mid"], "Got nothing for 'high'. Put it where it belongs"),
        (["low", "mid", "low", "high"], "Got 'low' again. Keep one of them."),
        ([["low", "mid"]], "groups with every class in one of them. Got nothing for 'high'"),
        ([["low", "mid"], ["high", "Low"]], "Got 'Low' (in 'group 2'), which is none of the classes"),
        ([["low", "mid"], "high"], "Got 'high' beside a list. A group of one is a list, too."),
        ({"low", "mid", "high"}, "Got a set. A set has no order: give a list."),
        ([], "Got an empty list."),
        ([["low", "mid"], []], "Got an empty list as group 2."),
        ({"high": "low"}, "Got 'low' for 'high'. labelspace.tree() makes a space of parents."),
        ([[["low"]], ["mid"]], "Got a list inside a group. labelspace.tree() makes a space of more levels."),
        ([True, False], "Got True."),
        (3, "Got int."),
    ],
)
def test_other_objects_are_refused_in_words(given: object, message: str) -> None:
    with pytest.raises(ValueError, match="`space` of labelspace must be") as error:
        named(given, SIZES)
    assert message in str(error.value)


def test_a_list_for_all_classes_is_cut_like_a_text() -> None:
    given = ["low", "mid", "high"]
    cut, text = (named(spec, ["low", "high"], among=SIZES) for spec in (given, "low<mid<high"))
    torch.testing.assert_close(cut.matrix, text.matrix)


def test_training_and_comparing_take_lists() -> None:
    rows, labels = [[float(value)] for value in range(30)], [("low", "mid", "high")[value // 10] for value in range(30)]
    options = {"method": "semantic", "model": "linear", "epochs": 1}
    by_list, by_text = (
        train((rows, labels), space=space, **options) for space in (["low", "mid", "high"], "low<mid<high")
    )
    with pytest.warns(UserWarning, match="'group 2' has one class"):
        grouped = train((rows, labels), space=[["low", "mid"], ["high"]], **options)
    assert by_list.config.key() != grouped.config.key()
    torch.testing.assert_close(by_list.space.matrix, by_text.space.matrix)
    torch.testing.assert_close(by_list.scores["test_scores"], by_text.scores["test_scores"], rtol=0, atol=0)
    dataset = data.load((rows, labels))
    knowledge = gather(["low", "mid", "high"], None, dataset, dataset.train.y)
    # the prices that an order implies: steps
    places = np.array([["low", "mid", "high"].index(name) for name in dataset.names])
    np.testing.assert_array_equal(knowledge.cost.matrix.numpy(), np.abs(places[:, None] - places[None]))


def test_lists_are_plain_python() -> None:
    assert in_lists(SimpleNamespace(tolist=lambda: ["a", 2])) == ["a", "2"]

"""Groups: mass inside only, by eq. (4), and the published groupings."""

import pytest
import torch

from labelspace import groups


def test_mass_stays_inside_and_is_even() -> None:
    space = groups({"pets": ["cat", "dog", "fish"], "road": ["car", "bus"]})
    for row, name in enumerate(space.names):
        own = ["cat", "dog", "fish"] if name in ("cat", "dog", "fish") else ["car", "bus"]
        expected = [1 / (len(own) - 1) if other in own and other != name else 0.0 for other in space.names]
        assert space.matrix[row].tolist() == pytest.approx(expected)


def test_indices_and_names_say_the_same() -> None:
    by_name = groups([["b", "a"], ["c", "d"]], ["a", "b", "c", "d"])
    assert torch.equal(groups([[1, 0], [2, 3]], ["a", "b", "c", "d"]).matrix, by_name.matrix)
    assert groups([[1, 0], [2, 3]]).names == ("0", "1", "2", "3")


def test_published_groupings_are_four_of_ten_classes() -> None:
    for number in range(5):
        space = groups(f"cifar10-{number}")
        assert len(space) == 10
        assert len(space.source["groups"]) == 4
        assert sorted(name for members in space.source["groups"].values() for name in members) == list(space.names)
    assert torch.equal(groups("cifar10-semantic").matrix, groups("cifar10-3").matrix)


@pytest.mark.parametrize(
    ("given", "classes", "message"),
    [
        ([["a", "b"], ["b"]], None, "disjoint. Got 'b' in 'group 0' and 'group 1'"),
        ([["a", "b"]], ["a", "b", "c"], "a group for every class. Got none for 'c'"),
        ([["a", 1]], None, "all names or all indices"),
        ([[0, 5]], 3, "indices below 3. Got 5"),
        ("cifar10-9", None, "Did you mean 'cifar10-"),
        ([], None, "at least one group"),
        (["ab"], None, "non-empty lists of class names"),
    ],
)
def test_bad_groups(given, classes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        groups(given, classes)

"""The groups above classes: where they part, under names that nothing else has."""

import pytest

from labelspace import tree, wordnet
from labelspace.sources._wordnet_graph import shipped_graph
from labelspace.sources._wordnet_names import read_name
from labelspace.sources._wordnet_tree import groups_above


def above(names: list[str]) -> dict[str, str]:
    graph = shipped_graph()
    return groups_above(graph, {name: read_name(graph, name) for name in names})


def test_only_nodes_at_which_classes_part_are_kept() -> None:
    assert above(["cat", "dog", "truck"]) == {
        "cat": "carnivore",
        "dog": "carnivore",
        "truck": "whole",
        "carnivore": "whole",
        "whole": "",
    }


def test_a_group_called_like_a_class_has_its_full_name() -> None:
    found = above(["carnivore", "cat", "dog", "car", "automobile"])
    assert found["cat"] == found["carnivore"] == "carnivore.n.01"
    assert found["car"] == found["automobile"] == "car.n.01"


def test_what_is_no_noun_is_under_nothing() -> None:
    found = above(["cat", "xqzzy", "dog"])
    assert found["xqzzy"] == ""


@pytest.mark.parametrize("names", [["crane", "bat", "mouse", "saw"], ["cat", "dog", "truck", "ship", "frog"]])
def test_it_is_a_tree_with_every_class_as_a_leaf(names: list[str]) -> None:
    parents = wordnet(names).source["parents"]
    assert isinstance(parents, dict)
    assert set(tree(parents).names) == set(names)
    children = [parent for parent in parents.values() if parent]
    assert all(children.count(parent) > 1 for parent in children)

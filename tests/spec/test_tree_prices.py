"""Prices by a tree: edges over the most there are, and groups."""

import pytest
import torch

from labelspace import groups, ordinal, tree
from labelspace.spec.tree_prices import has_paths, tree_prices


def test_edges_over_the_largest_number_of_them() -> None:
    space = tree({"pet": ["cat", "dog"], "vehicle": ["car"]})
    found, kind = tree_prices(["car", "cat", "dog"], space)
    torch.testing.assert_close(found, torch.tensor([[0, 1, 1], [1, 0, 0.5], [1, 0.5, 0]]))
    assert kind == "tree"


def test_inside_groups_and_between_them() -> None:
    found, kind = tree_prices(list("abcd"), groups({"one": ["a", "b"], "two": ["c", "d"]}))
    assert (found[0, 1], found[0, 2], kind) == (0.5, 1, "groups")


def test_an_order_has_no_paths() -> None:
    assert not has_paths(ordinal(3))
    with pytest.raises(ValueError, match="'tree' only beside a space from a taxonomy"):
        tree_prices(["0", "1", "2"], ordinal(3))

"""Nodes of a taxonomy as answers: prices written out, monotone upwards, and the cheapest node beside brute force."""

import numpy as np
import pytest
import torch

from labelspace import Decision, cost, groups, ordinal, tree
from labelspace.spec.actions import actions_of, with_nodes
from labelspace.spec.nodes import node_prices, nodes_of
from labelspace.spec.prices import prices

TREE = {
    "animal": {"dog": ["poodle", "beagle", "corgi"], "cat": ["siamese", "persian"], "whale": ["orca"]},
    "vehicle": ["car", "bus"],
}
SPACE = tree(TREE)
BELOW = {
    "cat": ["siamese", "persian"],
    "vehicle": ["car", "bus"],
    "dog": ["poodle", "beagle", "corgi"],
    "animal": ["poodle", "beagle", "corgi", "siamese", "persian", "orca"],
    "any": list(SPACE.names),
}


def random_prices(seed: int = 0) -> torch.Tensor:
    drawn = torch.rand(8, 8, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return drawn.float().double().fill_diagonal_(0)


def test_classes_below_each_node() -> None:
    assert nodes_of(SPACE, SPACE.names) == BELOW, "a whale is an orca, and nothing else"
    assert list(nodes_of(SPACE, SPACE.names)) == list(BELOW)
    assert nodes_of(groups({"pet": ["a", "b"], "any": ["c", "d"]}), list("abcd")) == {
        "pet": ["a", "b"],
        "any": ["c", "d"],
        "any class": ["a", "b", "c", "d"],
    }


def test_prices_of_nodes_written_out() -> None:
    given = random_prices()
    titles, found = node_prices(given, SPACE.names, BELOW)
    assert titles == [*SPACE.names, *BELOW]
    plain = given.numpy()
    for column, members in enumerate(BELOW.values(), len(SPACE.names)):
        places = [SPACE.names.index(name) for name in members]
        for j in range(8):
            paid = [plain[j, place] for place in places]
            assert found[j, column] == pytest.approx(max(paid) / 2 if j in places else sum(paid) / len(paid))
    torch.testing.assert_close(found[:, :8], given)


def test_an_ancestor_is_never_cheaper_than_a_nearer_one_nor_free() -> None:
    titles, found = node_prices(random_prices(1), SPACE.names, BELOW)
    for name, path in (("poodle", ["dog", "animal", "any"]), ("bus", ["vehicle", "any"])):
        along = [float(found[SPACE.names.index(name), titles.index(node)]) for node in [name, *path]]
        assert along == sorted(along)
        assert along[0] == 0 < along[1]


def test_where_classes_are_equally_deep_a_node_costs_the_edges_up_to_it() -> None:
    even = tree({"animal": {"dog": ["poodle", "beagle"], "cat": ["siamese", "persian"]}, "thing": {"car": ["a", "b"]}})
    assert even.hops is not None
    titles, found = node_prices(even.hops.double(), even.names, nodes_of(even, even.names))
    edges = [float(found[0, titles.index(node)]) for node in ("poodle", "dog", "animal", "any")]
    assert edges == [0, 1, 2, 3]


@pytest.mark.parametrize("seed", range(5))
def test_the_cheapest_node_is_that_of_brute_force(seed: int) -> None:
    assert SPACE.hops is not None
    # near the tree's own, or nobody would answer with a node
    given, draw = (SPACE.hops * (1 + random_prices(seed) / 4)).float().double(), np.random.default_rng(seed)
    space = with_nodes(cost(given, SPACE.names), SPACE)
    decision = Decision("min_cost", 1.0, space, SPACE.names)
    p = draw.dirichlet(np.full(8, 0.5), size=100)
    found = decision.doing(np.log(p))
    plain = given.numpy()
    for row, done in zip(p, found, strict=True):
        costs = {name: float(row @ plain[:, place]) for place, name in enumerate(SPACE.names)}
        for node, members in BELOW.items():
            places = [SPACE.names.index(name) for name in members]
            costs[node] = sum(
                row[j] * (max(plain[j, places]) / 2 if j in places else np.mean(plain[j, places])) for j in range(8)
            )
        assert done == min(costs, key=lambda name: costs[name])
    assert set(found) & set(BELOW), "some samples are answered with a node"


def test_a_node_is_answered_where_no_class_below_has_half() -> None:
    flat = groups({"dog": ["a", "b", "c"], "cat": ["d", "e"]})
    decision = Decision("min_cost", 1.0, prices("tree", flat.names, flat, "tree"), flat.names)
    p = np.array([[0.51, 0.47, 0.01, 0.005, 0.005], [0.48, 0.48, 0.03, 0.005, 0.005], [0.3, 0.2, 0.1, 0.2, 0.2]])
    assert decision.doing(np.log(p)) == ["a", "dog", "any"]


def test_a_subset_has_the_nodes_that_are_left() -> None:
    space = with_nodes(cost(random_prices(), SPACE.names), SPACE).subset(["poodle", "corgi", "car"])
    table = actions_of(space)
    assert table is not None
    assert table.names == ("poodle", "corgi", "car", "dog", "animal", "any")


def test_what_has_no_nodes_is_refused() -> None:
    given = cost(1 - torch.eye(3), list("abc"))
    for space, got in ((None, "no space"), (ordinal(list("abc")), "LabelSpace")):
        with pytest.raises(ValueError, match=f"`actions` of labelspace must be 'tree' only beside.*Got {got}"):
            with_nodes(given, space)

"""Trees: path lengths against a slow search, and relations by their formula."""

import random
from collections import deque

import pytest
import torch
from torch.testing import assert_close

from labelspace import tree
from labelspace.sources.tree import check_cycles, hop_relations


def slow_hops(parents: dict[str, str], names: tuple[str, ...]) -> list[list[int]]:
    edges: dict[str, set[str]] = {}
    for child, parent in parents.items():
        edges.setdefault(child, set()).add(parent)
        edges.setdefault(parent, set()).add(child)

    def reached(start: str) -> dict[str, int]:
        steps, waiting = {start: 0}, deque([start])
        while waiting:
            node = waiting.popleft()
            for other in edges[node] - steps.keys():
                steps[other] = steps[node] + 1
                waiting.append(other)
        return steps

    return [[reached(one)[two] for two in names] for one in names]


@pytest.mark.parametrize("seed", range(5))
def test_hops_are_the_shortest_paths(seed: int) -> None:
    draw = random.Random(seed)
    nodes = [f"n{number}" for number in range(20)]
    parents = {node: draw.choice(nodes[:place]) for place, node in enumerate(nodes) if place}
    space = tree(parents)
    assert space.hops is not None
    assert space.hops.tolist() == slow_hops(parents, space.names)
    weights = torch.where(torch.eye(len(space), dtype=torch.bool), 0, 0.5 ** space.hops.double())
    assert_close(space.matrix.double(), weights / weights.sum(1, keepdim=True), rtol=0, atol=1e-6)


def test_classes_without_a_path_share_nothing() -> None:
    found = hop_relations(torch.tensor([[0, 2, -1], [2, 0, -1], [-1, -1, 0]]), 0.5)
    assert found.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    far = hop_relations(torch.tensor([[0, 5000], [5000, 0]]), 0.5)  # 0.5^5000 is 0 in any float
    assert far.tolist() == [[0, 1], [1, 0]]


def test_circles_are_named() -> None:
    with pytest.raises(ValueError, match="`parents` of mine must be without cycles. Got b → c → b. Remove one"):
        check_cycles("mine", {"a": "b", "b": "c", "c": "b"})
    with pytest.raises(ValueError, match="one parent per node. Got 'a' under 'b' and 'c'"):
        tree([("a", "b"), ("a", "c")])

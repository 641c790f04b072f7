"""Classes in the order of their tree, and the lines of it."""

import numpy as np
import torch
from scipy.cluster.hierarchy import dendrogram, leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

import labelspace
from labelspace.report.layouts import GROUPS, Layout, fold, layout_of
from labelspace.space import LabelSpace


def distances(classes: int, seed: int = 0) -> torch.Tensor:
    points = torch.randn(classes, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    found = torch.cdist(points, points)
    return ((found + found.T) / 2).fill_diagonal_(0)


def lines(layout: Layout) -> set[tuple[float, ...]]:
    """The four corners of every branch, whichever side comes first."""
    x, y = layout.branches["x"], layout.branches["y"]
    corners = [(*x[i : i + 4], *y[i : i + 4]) for i in range(0, len(x), 5)]
    assert all(x[i + 4] is None and y[i + 4] is None for i in range(0, len(x), 5))
    return {tuple(round(float(number), 3) for number in corner) for corner in corners}


def test_branches_are_those_that_scipy_draws() -> None:
    between = distances(12)
    layout = layout_of(between)
    condensed = squareform(between.numpy(), checks=False)
    merges = optimal_leaf_ordering(linkage(condensed, "average"), condensed)
    order = leaves_list(merges).tolist()
    drawn = dendrogram(merges, no_plot=True)
    # scipy puts leaves at 5, 15, 25, …
    wanted = set()
    for x, y in zip(drawn["icoord"], drawn["dcoord"], strict=True):
        places = [(place - 5) / 10 for place in x]
        if layout.order != tuple(order):  # ours is the same tree read from the other side
            places, y = [len(order) - 1 - place for place in places[::-1]], y[::-1]
        wanted.add(tuple(round(float(number), 3) for number in [*places, *y]))
    assert sorted(layout.order) == list(range(12))
    assert layout.order in (tuple(order), tuple(order[::-1]))
    assert lines(layout) == wanted


def test_ordered_classes_keep_their_order() -> None:
    space = labelspace.ordinal(12)
    assert layout_of(space.distances()).order == tuple(range(12))


def test_relatives_are_neighbours_whatever_the_kind() -> None:
    names = ("cat", "car", "dog", "bus")
    relations = labelspace.groups({"pets": ["cat", "dog"], "cars": ["car", "bus"]}).subset(names)
    cost = LabelSpace(names, [[0, 9, 1, 9], [9, 0, 9, 1], [1, 9, 0, 9], [9, 1, 9, 0]], "cost")
    vectors = LabelSpace(names, [[1, 0.1], [0, 1], [1, 0], [0.1, 1]], "vectors")
    for space in (relations, cost, vectors):
        order = layout_of(space.distances()).order
        assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({0, 2}), frozenset({1, 3})}


def test_trees_are_laid_out_by_their_paths() -> None:
    space = labelspace.tree({"x": ["a", "c"], "y": {"z": ["b"], "w": ["d", "e"]}}).subset(list("adbce"))
    assert space.hops is not None
    merged = linkage(squareform(space.hops.double().numpy()), "average")
    heights = layout_of(space.distances()).branches["y"][1::5]
    torch.testing.assert_close(
        torch.tensor(sorted(heights)).double(), torch.from_numpy(merged[:, 2]), rtol=1e-4, atol=0
    )


def test_many_classes_are_folded_into_groups_of_the_tree() -> None:
    between = distances(150)
    layout = layout_of(between)
    assert len(layout.groups) == len(layout.middles) == GROUPS
    assert sum(layout.groups) == 150
    start = 0
    for size, middle in zip(layout.groups, layout.middles, strict=True):
        assert middle in layout.order[start : start + size]
        start += size
    # every group but one is joined to something
    assert layout.group_branches is not None
    assert layout.group_branches["x"].count(None) == GROUPS - 1
    arranged = layout.arrange(between)
    assert arranged["full"]["shape"] == [150, 150]
    assert arranged["folded"]["shape"] == [GROUPS, GROUPS]


def test_folding_against_plain_loops() -> None:
    generator = np.random.default_rng(0)
    matrix = generator.random((6, 6))
    matrix[2, 4] = np.nan
    groups = [[0, 1, 2], [3], [4, 5]]
    mass = np.array([[np.nansum(matrix[np.ix_(a, b)]) / len(a) for b in groups] for a in groups])
    pairs = [[[matrix[i, j] for i in a for j in b if i != j] for b in groups] for a in groups]
    means = np.array([[np.nanmean(cell) if cell else 0.0 for cell in row] for row in pairs])
    given = torch.from_numpy(matrix)
    torch.testing.assert_close(fold(given, (3, 1, 2), mass=True), torch.from_numpy(mass))
    torch.testing.assert_close(fold(given, (3, 1, 2), mass=False), torch.from_numpy(means))


def test_classes_without_samples_and_very_few_classes() -> None:
    between = distances(5)
    between[2, :] = between[:, 2] = torch.nan
    assert sorted(layout_of(between).order) == [0, 1, 2, 3, 4]
    assert layout_of(torch.full((3, 3), torch.nan)).order in ((0, 1, 2), (2, 1, 0))
    assert layout_of(torch.zeros(1, 1)).order == (0,)
    assert sorted(layout_of(torch.zeros(2, 2)).order) == [0, 1]


def test_more_classes_than_can_be_shown_leave_groups_only() -> None:
    between = distances(300)
    layout = layout_of(between)
    arranged = layout.arrange(between)
    assert arranged["full"] is None
    assert arranged["folded"]["shape"] == [GROUPS, GROUPS]
    assert layout.branches == {"x": [], "y": []}


def test_groups_are_called_by_what_a_taxonomy_calls_them() -> None:
    kinds = {f"kind {number}": [f"{number}-{each}" for each in range(4)] for number in range(20)}
    halves = {"low": dict(list(kinds.items())[:10]), "high": dict(list(kinds.items())[10:])}
    space = labelspace.tree(halves)
    layout = layout_of(space.distances(), space)
    assert layout.above == tuple(f"kind {name.partition('-')[0]}" for name in space.names)
    start = 0
    for size, title in zip(layout.groups, layout.titles, strict=True):
        members = [space.names[place] for place in layout.order[start : start + size]]
        start += size
        # the lowest that holds all of them
        parts = {name.partition("-")[0] for name in members}
        assert title == (f"kind {parts.pop()}" if len(parts) == 1 else "low" if int(parts.pop()) < 10 else "high")
    assert layout_of(space.distances()).titles == ()


def test_few_classes_have_their_lowest_group_and_no_fold() -> None:
    space = labelspace.wordnet(["cat", "dog", "truck", "car", "xylophone"])
    layout = layout_of(space.distances(), space)
    assert layout.above[:4] == ("carnivore", "carnivore", "motor vehicle", "motor vehicle")
    assert (layout.groups, layout.titles) == ((), ())
    assert layout_of(space.distances(), labelspace.ordinal(5)).above == ()
    grouped = labelspace.groups({"pets": ["cat", "dog"], "things": ["car", "bus"]})
    assert layout_of(grouped.distances(), grouped).above == ("pets", "pets", "things", "things")


def test_a_source_that_says_anything_names_nothing() -> None:
    between = distances(3)
    for parents in (3, {"a": "b", "b": "a", "c": ""}, {"a": 1}, {}):
        odd = LabelSpace(("a", "b", "c"), torch.eye(3), "relations", {"builder": "tree", "parents": parents})
        assert layout_of(between, odd).above == ()
    odd = LabelSpace(("a", "b", "c"), torch.eye(3), "relations", {"builder": "groups", "groups": {"x": 3}})
    assert layout_of(between, odd).above == ()

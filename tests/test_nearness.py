"""What near means: distances against plain loops, one order everywhere, and what moving a space must not change."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from torch.testing import assert_close

import labelspace
from labelspace import LabelSpace, confusion, cost, groups, metrics, ordinal, tree, uniform, wordnet
from labelspace.analysis import agreement, dendrogram, kendall, neighbours
from labelspace.criteria import make_criterion

NAMES = tuple("abcdefghij")


def by_hand(relations: LabelSpace) -> torch.Tensor:
    """Distances from entries, in plain numpy: shares of the largest other entry, both ways."""
    a = relations.matrix.double().numpy().copy()
    np.fill_diagonal(a, 0)
    count = len(a)
    found = np.zeros((count, count))
    for i in range(count):
        for j in range(count):
            if i != j:
                shares = [a[x, y] / a[x].max() if a[x].max() > 0 else 0.0 for x, y in ((i, j), (j, i))]
                found[i, j] = 1 - sum(shares) / 4
    return torch.from_numpy(found)


@st.composite
def spaces(draw: st.DrawFn) -> LabelSpace:
    """A space of any kind with four to nine classes."""
    count, seed = draw(st.integers(4, 9)), draw(st.integers(0, 2**31))
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.rand(count, count, generator=generator) + 0.01
    kind = draw(st.sampled_from(["relations", "cosine", "euclidean", "cos2", "cost", "ordinal", "tree", "confusion"]))
    names = NAMES[:count]
    if kind == "ordinal":
        return ordinal(names, power=draw(st.floats(0.1, 3)))
    if kind == "tree":
        return tree({"x": list(names[:2]), "y": {"z": list(names[2:4]), "w": list(names[4:])}}).subset(names)
    if kind == "confusion":
        return confusion((numbers * 20 - 5).clamp_min(0).round(), names)
    if kind == "cost":
        return cost(numbers.fill_diagonal_(0), names)
    if kind == "relations":
        return LabelSpace(names, numbers / numbers.sum(1, keepdim=True), "relations")
    width = draw(st.integers(2, count))
    return LabelSpace(names, numbers[:, :width] - 0.5, "vectors", {"metric": kind})


@given(st.integers(2, 60))
def test_ordered_classes_grow_apart_with_their_gap(count: int) -> None:
    ranks = torch.arange(count)
    gaps = (ranks[:, None] - ranks[None, :]).abs()
    assert_close(ordinal(count).distances(), gaps.float(), rtol=0, atol=0)
    # a file of an earlier release has no ranks: its entries say the same
    plain = LabelSpace(ordinal(count).names, ordinal(count).matrix, "relations").distances()
    assert_close(plain, torch.where(gaps == 0, 0, 1 - 1 / (2 * gaps.clamp_min(1).double())).float(), rtol=0, atol=1e-6)
    for row in range(count):
        values = [set(plain[row, gaps[row] == gap].tolist()) for gap in range(1, count) if (gaps[row] == gap).any()]
        # one value per gap, to the left and to the right, and larger for every larger gap
        assert all(len(value) == 1 for value in values)
        assert all(max(near) < min(far) for near, far in pairwise(values))


@settings(max_examples=50)
@given(st.lists(st.integers(0, 25), min_size=1, max_size=8, unique=True), st.floats(0.2, 3))
def test_some_of_ordered_classes_keep_their_ranks(
    tmp_path_factory: pytest.TempPathFactory, chosen: list[int], power: float
) -> None:
    ranks = torch.tensor(chosen)
    expected = (ranks[:, None] - ranks[None, :]).abs()
    part = ordinal(26, power=power).subset(chosen)
    loaded = LabelSpace.load(part.save(tmp_path_factory.mktemp("part") / "labels.safetensors"))
    for space in (part, loaded, make_criterion("semantic", part, smoothing=0.3).label_space()):
        assert_close(space.distances(), expected.float(), rtol=0, atol=0)
        for row, name in enumerate(space.names):
            steps = [int(expected[row, space.index(other)]) for other, _ in space.nearest(name, k=len(chosen))]
            assert steps == sorted(steps)


def test_the_nearest_of_a_subset_of_an_order() -> None:
    # 4 and 0 both have few near relatives left: shares of what is left would put 0 before 7
    assert [name for name, _ in ordinal(10).subset([0, 4, 7, 8]).nearest("4")] == ["7", "0", "8"]


@given(st.integers(2, 30), st.floats(0.2, 3))
def test_ordered_classes_of_any_power_grow_apart(count: int, power: float) -> None:
    found = ordinal(count, power=power).distances()
    for row in range(count):
        right, left = found[row, row + 1 :], found[row, :row].flip(0)
        assert all(bool((side[1:] >= side[:-1]).all()) for side in (right, left))


@given(spaces())
def test_distances_are_those_of_the_kind(space: LabelSpace) -> None:
    found, rows = space.distances(), space.matrix.double().numpy()
    if space.kind == "vectors":
        cosines = 1 - cdist(rows, rows, "cosine")
        expected = {"cosine": 1 - cosines, "cos2": 1 - cosines**2, "euclidean": cdist(rows, rows)}[
            space.source["metric"]
        ]
    elif space.kind == "cost":
        expected = (rows + rows.T) / 2
    elif space.hops is not None:
        expected = space.hops.double().numpy()
    else:
        expected = by_hand(space).numpy()
    np.fill_diagonal(expected, 0)
    assert_close(found, torch.from_numpy(expected).float(), rtol=1e-5, atol=2e-6)
    assert_close(found, found.T, rtol=0, atol=0)
    assert_close(found.diagonal(), torch.zeros(len(space)), rtol=0, atol=0)


@given(spaces())
def test_distances_of_relations_are_prices(space: LabelSpace) -> None:
    if space.kind != "relations" or space.hops is not None:
        return
    found = space.distances().double()
    outside = found[~torch.eye(len(space), dtype=torch.bool)]
    assert bool((outside >= 0.5).all())
    assert bool((outside <= 1).all())
    assert bool((found[:, :, None] + found[None, :, :] >= found[:, None, :]).all())  # no detour is shorter
    y = torch.zeros(len(space), dtype=torch.int64)
    assert metrics.expected_cost(torch.arange(len(space)), y, space.distances()) == pytest.approx(
        found[0].mean().item()
    )


@settings(max_examples=50)
@given(spaces(), st.integers(0, 1000))
def test_classes_in_another_order_keep_their_distances(space: LabelSpace, seed: int) -> None:
    order = torch.randperm(len(space), generator=torch.Generator().manual_seed(seed))
    moved = space.subset(order.tolist())
    assert_close(moved.distances(), space.distances()[order][:, order], rtol=1e-6, atol=2e-6)


@settings(max_examples=50)
@given(space=spaces())
def test_files_keep_distances_and_neighbours(tmp_path_factory: pytest.TempPathFactory, space: LabelSpace) -> None:
    loaded = LabelSpace.load(space.save(tmp_path_factory.mktemp("near") / "labels.safetensors"))
    assert_close(loaded.distances(), space.distances(), rtol=0, atol=0)
    assert neighbours(loaded) == neighbours(space)


@given(spaces())
def test_the_nearest_are_those_of_least_distance(space: LabelSpace) -> None:
    found = space.distances()
    listed = neighbours(space, k=len(space))
    for row, name in enumerate(space.names):
        nearest = space.nearest(name, k=len(space))
        assert [other for other, _ in listed[name]] == [other for other, _ in nearest]
        assert [weight for _, weight in listed[name]] == pytest.approx([weight for _, weight in nearest])
        along = found[row, [space.index(other) for other, _ in nearest]]
        assert len(nearest) == len(space) - 1
        # a row alone and the whole table may round differently
        assert bool((along[1:] >= along[:-1] - 1e-6).all())


@settings(max_examples=50)
@given(spaces())
def test_a_space_agrees_with_itself(space: LabelSpace) -> None:
    outside = space.distances()[~torch.eye(len(space), dtype=torch.bool)]
    if outside.max() - outside.min() < 1e-5:
        return  # nothing to compare
    assert agreement(space, space, permutations=1).value == pytest.approx(1, abs=1e-9)
    found = kendall(space, space, permutations=1)
    assert found.tau == pytest.approx(1, abs=1e-12)


def test_one_hot_and_uniform_labels_know_no_order() -> None:
    for space, value in ((make_criterion("onehot", 4).label_space(), 1.0), (uniform(4), 0.5)):
        assert_close(space.distances(), value * (1 - torch.eye(4)))
        with pytest.raises(ValueError, match="distances that differ"):
            agreement(space, ordinal(4))
    assert_close(ordinal(1).distances(), torch.zeros(1, 1))


def test_wordnet_and_trees_order_as_their_hops() -> None:
    names = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    space = wordnet(names)
    assert space.hops is not None
    assert_close(space.distances(), space.hops.float(), rtol=0, atol=0)
    # what a method was given keeps the paths, also with other strengths
    for method in ("semantic", "mixed", "infogain"):
        assert_close(make_criterion(method, space, smoothing=0.3).label_space().distances(), space.hops.float())
    assert_close(make_criterion("static", space).label_space().distances(), space.hops.float())
    with pytest.warns(UserWarning, match="no noun for 'qqqq'"):
        open_end = wordnet(["cat", "dog", "car", "qqqq"])
    farthest = float(open_end.hops.max())
    assert_close(open_end.distances()[3], torch.tensor([farthest + 1] * 3 + [0.0]))


def test_groups_of_two_are_pairs() -> None:
    space = groups([["cat", "dog"], ["car", "bus"]])
    assert_close(space.distances()[0], torch.tensor([0.0, 0.5, 1.0, 1.0]))
    taxonomy = tree({"pets": ["cat", "dog"], "vehicles": ["car", "bus"]})
    assert kendall(space, taxonomy, permutations=1).tau == pytest.approx(1)
    assert set(map(frozenset, dendrogram(space).nested())) == {frozenset({"cat", "dog"}), frozenset({"car", "bus"})}


def test_explicit_metrics_compare_rows_whatever_the_kind() -> None:
    space = ordinal(5)
    rows = space.matrix.double().numpy()
    for metric in ("cosine", "euclidean"):
        assert_close(space.distances(metric), torch.from_numpy(cdist(rows, rows, metric)).float(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", ["lwal", "static"])
def test_labels_that_predict_by_euclidean_distance_are_compared_so(method: str) -> None:
    points = torch.tensor([[1.0, 0.0], [10.0, 0.0], [0.0, 1.0]])  # a and b point the same way, a and c are near
    space = LabelSpace(("a", "b", "c"), points, "vectors")
    criterion = make_criterion(method, space, **({"dim": 2, "test_labels": "last"} if method == "lwal" else {}))
    if method == "lwal":
        criterion.label_matrix = points
    held = criterion.label_space()
    assert held.metric == "euclidean"
    assert_close(held.distances(), torch.from_numpy(cdist(points, points)).float())
    assert [name for name, _ in held.nearest("a")] == ["c", "b"]
    assert held.nearest("a", k=1)[0][1] == pytest.approx(-(2**0.5))
    assert space.nearest("a", k=1)[0][0] == "b"  # the same points, compared by direction
    assert labelspace.permuted(held, seed=0).metric == "euclidean"
    if method == "static":
        assert make_criterion(method, space, loss="cosine").label_space().metric == "cosine"


def test_a_metric_that_nobody_knows_is_named() -> None:
    space = LabelSpace(("a", "b"), torch.eye(2), "vectors", {"metric": "manhattan"})
    with pytest.raises(ValueError, match=r"`source\['metric'\]` of LabelSpace must be one of 'cosine'"):
        space.distances()


def test_prices_advised_for_a_space_are_accepted() -> None:
    y = torch.tensor([0, 1, 2])
    with pytest.raises(ValueError, match=r"price a mistake by space\.distances\(\)"):
        metrics.expected_cost(y, y, uniform(3))
    assert metrics.expected_cost(torch.tensor([2, 1, 2]), y, uniform(3).distances()) == pytest.approx(0.5 / 3)
    # an order has prices of its own: steps
    for cost_of_order in (ordinal(3), ordinal(3).distances()):
        assert metrics.expected_cost(torch.tensor([2, 1, 2]), y, cost_of_order) == pytest.approx(2 / 3)

"""Kendall's τ_b per class: scipy row by row, the permutation null, and classes that cannot be ranked."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import cdist
from torch.testing import assert_close

from labelspace import LabelSpace, groups, ordinal, tree, wordnet
from labelspace.analysis import kendall, naa_distances


def scipys(distances, reference):
    rows = range(len(distances))
    values = [
        stats.kendalltau(np.delete(distances[row], row), np.delete(reference[row], row), variant="b").statistic
        for row in rows
    ]
    return torch.tensor(values, dtype=torch.float64)


@settings(max_examples=40)
@given(st.integers(3, 14), st.integers(1, 12), st.integers(0, 1000), st.booleans())
def test_every_class_equals_scipy(classes, levels, seed, tied):
    random = np.random.default_rng(seed)
    distances = random.integers(4, size=(classes, classes)) if tied else random.random((classes, classes))
    reference = random.integers(1, levels + 1, size=(classes, classes))
    result = kendall(distances, reference, permutations=1)
    assert_close(result.per_class, scipys(distances, reference), atol=1e-12, rtol=0, equal_nan=True)


@pytest.mark.parametrize("tied", [False, True])
def test_the_null_is_that_of_all_permutations(tied):
    random = np.random.default_rng(0)
    distances = random.integers(3, size=(5, 5)) if tied else random.random((5, 5))
    reference = random.integers(1, 4, size=(5, 5))
    means = []
    for order in itertools.permutations(range(5)):
        taus = scipys(distances, reference[np.ix_(order, order)])
        means.append(float(taus[~taus.isnan()].mean()))
    result = kendall(distances, reference, permutations=4000)
    assert result.tau == pytest.approx(means[0])
    assert result.p_value == pytest.approx(np.mean(np.array(means) >= means[0] - 1e-12), abs=0.03)
    assert np.quantile(means, 0.01) <= result.null_low <= np.quantile(means, 0.04)
    assert np.quantile(means, 0.96) <= result.null_high <= np.quantile(means, 0.99)


def test_three_classes_by_hand():
    # each class ranks two others: τ is 1 (same order), −1 (opposite) or undefined (a tie)
    distances = [[0, 1, 2], [1, 0, 2], [2, 1, 0]]
    reference = [[0, 1, 2], [3, 0, 2], [5, 5, 0]]
    result = kendall(distances, reference, permutations=9)
    assert_close(result.per_class, torch.tensor([1.0, -1.0, torch.nan], dtype=torch.float64), equal_nan=True)
    assert result.tau == 0.0
    assert result.note == "all distances equal, so that nothing is ranked: class 2"
    # the interval of (1, −1): mean 0, s = √2, t with one degree of freedom 12.706
    assert result.high == pytest.approx(12.7062, abs=1e-3)
    assert result.low == -result.high


def nested(branches, leaves):
    return tree({f"branch {b}": [f"{b}-{leaf}" for leaf in range(leaves)] for b in range(branches)})


def test_a_space_made_from_the_taxonomy_beats_chance():
    space = nested(4, 4)
    random = torch.Generator().manual_seed(0)
    points = torch.randn(4, 6, generator=random).repeat_interleave(4, 0) + 0.6 * torch.randn(16, 6, generator=random)
    learned = LabelSpace(space.names, points, "vectors")
    result = kendall(learned, space)
    assert result.tau > 0.4
    assert result.p_value == 1 / 1000
    assert result.tau > result.null_high > 0 > result.null_low
    assert result.low < result.tau < result.high
    assert_close(result.per_class, scipys(learned.distances("euclidean").double().numpy(), space.hops.numpy()))
    assert kendall(learned, space).p_value == result.p_value


def test_p_values_of_unrelated_distances_are_uniform():
    hops = nested(3, 3).hops
    random = torch.Generator().manual_seed(0)
    p_values = [kendall(torch.rand(9, 9, generator=random), hops, permutations=99).p_value for _ in range(200)]
    assert np.mean(np.array(p_values) <= 0.05) <= 0.1
    assert 0.4 < np.mean(p_values) < 0.6


def test_parts_do_not_matter(monkeypatch):
    random = np.random.default_rng(0)
    distances, reference = random.random((12, 12)), random.integers(5, size=(12, 12))
    whole = kendall(distances, reference, permutations=20)
    monkeypatch.setitem(kendall.__globals__, "PART", 300)
    parts = kendall(distances, reference, permutations=20)
    assert_close(whole.per_class, parts.per_class)
    assert (whole.null_low, whole.null_high, whole.p_value) == (parts.null_low, parts.null_high, parts.p_value)


def test_more_than_256_classes():
    random = np.random.default_rng(0)
    distances, reference = random.random((300, 300)), random.random((300, 300))
    result = kendall(distances, reference, permutations=1)
    assert_close(result.per_class[:3], scipys(distances, reference)[:3])


def test_unmapped_classes_are_left_out_and_named():
    with pytest.warns(UserWarning, match="no noun for 'qqqq'"):
        space = wordnet(["cat", "dog", "car", "qqqq", "truck"])
    distances = torch.rand(5, 5, generator=torch.Generator().manual_seed(0))
    keep = torch.tensor([0, 1, 2, 4])
    result = kendall(distances, space, permutations=9)
    assert result.note.startswith("no path to other classes: class 3")
    expected = kendall(distances[keep][:, keep], space.hops[keep][:, keep], permutations=9)
    assert_close(result.per_class[keep], expected.per_class, equal_nan=True)
    assert result.tau == expected.tau
    assert bool(result.per_class[3].isnan())


def test_no_path_is_farther_than_any():
    hops = torch.tensor([[0, 2, 5, -1], [2, 0, 5, -1], [5, 5, 0, 1], [-1, -1, 1, 0]])
    distances = torch.rand(4, 4, generator=torch.Generator().manual_seed(0))
    assert_close(
        kendall(distances, hops, permutations=1).per_class,
        kendall(distances, torch.where(hops < 0, 6, hops), permutations=1).per_class,
    )


def test_diagonals_may_hold_anything():
    random = torch.Generator().manual_seed(0)
    distances, hops = torch.rand(4, 4, generator=random), nested(2, 2).hops
    expected = kendall(distances, hops, permutations=19)
    found = kendall(
        distances.clone().fill_diagonal_(torch.nan), hops.double().fill_diagonal_(torch.nan), permutations=19
    )
    assert_close(found.per_class, expected.per_class)
    assert (found.tau, found.p_value, found.note) == (expected.tau, expected.p_value, "")


def test_a_class_without_distances_is_named_and_the_others_stay_defined():
    # class 1 has no sample, so that NAA knows no distance to it; the others rank each other as without it
    random = torch.Generator().manual_seed(0)
    features, y = torch.rand(40, 5, generator=random), torch.tensor([0, 2, 3, 4]).repeat(10)
    with pytest.warns(UserWarning, match="no sample of class 1"):
        distances = naa_distances(features, y)
    hops = torch.randint(1, 5, (5, 5), generator=random)
    keep = torch.tensor([0, 2, 3, 4])
    found = kendall(distances, hops, permutations=9)
    expected = kendall(distances[keep][:, keep], hops[keep][:, keep], permutations=9)
    assert found.note.startswith("no distances: class 1")
    assert_close(found.per_class[keep], expected.per_class, equal_nan=True)
    assert bool(found.per_class[1].isnan())
    assert (found.tau, found.low, found.high, found.p_value) == (
        expected.tau,
        expected.low,
        expected.high,
        expected.p_value,
    )


def test_a_missing_distance_is_not_an_absent_class():
    distances = torch.rand(4, 4, generator=torch.Generator().manual_seed(0))
    distances[0, 1:] = torch.nan  # the others do have distances to class 0
    with pytest.raises(ValueError, match=r"`distances` of kendall must be finite\. Got nan at row 0, column 1"):
        kendall(distances, nested(2, 2))
    absent = torch.full((4, 4), torch.nan)
    absent[2:, 2:] = 1
    with pytest.raises(ValueError, match=r"must be finite for at least 3 classes that have a path\. Got 2"):
        kendall(absent, nested(2, 2))


def test_equal_distances_rank_nothing():
    result = kendall(1 - torch.eye(4), nested(2, 2), permutations=19)
    assert np.isnan(result.tau)
    assert (result.low, result.high, result.p_value) == (None, None, 1.0)
    assert result.note.endswith("nothing is ranked: classes 0, 1, 2, 3")


D = torch.rand(4, 4)


@pytest.mark.parametrize(
    ("distances", "reference", "message"),
    [
        (D, D[:3, :3], r"`distances` of kendall must be of shape \(3, 3\) like `reference_hops`"),
        (D[:3], D, r"`distances` of kendall must be a square array"),
        (D * torch.nan, D, r"`distances` of kendall must be finite"),
        (D, D * torch.nan, r"`reference_hops` of kendall must be finite"),
        (D[:2, :2], D[:2, :2], r"between at least 3 classes\. Got 2"),
    ],
)
def test_bad_input_says_what_is_wrong(distances, reference, message):
    with pytest.raises((ValueError, TypeError), match=message):
        kendall(distances, reference)


def test_spaces_must_name_the_same_classes_in_the_same_order():
    space = nested(2, 2)
    with pytest.raises(ValueError, match=r"in order\. Got other names\. Bring them in one order first"):
        kendall(space.subset([1, 0, 2, 3]), space)


def test_bad_options_say_what_is_wrong():
    with pytest.raises(ValueError, match=r"`permutations` of kendall"):
        kendall(D, D, permutations=0)
    with pytest.raises(ValueError, match=r"`level` of kendall"):
        kendall(D, D, level=1.0)
    with pytest.raises(ValueError, match=r"`metric` of kendall must be left out unless `distances` is a label space"):
        kendall(D, D, metric="cosine")
    with pytest.raises(ValueError, match=r"`metric` of LabelSpace\.distances must be one of"):
        kendall(nested(2, 2), D, metric="manhattan")


CIFAR = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


def test_wordnet_agrees_with_itself():
    space = wordnet(CIFAR)
    result = kendall(space, space, permutations=9)
    assert result.tau == pytest.approx(1, abs=1e-12)
    assert_close(result.per_class, torch.ones(10, dtype=torch.float64), atol=1e-12, rtol=0)


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("rest", [0.0, 0.05])
def test_blocks_of_learned_mass_agree_with_their_groups(size, rest):
    # what LLS learns where classes are confused inside their groups only: most mass there, a little everywhere
    taxonomy = nested(3, size)
    inside = torch.block_diag(*[torch.ones(size, size)] * 3) + rest
    learned = LabelSpace(taxonomy.names, inside / inside.sum(dim=1, keepdim=True), "relations")
    assert kendall(learned, taxonomy, permutations=9).tau == pytest.approx(1, abs=1e-12)
    built = groups({str(b): taxonomy.names[b * size : (b + 1) * size] for b in range(3)})
    assert kendall(built, taxonomy, permutations=9).tau == pytest.approx(1, abs=1e-12)


def test_vectors_are_compared_by_euclidean_distance_unless_they_state_otherwise():
    reference = nested(2, 3)
    points = torch.randn(6, 4, generator=torch.Generator().manual_seed(3))
    for source, options, name in [
        ({}, {}, "euclidean"),
        ({"metric": "cosine"}, {}, "cosine"),
        ({"metric": "cosine"}, {"metric": "euclidean"}, "euclidean"),
    ]:
        space = LabelSpace(reference.names, points, "vectors", source)
        expected = scipys(cdist(points.double(), points.double(), name), reference.hops.numpy())
        assert_close(kendall(space, reference, permutations=1, **options).per_class, expected)


def test_a_reference_without_paths_is_read_by_its_distances():
    # an order of five classes against |i − j|: the same ranks, ties included
    gaps = (torch.arange(5)[:, None] - torch.arange(5)[None, :]).abs()
    assert kendall(gaps, ordinal(5), permutations=1).tau == pytest.approx(1, abs=1e-12)
    assert kendall(ordinal(5), gaps, permutations=1).tau == pytest.approx(1, abs=1e-12)

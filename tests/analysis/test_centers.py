"""Points that stand for classes, and the distances between them."""

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.spatial.distance import cdist
from torch.testing import assert_close

from labelspace import LabelEmbedding, LabelSpace, groups, ordinal, tree
from labelspace.analysis import center_distances, class_means, kendall, spectral_vectors, target_distances


def cosine(rows):
    return cdist(rows, rows, "cosine")


def test_targets_are_compared_by_the_square_of_the_cosine():
    rows = np.random.default_rng(0).normal(size=(5, 7))
    expected = 1 - (1 - cosine(rows)) ** 2
    np.fill_diagonal(expected, 0)
    assert_close(target_distances(rows), torch.from_numpy(expected).float(), atol=1e-6, rtol=0)
    space = LabelSpace(tuple("abcde"), torch.from_numpy(rows), "vectors")
    assert_close(target_distances(space), space.distances("cos2"), atol=1e-6, rtol=0)


def test_the_targets_of_a_smoothed_space_by_hand():
    # ordinal with three classes, σ = 0.3: rows (0.7, 0.2, 0.1), (0.15, 0.7, 0.15), (0.1, 0.2, 0.7)
    space = ordinal(3)
    dot, first, second = 0.7 * 0.15 + 0.2 * 0.7 + 0.1 * 0.15, 0.49 + 0.04 + 0.01, 0.0225 + 0.49 + 0.0225
    distances = target_distances(space, smoothing=0.3)
    assert float(distances[0, 1]) == pytest.approx(1 - dot**2 / (first * second), abs=1e-6)
    assert_close(distances, target_distances(space.targets(0.3)))
    assert_close(target_distances(space, smoothing=0), 1 - torch.eye(3))


def test_groups_are_close_inside_and_far_outside():
    distances = target_distances(groups([["cat", "dog"], ["car", "bus"]]), smoothing=0.4)
    assert float(distances[0, 1]) < 0.2
    assert_close(distances[0, 2:], torch.ones(2))


def test_centres_by_hand():
    # centres (2, 0), (0, 1), (−1, 0): distances 1, 2 and 1; rows divided by 3, 2 and 3
    x = torch.tensor([[1.0, 0], [3, 0], [0, 1], [-1, 0]])
    expected = torch.tensor([[0, 1 / 3, 2 / 3], [1 / 2, 0, 1 / 2], [2 / 3, 1 / 3, 0]])
    assert_close(center_distances(x, torch.tensor([0, 0, 1, 2])), expected)


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_centres_equal_scipys_cosine_distances(offset):
    # with an offset the centres are almost parallel: distances near 1e-5, whose ratios single precision would lose
    random = np.random.default_rng(0)
    y = np.arange(60) % 6
    x = random.normal(size=(60, 9)) + offset
    distances = cosine(np.stack([x[y == label].mean(axis=0) for label in range(6)]))
    np.fill_diagonal(distances, 0)
    normalised = distances / distances.sum(axis=1, keepdims=True)
    assert_close(center_distances(x, y), torch.from_numpy(normalised).float(), atol=1e-6, rtol=0)
    plain = center_distances(x, y, normalize=False)
    assert_close(plain, torch.from_numpy(distances).float(), atol=1e-6, rtol=0)
    assert_close(plain, plain.T)


def test_classes_without_samples_are_named_and_the_others_stay_defined():
    x, y = torch.rand(6, 3), torch.tensor([0, 0, 2, 2, 4, 4])
    with pytest.warns(UserWarning, match=r"no sample of classes 1, 3, 5; all their distances are NaN"):
        distances = center_distances(x, y, classes=6)
    keep = torch.tensor([0, 2, 4])
    assert_close(distances[keep][:, keep], center_distances(x, y // 2))
    assert bool(distances[1].isnan().all())
    assert_close(distances[keep][:, keep].sum(dim=1), torch.ones(3))


def test_equal_centres_keep_rows_of_zeros():
    assert_close(center_distances(torch.ones(4, 2), torch.tensor([0, 0, 1, 1])), torch.zeros(2, 2))


def test_bad_input_says_what_is_wrong():
    with pytest.raises(ValueError, match=r"`smoothing` of target_distances must be left out for a matrix\. Got 0\.1"):
        target_distances(torch.eye(3), smoothing=0.1)
    with pytest.raises(ValueError, match=r"`targets` of target_distances must be finite"):
        target_distances(torch.full((2, 2), torch.nan))
    with pytest.raises(ValueError, match=r"`y` of center_distances must be of shape \(3,\)"):
        center_distances(torch.ones(3, 2), torch.tensor([0, 1]))
    for classes in (["a", "a"], ["a", 1], "ab", True, 0, 2**20):
        with pytest.raises((ValueError, TypeError), match=r"`classes` of center_distances must be"):
            center_distances(torch.ones(2, 2), torch.tensor([0, 1]), classes=classes)
    with pytest.raises(
        ValueError, match=r"`y` of center_distances must be class indices below 1048576\. Got 1000000000 at"
    ):
        center_distances(torch.ones(2, 2), torch.tensor([0, 10**9]))


def similarities(classes: int, seed: int = 0) -> np.ndarray:
    points = np.random.default_rng(seed).normal(size=(classes, 3))
    return points @ points.T


def test_products_of_the_vectors_are_the_similarities() -> None:
    given = similarities(6)
    space = spectral_vectors(given, list("abcdef"))
    assert space.names == tuple("abcdef")
    assert (space.kind, space.metric) == ("vectors", "euclidean")
    assert_close(space.matrix.double() @ space.matrix.double().T, torch.from_numpy(given), atol=1e-5, rtol=0)
    assert space.source["left_out"] == pytest.approx(0, abs=1e-9)
    squared = np.diag(given)[:, None] + np.diag(given)[None, :] - 2 * given
    expected = torch.from_numpy(np.sqrt(squared.clip(0))).float().fill_diagonal_(0)
    assert_close(space.distances(), expected, atol=1e-4, rtol=0)


def test_what_no_vectors_can_have_is_left_out() -> None:
    given = np.random.default_rng(1).normal(size=(7, 7))
    values, vectors = np.linalg.eigh((given + given.T) / 2)
    positive = (vectors * values.clip(0)) @ vectors.T
    space = spectral_vectors(given)
    assert_close(space.matrix.double() @ space.matrix.double().T, torch.from_numpy(positive), atol=1e-5, rtol=0)
    assert space.source["left_out"] == pytest.approx(-values[values < 0].sum() / np.abs(values).sum())
    # the most important coordinate first, and its sign fixed
    norms = space.matrix.norm(dim=0)
    assert bool((norms[1:] <= norms[:-1] + 1e-6).all())
    assert_close(space.matrix, spectral_vectors(torch.from_numpy(given)).matrix)


def test_label_embedding_is_ranked_through_its_eigenvectors() -> None:
    taxonomy = tree({"pet": ["cat", "dog", "fish"], "vehicle": ["car", "bus", "tram"]})
    criterion = LabelEmbedding(taxonomy.names, in_features=2)
    random = torch.Generator().manual_seed(0)
    related = torch.block_diag(torch.ones(3, 3), torch.ones(3, 3)) + 2 * torch.eye(6)
    criterion.embedding.data = related + 0.3 * torch.randn(6, 6, generator=random)
    result = kendall(spectral_vectors(criterion.label_space()), taxonomy, permutations=9)
    soft = torch.softmax(criterion.embedding.detach().double(), dim=1).numpy()
    values, vectors = np.linalg.eigh((soft + soft.T) / 2)
    rows = vectors * np.sqrt(values.clip(0))
    between = np.linalg.norm(rows[:, None] - rows[None, :], axis=-1)
    others = [[j for j in range(6) if j != i] for i in range(6)]
    taus = [stats.kendalltau(between[i, o], taxonomy.hops[i, o]).statistic for i, o in enumerate(others)]
    assert_close(result.per_class, torch.tensor(taus, dtype=torch.float64))
    assert result.tau > 0.5


def test_means_are_taken_by_the_true_label() -> None:
    random = np.random.default_rng(0)
    outputs, y = random.normal(size=(50, 4)), np.arange(50) % 5
    space = class_means(outputs, y, list("abcde"))
    expected = np.stack([outputs[y == label].mean(axis=0) for label in range(5)])
    assert_close(space.matrix, torch.from_numpy(expected).float())
    assert (space.names, space.metric) == (tuple("abcde"), "euclidean")
    assert class_means(outputs, y).names == tuple("01234")


def test_bad_vectors_say_what_is_wrong() -> None:
    with pytest.raises(ValueError, match=r"`y` of class_means must be a sample of every class\. Got none of class 1"):
        class_means(torch.ones(2, 3), torch.tensor([0, 2]))
    with pytest.raises(ValueError, match=r"`similarity` of spectral_vectors must be relations or a matrix"):
        spectral_vectors(LabelSpace(("a", "b"), torch.eye(2), "vectors"))
    with pytest.raises(ValueError, match=r"`similarity` of spectral_vectors must be a square array"):
        spectral_vectors(torch.ones(2, 3))
    with pytest.raises(ValueError, match=r"`names` of spectral_vectors must be 2 names"):
        spectral_vectors(torch.eye(2), ["a"])

"""Vectors of classes against numpy: the eigendecomposition of similarities, and means of outputs."""

import numpy as np
import pytest
import torch
from scipy import stats
from torch.testing import assert_close

from labelspace import LabelEmbedding, LabelSpace, tree
from labelspace.analysis import class_means, kendall, spectral_vectors


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


def test_bad_input_says_what_is_wrong() -> None:
    with pytest.raises(ValueError, match=r"`y` of class_means must be a sample of every class\. Got none of class 1"):
        class_means(torch.ones(2, 3), torch.tensor([0, 2]))
    with pytest.raises(ValueError, match=r"`similarity` of spectral_vectors must be relations or a matrix"):
        spectral_vectors(LabelSpace(("a", "b"), torch.eye(2), "vectors"))
    with pytest.raises(ValueError, match=r"`similarity` of spectral_vectors must be a square array"):
        spectral_vectors(torch.ones(2, 3))
    with pytest.raises(ValueError, match=r"`names` of spectral_vectors must be 2 names"):
        spectral_vectors(torch.eye(2), ["a"])

"""Projections: scikit-learn's PCA, a t-SNE that repeats, and clusters that stay apart."""

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score
from torch.testing import assert_close

from labelspace.analysis import projection


def clusters(features=80, each=30):
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(3), each)
    return 6 * random.normal(size=(3, features))[y] / features**0.5 + random.normal(size=(3 * each, features)) * 0.2, y


@pytest.mark.parametrize(("features", "each"), [(80, 30), (12, 30), (300, 5), (200, 200)])
def test_pca_is_scikit_learns(features, each):
    x, _ = clusters(features, each)
    expected = torch.from_numpy(PCA(2, svd_solver="full").fit_transform(x)).float()
    assert_close(projection(x), expected, atol=1e-5, rtol=0)


def test_points_on_a_line_by_hand():
    # three points 5 apart: the first coordinate is −5, 0, 5 up to sign, the second nothing
    plane = projection([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    assert_close(plane.abs(), torch.tensor([[5.0, 0], [0, 0], [5, 0]]), atol=1e-5, rtol=0)


@pytest.mark.parametrize("features", [80, 50, 10, 1])
def test_tsne_keeps_clusters_apart_and_repeats(features):
    x, y = clusters(features)
    plane = projection(x, method="tsne", seed=1)
    assert plane.shape == (90, 2)
    assert plane.dtype == torch.float32
    assert_close(projection(x, method="tsne", seed=1), plane, atol=0, rtol=0)
    if features > 1:
        assert silhouette_score(plane.numpy(), y) > 0.5


class Recorder:
    """In place of scikit-learn's t-SNE: keeps what it is given."""

    given: np.ndarray

    def __init__(self, **options):
        self.options = options

    def fit_transform(self, rows):
        Recorder.given = rows
        return np.zeros((len(rows), 2))


@pytest.mark.parametrize(("features", "columns"), [(80, 50), (51, 50), (50, 50), (10, 10)])
def test_tsne_gets_fifty_principal_components_at_most(monkeypatch, features, columns):
    monkeypatch.setattr("sklearn.manifold.TSNE", Recorder)
    x, _ = clusters(features)
    projection(x, method="tsne")
    assert Recorder.given.shape == (90, columns)
    if features == columns:
        assert_close(torch.from_numpy(Recorder.given), torch.from_numpy(x))
        return
    # the components are those of the singular values of the centred features, largest first, each up to its sign
    left, values, _ = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
    expected = torch.from_numpy((left * values)[:, :columns])
    assert_close(torch.from_numpy(Recorder.given).abs(), expected.abs(), atol=1e-6, rtol=0)


@pytest.mark.parametrize("method", ["pca", "tsne"])
@pytest.mark.parametrize("shape", [(2, 3), (4, 1), (3, 70)])
def test_few_samples_and_features(method, shape):
    plane = projection(torch.rand(shape, generator=torch.Generator().manual_seed(0)), method=method)
    assert plane.shape == (shape[0], 2)
    assert bool(plane.isfinite().all())


@pytest.mark.parametrize(
    ("features", "options", "message"),
    [
        (torch.ones(5, 3), {}, r"of samples that differ\. Got samples that are all the same"),
        (torch.ones(1, 3), {}, r"of samples that differ\. Got 1 sample"),
        (torch.full((3, 3), torch.nan), {}, r"`features` of projection must be finite"),
        (torch.eye(3), {"method": "umap"}, r"`method` of projection must be one of 'pca', 'tsne'"),
        (torch.eye(3), {"seed": -1}, r"`seed` of projection"),
        (torch.eye(3), {"seed": 2**32}, r"`seed` of projection must be a whole number from 0 to 4294967295"),
        (torch.eye(3), {"perplexity": 0}, r"`perplexity` of projection"),
    ],
)
def test_bad_input_says_what_is_wrong(features, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        projection(features, **options)

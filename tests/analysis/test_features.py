"""Activations of any layer, and their picture on a plane."""

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score
from torch import Tensor, nn
from torch.testing import assert_close

from labelspace import models
from labelspace.analysis import center_distances, layer_features, layer_names, naa_distances, projection


class Odd(nn.Module):
    """A layer that is used twice, one that gives a pair, one that is never used, and one that turns samples round."""

    def __init__(self) -> None:
        super().__init__()
        self.twice = nn.Linear(4, 4)
        self.memory = nn.GRU(4, 3, batch_first=True)
        self.idle = nn.Linear(4, 4)
        self.turn = nn.Flatten(0, -1)

    def forward(self, x: Tensor) -> Tensor:
        sequence, _ = self.memory(self.twice(self.twice(x))[:, None].expand(-1, 2, -1))
        self.turn(x)
        return sequence[:, -1]


def test_every_layer_of_a_network_by_hand() -> None:
    network = models.build("mlp-6-5", (1, 2, 2), 3)
    x = torch.randn(7, 1, 2, 2, generator=torch.Generator().manual_seed(0))
    value = x
    with torch.no_grad():
        for place, layer in enumerate(network.body):
            value = layer(value)
            assert_close(layer_features(network, x, f"body.{place}", batch=3), value)
        assert_close(layer_features(network, x, "body"), network(x)[1])
        assert_close(layer_features(network, x, "head"), network(x)[0])
    assert set(layer_names(network)) == {"body", "head", *(f"body.{place}" for place in range(len(network.body)))}


def test_maps_are_flattened_and_normalisation_is_that_of_evaluation() -> None:
    network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Dropout(0.5))
    x = torch.randn(4, 1, 5, 5, generator=torch.Generator().manual_seed(0))
    statistics = network[1].running_mean.clone()
    found = layer_features(network, x, "2")
    assert found.shape == (4, 2 * 3 * 3)
    assert network.training
    assert_close(network[1].running_mean, statistics, rtol=0, atol=0)
    with torch.no_grad():
        assert_close(found, network.eval()(x).flatten(1))
    assert not network[0]._forward_hooks


def test_used_twice_given_as_a_pair() -> None:
    network, x = Odd(), torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert_close(layer_features(network, x, "twice"), network.twice(network.twice(x)))
        assert_close(layer_features(network, x, "memory")[:, 3:], network(x))


def test_distances_and_pictures_of_any_layer() -> None:
    network = models.build("mlp-6-5", (4,), 3)
    random = torch.Generator().manual_seed(0)
    x, y = torch.randn(30, 4, generator=random), torch.arange(30) % 3
    for layer in ("body.1", "body.2", "head"):
        found = layer_features(network, x, layer)
        assert naa_distances(found, y).shape == center_distances(found, y).shape == (3, 3)
        assert projection(found, "pca").shape == (30, 2)


def test_bad_input_says_what_is_wrong() -> None:
    network, x = Odd(), torch.ones(2, 4)
    with pytest.raises(ValueError, match=r"`layer` of layer_features must be the name of a layer\. Got 'twic'\. The"):
        layer_features(network, x, "twic")
    with pytest.raises(ValueError, match=r"The layers are: twice, memory, idle, turn\."):
        layer_features(network, x, "")
    with pytest.raises(ValueError, match=r"must be a layer that samples pass\. Got 'idle'"):
        layer_features(network, x, "idle")
    with pytest.raises(ValueError, match=r"a row of activations per sample\. Got 'turn', shape \(8,\) for 2 samples"):
        layer_features(network, x, "turn")
    with pytest.raises(ValueError, match="this network has no named layers"):
        layer_features(nn.Linear(4, 2), x, "0")
    with pytest.raises(TypeError, match="`x` of layer_features must be a tensor"):
        layer_features(network, [1.0], "twice")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`model` of layer_features must be a torch module"):
        layer_features("resnet", x, "twice")  # type: ignore[arg-type]


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
def test_bad_projections_say_what_is_wrong(features, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        projection(features, **options)

"""Activations of named layers, against calling the layers by hand."""

import pytest
import torch
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

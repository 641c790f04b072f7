"""What every network can say of its last feature map."""

import pytest
import torch
from torch import nn

from labelspace.models import WITH_MAP, names
from labelspace.models.network import Network
from small_networks import batch, seeded

IMAGE_NAMES = [name for name in names() if name.startswith(("cnn", "lenet", "alexnet", "resnet", "wrn", "bottleneck"))]


DEEP = [name for name in IMAGE_NAMES if name.startswith(("resnet", "wrn")) and name != "resnet8-small"]


@pytest.mark.parametrize("name", [name for name in WITH_MAP if name in IMAGE_NAMES])
@pytest.mark.parametrize("side", [32, 64])
def test_the_output_is_the_mean_of_what_the_head_says_of_each_position(name: str, side: int) -> None:
    model = seeded(name, (3, side, side), **({"width": 2} if name in DEEP else {}))
    assert model.has_map((3, side, side))
    assert model.training
    x = batch((3, side, side), name, 2)
    output, scores = model.eval().at_positions(x)
    assert scores.shape[:2] == (2, 5)
    assert scores.ndim == 4
    torch.testing.assert_close(scores.mean(dim=(2, 3)), output, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(output, model(x)[0], rtol=0, atol=0)
    assert not any(module._forward_pre_hooks for module in model.modules())


@pytest.mark.parametrize("name", ["lenet", "cnn-5x5", "cnn-3-layer-0", "resnet8"])
def test_features_of_more_than_one_mean_are_no_map(name: str) -> None:
    assert not seeded(name, (3, 32, 32), **({"width": 2} if name in DEEP else {})).has_map((3, 32, 32))


def test_windows_that_cover_everything_are_a_map() -> None:
    assert seeded("resnet18", (3, 32, 32), width=2).has_map((3, 32, 32))
    assert not seeded("resnet18", (3, 64, 64), width=2).has_map((3, 64, 64))
    assert seeded("resnet18", (3, 64, 64), width=2, pooling="global").has_map((3, 64, 64))


def test_layers_behind_the_pooling_leave_no_map() -> None:
    pooled = [nn.Conv2d(1, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    assert Network(nn.Sequential(*pooled), 4, 3).has_map((1, 8, 8))
    assert not Network(nn.Sequential(*pooled, nn.Linear(4, 4)), 4, 3).has_map((1, 8, 8))
    assert not Network(nn.Sequential(*pooled, nn.Linear(4, 6)), 6, 3).has_map((1, 8, 8))
    assert not Network(nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten()), 4, 3).has_map((1, 8, 8))

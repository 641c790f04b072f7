"""Networks that somebody brings along."""

import pytest
import torch
from torch import nn

from labelspace import InputError
from labelspace.models.given import GivenNetwork, from_given


def test_trying_a_module_leaves_the_mode_of_every_layer() -> None:
    module = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(6), nn.Linear(6, 3))
    module[1].eval()  # a frozen layer
    network = GivenNetwork(module, (2, 3), 3)
    assert [layer.training for layer in module] == [True, False, True]
    assert network.module.training
    assert network.feature_dim == 6
    torch.testing.assert_close(module[1].running_mean, torch.zeros(6), rtol=0, atol=0)


def test_a_module_that_fails_keeps_its_modes_too() -> None:
    module = nn.Sequential(nn.Linear(5, 3), nn.Dropout())
    module[1].eval()
    with pytest.raises(InputError, match="which fails on them"):
        GivenNetwork(module, (4,), 3)
    assert [layer.training for layer in module] == [True, False]


def test_options_are_for_factories() -> None:
    with pytest.raises(InputError, match="left out for a module"):
        from_given(nn.Linear(4, 3), (4,), 3, width=2)
    made = from_given(lambda shape, width, **options: nn.Linear(*shape, width), (4,), 3, vocabulary=2)
    assert made(torch.zeros(2, 4))[1].shape == (2, 4)

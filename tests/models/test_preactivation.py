"""Residual networks whose blocks begin with batch norm and ReLU."""

import torch
from torch import Tensor, nn

from labelspace.models import build
from labelspace.models.network import Network


def batch(shape: tuple[int, ...], name: str, count: int = 4) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    if name.startswith("text"):
        return torch.randint(0, 30, (count, *shape), generator=generator)
    return torch.randn(count, *shape, generator=generator)


def seeded(name: str, shape: tuple[int, ...], seed: int = 0, **options: object) -> Network:
    torch.manual_seed(seed)
    return build(name, shape, 5, **options)


def test_a_wide_block_is_activated_before_it_convolves() -> None:
    block = seeded("wrn-28-12", (3, 16, 16), width=1).double().eval().body[1]  # type: ignore[index]
    x = batch((1, 8, 8), "wrn").double()
    active = torch.relu(x / (1 + block.norm1.eps) ** 0.5)  # batch norm at its start
    middle = nn.functional.conv2d(active, block.convolution1.weight, padding=1)
    change = nn.functional.conv2d(
        torch.relu(middle / (1 + block.norm2.eps) ** 0.5), block.convolution2.weight, padding=1
    )
    expected = change + nn.functional.conv2d(active, block.projection.weight)
    torch.testing.assert_close(block(x), expected)

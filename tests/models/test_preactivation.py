"""Residual networks whose blocks begin with batch norm and ReLU."""

import torch
from torch import nn

from small_networks import batch, seeded


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

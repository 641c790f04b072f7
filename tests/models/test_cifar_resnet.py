"""Residual networks for small images."""

import torch
from torch import Tensor, nn

from labelspace.models import build
from small_networks import batch, seeded


def normalised(x: Tensor, convolution: nn.Conv2d, norm: nn.BatchNorm2d, stride: int = 1) -> Tensor:
    padding = convolution.kernel_size[0] // 2
    y = nn.functional.conv2d(x, convolution.weight, stride=stride, padding=padding)
    return nn.functional.batch_norm(y, norm.running_mean, norm.running_var, norm.weight, norm.bias)


def test_shortcuts_without_parameters() -> None:
    pad = build("resnet8-small", (3, 8, 8), 5).body[4].shortcut  # type: ignore[index]
    x = torch.arange(2 * 16 * 5 * 5, dtype=torch.float32).reshape(2, 16, 5, 5)
    y = pad(x)
    assert y.shape == (2, 32, 3, 3)
    torch.testing.assert_close(y[:, 8:24], x[:, :, ::2, ::2])
    assert not y[:, :8].any()
    assert not y[:, 24:].any()


def test_the_last_map_is_averaged_over_windows() -> None:
    model = seeded("resnet18", (3, 64, 64), width=4).double().eval()
    x = batch((3, 64, 64), "resnet18", 2).double()
    *body, _, _ = model.body  # type: ignore[misc]
    expected = nn.functional.avg_pool2d(nn.Sequential(*body)(x), 4)
    assert expected.shape == (2, 32, 2, 2)
    torch.testing.assert_close(model(x)[1], expected.flatten(1))


def test_a_bottleneck_has_its_stride_in_the_middle() -> None:
    block = seeded("resnet50", (3, 16, 16), width=4).double().eval().body[6]  # type: ignore[index]
    x = batch((16, 8, 8), "resnet50").double()
    middle = torch.relu(normalised(x, block.convolution1, block.norm1))
    middle = torch.relu(normalised(middle, block.convolution2, block.norm2, stride=2))
    change = normalised(middle, block.convolution3, block.norm3)
    assert change.shape == (4, 32, 4, 4)
    torch.testing.assert_close(block(x), torch.relu(change + normalised(x, *block.shortcut, stride=2)))

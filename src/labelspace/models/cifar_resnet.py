"""Residual networks in their form for small images: a 3×3 stem, no max-pooling, basic blocks."""

from typing import final

from torch import Tensor, nn
from torch.nn.functional import pad, relu

from labelspace import _checks
from labelspace.models.network import Network, he
from labelspace.models.shapes import image_shape

# name: blocks of each stage (two convolutions a block), filters of the first stage, shortcut where the shape changes
STAGES = {
    "resnet8": ((1, 1, 1), 16, "pad"),
    "resnet32": ((5, 5, 5), 16, "pad"),
    "resnet18": ((2, 2, 2, 2), 64, "projection"),
    "resnet34": ((3, 4, 6, 3), 64, "projection"),
}


def cifar_resnet(
    name: str, input_shape: tuple[int, ...], output_dim: int, *, width: int | None = None, shortcut: str | None = None
) -> Network:
    """Return a residual network whose features are the globally averaged activations of the last stage.

    ``resnet8`` and ``resnet32`` are the 6n+2 networks of He et al. 2016, section 4.2 (n = 1 and 5; filters 16-32-64;
    shortcuts without parameters, option A): 75,290 and 464,154 parameters for 10 classes. ``resnet18`` and
    ``resnet34`` are the ImageNet networks with the stem changed for small images (filters 64-128-256-512; 1×1
    projections with batch norm, option B): 11,173,962 and 21,282,122.

    The published code of label embedding (004) is wider than the He et al. it cites: ``width=128`` and
    ``shortcut="projection"`` give its ResNet-8 (which also keeps a 2×2 map of features instead of its mean) and
    ``width=128`` its ResNet-18.

    Args:
        name: one of ``STAGES``.
        input_shape: channels, height, width.
        output_dim: width of the head.
        width: filters of the first stage; each further stage has twice as many.
        shortcut: ``"pad"`` (every second pixel, missing channels zero) or ``"projection"``.
    """
    owner = f"models.build({name!r})"
    channels, _, _ = image_shape(owner, input_shape)
    blocks, usual_width, usual_shortcut = STAGES[name]
    before = _checks.whole(owner, "width", usual_width if width is None else width, low=1)
    form = _checks.choice(owner, "shortcut", shortcut or usual_shortcut, ("pad", "projection"))
    layers: list[nn.Module] = [nn.Conv2d(channels, before, 3, padding=1, bias=False), nn.BatchNorm2d(before), nn.ReLU()]
    after = before
    for stage, count in enumerate(blocks):
        for position in range(count):
            stride = 2 if stage > 0 and position == 0 else 1
            layers.append(_Block(before, after, stride, form))
            before = after
        after *= 2
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return he(Network(nn.Sequential(*layers), before, output_dim))


@final
class _Block(nn.Module):
    """Two 3×3 convolutions with batch norm, added to the input brought to the same shape."""

    def __init__(self, before: int, after: int, stride: int, shortcut: str) -> None:
        super().__init__()
        self.convolution1 = nn.Conv2d(before, after, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(after)
        self.convolution2 = nn.Conv2d(after, after, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(after)
        self.shortcut: nn.Module = nn.Identity()
        if before != after and shortcut == "pad":
            self.shortcut = _Pad(after - before, stride)
        elif before != after:
            self.shortcut = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x: Tensor) -> Tensor:
        change = self.norm2(self.convolution2(relu(self.norm1(self.convolution1(x)))))
        return relu(change + self.shortcut(x))


@final
class _Pad(nn.Module):
    """Every second pixel, and zeros for the channels that the input does not have (option A)."""

    def __init__(self, channels: int, stride: int) -> None:
        super().__init__()
        self.front, self.back, self.stride = channels // 2, channels - channels // 2, stride

    def forward(self, x: Tensor) -> Tensor:
        return pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, self.front, self.back))

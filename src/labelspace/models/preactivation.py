"""Residual networks whose blocks begin with batch norm and ReLU: wide ones, and those of semantic smoothing (000)."""

from typing import final

from torch import Tensor, nn
from torch.nn.functional import relu

from labelspace import _checks
from labelspace.models.network import Network, glorot, he, image_shape

# name: blocks of each of the three stages (two convolutions a block), how many times as wide as the stem they start
WIDE = {"wrn-28-10": (4, 10), "wrn-28-12": (4, 12)}


def wide_resnet(name: str, input_shape: tuple[int, ...], output_dim: int, *, width: int = 16) -> Network:
    """Return a wide residual network whose features are the globally averaged activations of the last stage.

    Depth 6n+4 counts the stem, six convolutions for each of n blocks a stage, and the projections of the three stages:
    28 for n = 4. For 10 classes ``wrn-28-10`` has 36,479,194 parameters and ``wrn-28-12`` 52,517,850: 36.5 and 52.5
    million, as Zagoruyko and Komodakis 2016 count them. Mixed cross-entropy (003) uses the wider one. No dropout.

    Args:
        name: one of ``WIDE``.
        input_shape: channels, height, width.
        output_dim: width of the head.
        width: filters of the stem; the stages have 10 (or 12), 20 and 40 times as many.
    """
    owner = f"models.build({name!r})"
    channels, _, _ = image_shape(owner, input_shape)
    before = _checks.whole(owner, "width", width, low=1)
    count, factor = WIDE[name]
    layers: list[nn.Module] = [nn.Conv2d(channels, before, 3, padding=1, bias=False)]
    for stage in range(3):
        for position in range(count):
            after = width * factor * 2**stage
            layers.append(_Block(before, after, 2 if stage > 0 and position == 0 else 1))
            before = after
    layers += [nn.BatchNorm2d(before), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return he(Network(nn.Sequential(*layers), before, output_dim))


@final
class _Block(nn.Module):
    """Twice batch norm, ReLU and a 3×3 convolution, added to the input or to a projection of it."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.BatchNorm2d(before), nn.BatchNorm2d(after)
        self.convolution1 = nn.Conv2d(before, after, 3, stride, padding=1, bias=False)
        self.convolution2 = nn.Conv2d(after, after, 3, padding=1, bias=False)
        self.projection = nn.Conv2d(before, after, 1, stride, bias=False) if before != after else None

    def forward(self, x: Tensor) -> Tensor:
        active = relu(self.norm1(x))
        # the projection starts after the first batch norm and ReLU, the identity before them
        shortcut: Tensor = x if self.projection is None else self.projection(active)
        change: Tensor = self.convolution2(relu(self.norm2(self.convolution1(active))))
        return shortcut + change


# name: filters of the stem, then (filters, modules) of each stage
STAGES = {
    "bottleneck-3-0": (16, ((16, 1), (32, 1), (64, 1))),
    "bottleneck-3-1": (64, ((64, 1), (128, 1), (256, 1))),
    "bottleneck-9": (64, ((64, 3), (128, 3), (256, 3))),
    "bottleneck-18": (64, ((64, 6), (128, 6), (256, 6))),
}


def bottleneck(name: str, input_shape: tuple[int, ...], output_dim: int) -> Network:
    """Return batch norm on the input, a 3×3 stem, three stages, batch norm, ReLU and global average pooling.

    With 3×32×32 inputs and 10 classes the four have 9,718, 133,462, 321,622 and 603,862 parameters, the numbers of
    Table 3, when running statistics are counted as the paper's framework counts them.

    Paper says: filters of each module, batch norm before each ReLU, global average pooling. We take the rest from the
    book it cites (Rosebrock 2017): no bias in convolutions, nothing between the stem and the first module, stride 2
    from the second stage on, ε = 2e-5, Glorot's uniform start.
    """
    channels, _, _ = image_shape(f"models.build({name!r})", input_shape)
    stem, stages = STAGES[name]
    layers: list[nn.Module] = [_norm(channels), nn.Conv2d(channels, stem, 3, padding=1, bias=False)]
    before = stem
    for stage, (filters, modules) in enumerate(stages):
        for position in range(modules):
            stride = 2 if stage > 0 and position == 0 else 1
            layers.append(_Module(before, filters, stride, project=position == 0))
            before = filters
    layers += [_norm(before), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return glorot(Network(nn.Sequential(*layers), before, output_dim))


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=2e-5)


@final
class _Module(nn.Module):
    """Three times batch norm, ReLU, convolution (1×1, 3×3, 1×1), added to the input or to its projection."""

    def __init__(self, before: int, after: int, stride: int, project: bool) -> None:
        super().__init__()
        middle = after // 4
        self.norm1, self.norm2, self.norm3 = _norm(before), _norm(middle), _norm(middle)
        self.convolution1 = nn.Conv2d(before, middle, 1, bias=False)
        self.convolution2 = nn.Conv2d(middle, middle, 3, stride, padding=1, bias=False)
        self.convolution3 = nn.Conv2d(middle, after, 1, bias=False)
        self.projection = nn.Conv2d(before, after, 1, stride, bias=False) if project else None

    def forward(self, x: Tensor) -> Tensor:
        active = relu(self.norm1(x))
        # the projection starts after the first batch norm and ReLU, the identity before them
        shortcut: Tensor = x if self.projection is None else self.projection(active)
        middle = self.convolution2(relu(self.norm2(self.convolution1(active))))
        change: Tensor = self.convolution3(relu(self.norm3(middle)))
        return shortcut + change

"""The four pre-activation bottleneck ResNets for CIFAR-10 of semantic target smoothing (000), Tables 3 and 5."""

from typing import final

from torch import Tensor, nn
from torch.nn.functional import relu

from labelspace.models.network import Network, glorot
from labelspace.models.shapes import image_shape

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

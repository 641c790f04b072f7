"""Residual networks in their form for small images: a 3×3 stem, no max-pooling, basic or bottleneck blocks."""

from typing import Literal, NamedTuple, final

from torch import Tensor, nn
from torch.nn.functional import pad, relu

from labelspace import _checks
from labelspace.models.network import Network, he, image_shape

Shortcut = Literal["pad", "projection"]
Pooling = Literal["4x4", "global"]
WINDOW = 4  # side of the averaged windows
EXPANSION = 4  # of a bottleneck


class Layout(NamedTuple):
    """How a network is laid out.

    Args:
        blocks: of each stage; each further stage has twice the filters at half the size.
        width: filters of the stem and of the first stage.
        shortcut: where the shape changes: ``"pad"`` (option A of He et al.) or ``"projection"`` (option B).
        pooling: of the last stage's map: the mean of each 4×4 window, or of everything.
        bottleneck: blocks of three convolutions that give four times their filters.
    """

    blocks: tuple[int, ...]
    width: int
    shortcut: Shortcut
    pooling: Pooling
    bottleneck: bool = False


STAGES = {
    "resnet8": Layout((1, 1, 1), 128, "projection", "4x4"),
    "resnet18": Layout((2, 2, 2, 2), 64, "projection", "4x4"),
    "resnet34": Layout((3, 4, 6, 3), 64, "projection", "4x4"),
    "resnet50": Layout((3, 4, 6, 3), 64, "projection", "4x4", bottleneck=True),
    "resnet101": Layout((3, 4, 23, 3), 64, "projection", "4x4", bottleneck=True),
    "resnet152": Layout((3, 8, 36, 3), 64, "projection", "4x4", bottleneck=True),
    "resnet18-128": Layout((2, 2, 2, 2), 128, "projection", "4x4"),
    "resnet8-small": Layout((1, 1, 1), 16, "pad", "global"),
    "resnet32": Layout((5, 5, 5), 16, "pad", "global"),
    "resnet110": Layout((18, 18, 18), 16, "pad", "global"),
}


def cifar_resnet(
    name: str,
    input_shape: tuple[int, ...],
    output_dim: int,
    *,
    width: int | None = None,
    shortcut: str | None = None,
    pooling: str | None = None,
) -> Network:
    """Return a residual network whose features are the averaged activations of the last stage.

    ``resnet18`` to ``resnet152`` are the ImageNet networks of He et al. 2016 with the stem of small images, as
    learnable smoothing (002) trains them. Their last map is averaged over windows of 4×4: nothing but its mean is left
    at 32×32, a 2×2 map at 64×64, where with 200 classes ``resnet18`` has 11,578,632 parameters and ``resnet101``
    44,131,080, the numbers of its Table 9. A side of the map under 8 is averaged whole, and one that is not
    a multiple of 4 is divided into as many parts as fit. The bottleneck's stride is in its 3×3 convolution.

    ``resnet8`` (4,911,754 parameters at 3×32×32 with 10 classes; three stages, hence a 2×2 map) and ``resnet18-128``
    are those of the published code of label embedding (004), which are wider than the He et al. that the paper cites.

    ``resnet8-small``, ``resnet32`` and ``resnet110`` are the 6n+2 networks of He et al., section 4.2 (filters 16-32-64,
    shortcuts without parameters): 75,290, 464,154 and 1,727,962 for 10 classes.

    Args:
        name: one of ``STAGES``.
        input_shape: channels, height, width.
        output_dim: width of the head.
        width: filters of the first stage; each further stage has twice as many.
        shortcut: ``"pad"`` (every second pixel, missing channels zero) or ``"projection"``.
        pooling: ``"4x4"`` windows, or ``"global"``: one mean per channel at any size.
    """
    owner = f"models.build({name!r})"
    channels, height, side = image_shape(owner, input_shape)
    layout = STAGES[name]
    filters = _checks.whole(owner, "width", layout.width if width is None else width, low=1)
    form = _checks.choice(owner, "shortcut", shortcut or layout.shortcut, ("pad", "projection"))
    windows = _checks.choice(owner, "pooling", pooling or layout.pooling, ("4x4", "global")) == "4x4"
    stem = nn.Conv2d(channels, filters, 3, padding=1, bias=False)
    layers: list[nn.Module] = [stem, nn.BatchNorm2d(filters), nn.ReLU()]
    before = filters
    for stage, count in enumerate(layout.blocks):
        for position in range(count):
            stride = 2 if stage > 0 and position == 0 else 1
            inner = filters * 2**stage
            layers.append((_Bottleneck if layout.bottleneck else _Block)(before, inner, stride, form))
            before = inner * EXPANSION if layout.bottleneck else inner
    halvings = len(layout.blocks) - 1
    rows, columns = (_pooled(length, halvings) if windows else 1 for length in (height, side))
    layers += [nn.AdaptiveAvgPool2d((rows, columns)), nn.Flatten()]
    return he(Network(nn.Sequential(*layers), before * rows * columns, output_dim))


def _pooled(length: int, halvings: int) -> int:
    """Return how many windows there are along a side of the last map."""
    for _ in range(halvings):
        length = (length + 1) // 2  # a 3×3 convolution of stride 2 and padding 1
    return max(1, length // WINDOW)


@final
class _Block(nn.Module):
    """Two 3×3 convolutions with batch norm, added to the input brought to the same shape."""

    def __init__(self, before: int, filters: int, stride: int, shortcut: str) -> None:
        super().__init__()
        self.convolution1 = nn.Conv2d(before, filters, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(filters)
        self.convolution2 = nn.Conv2d(filters, filters, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(filters)
        self.shortcut = _brought(before, filters, stride, shortcut)

    def forward(self, x: Tensor) -> Tensor:
        change = self.norm2(self.convolution2(relu(self.norm1(self.convolution1(x)))))
        return relu(change + self.shortcut(x))


@final
class _Bottleneck(nn.Module):
    """Convolutions of 1×1, 3×3 and 1×1 with batch norm, the last to four times the filters, added as in ``_Block``."""

    def __init__(self, before: int, filters: int, stride: int, shortcut: str) -> None:
        super().__init__()
        after = filters * EXPANSION
        self.convolution1 = nn.Conv2d(before, filters, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(filters)
        self.convolution2 = nn.Conv2d(filters, filters, 3, stride, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(filters)
        self.convolution3 = nn.Conv2d(filters, after, 1, bias=False)
        self.norm3 = nn.BatchNorm2d(after)
        self.shortcut = _brought(before, after, stride, shortcut)

    def forward(self, x: Tensor) -> Tensor:
        middle = self.norm2(self.convolution2(relu(self.norm1(self.convolution1(x)))))
        change = self.norm3(self.convolution3(relu(middle)))
        return relu(change + self.shortcut(x))


def _brought(before: int, after: int, stride: int, shortcut: str) -> nn.Module:
    """Return what brings a block's input to the shape of its output."""
    if before == after:  # a stride comes with more filters
        return nn.Identity()
    if shortcut == "pad":
        return _Pad(after - before, stride)
    return nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))


@final
class _Pad(nn.Module):
    """Every second pixel, and zeros for the channels that the input does not have (option A)."""

    def __init__(self, channels: int, stride: int) -> None:
        super().__init__()
        self.front, self.back, self.stride = channels // 2, channels - channels // 2, stride

    def forward(self, x: Tensor) -> Tensor:
        return pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, self.front, self.back))

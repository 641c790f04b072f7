"""Networks without shortcuts: linear, multilayer perceptrons, and plain convolutional networks."""

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from torch import nn

from labelspace import _checks
from labelspace.models.network import Network, glorot, he, image_shape

DEFAULT = "mlp-500-500"
DRAWN = 3  # units that fit into a picture


def linear(input_shape: tuple[int, ...], output_dim: int) -> Network:
    """Return one linear layer; its features are the flattened input."""
    return Network(nn.Flatten(), math.prod(input_shape), output_dim)


def mlp(input_shape: tuple[int, ...], output_dim: int, widths: Sequence[int]) -> Network:
    """Return fully connected layers, each with ReLU; the last one's activations are the features.

    The 500-500 of label embedding (004) is ``mlp-500-500``. A last layer of at most three units, as in ``mlp-32-2``, is
    a bottleneck to draw classes in and stays linear: rectified, such units die in some runs and take all classes along.
    """
    layers: list[nn.Module] = [nn.Flatten()]
    for before, after in pairwise([math.prod(input_shape), *widths]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    if widths[-1] <= DRAWN:
        layers.pop()
    return Network(nn.Sequential(*layers), widths[-1], output_dim)


def parse_widths(name: str) -> tuple[int, ...]:
    """Return the widths in a name of the form ``mlp-W1-W2-…``; ``mlp`` alone is ``mlp-500-500``."""
    name = DEFAULT if name == "mlp" else name
    if not re.fullmatch(r"mlp(-[1-9][0-9]*)+", name):
        expected = "'mlp-W1-W2-…' with one positive whole number for each hidden layer"
        raise _checks.fail("models.build", "name", expected, repr(name), f"For example {DEFAULT!r} or 'mlp-32-2'.")
    return tuple(int(width) for width in name.split("-")[1:])


# name: filters of the 3×3 convolutions, widths of the fully connected layers before the head
LAYERS = {
    "cnn-3-layer-0": ((2,) * 2, (2,)),
    "cnn-3-layer-1": ((4,) * 2, (4,)),
    "cnn-3-layer-2": ((8,) * 2, (8,)),
    "cnn-3-layer-3": ((16,) * 2, (16,)),
    "cnn-6-layer-0": ((16,) * 3, (16,) * 3),
    "cnn-6-layer-1": ((32,) * 3, (32,) * 3),
    "cnn-6-layer-2": ((32,) * 3, (64,) * 3),
    "cnn-9-layer": ((32,) * 3, (64,) * 3 + (128,) * 3),
    # a guess that continues the pattern: the paper reports this network and never describes it
    "cnn-12-layer": ((32,) * 3, (64,) * 3 + (128,) * 3 + (256,) * 3),
}


def mnist_cnn(name: str, input_shape: tuple[int, ...], output_dim: int) -> Network:
    """Return 3×3 convolutions, then fully connected layers, all with ReLU.

    The head is not counted in the name: 6-layer is three convolutions and three fully connected layers. The features
    are the activations of the last of them.

    Paper says: filters, widths, ReLU, softmax; input normalised (by the data pipeline here, not by a layer). We add
    what it leaves open: padding of 1, 2×2 max-pooling after each convolution except where a side would fall under 2
    (so 8×8 digits are pooled twice), and Glorot's uniform start with zero biases, the default of the framework whose
    way of counting parameters the paper uses.
    """
    channels, height, width = image_shape(f"models.build({name!r})", input_shape)
    filters, widths = LAYERS[name]
    layers: list[nn.Module] = []
    for before, after in pairwise([channels, *filters]):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.ReLU()]
        if min(height, width) >= 4:
            layers.append(nn.MaxPool2d(2))
            height, width = height // 2, width // 2
    layers.append(nn.Flatten())
    for before, after in pairwise([filters[-1] * height * width, *widths]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return glorot(Network(nn.Sequential(*layers), widths[-1], output_dim))


def lenet(input_shape: tuple[int, ...], output_dim: int) -> Network:
    """Return LeNet-5 in its present form: ReLU, max-pooling, and a linear head on 84 features.

    Two 5×5 convolutions without padding (6 and 16 filters), each with 2×2 pooling, then 120 and 84 units: 61,706
    parameters for 28×28 grey images and 10 classes. As in LeCun et al. 1998, images smaller than 32×32 get a border of
    zeros up to that size; larger ones are taken as they are. Learnable label smoothing (002) names LeNet only.
    """
    channels, height, width = image_shape("models.build('lenet')", input_shape)
    more_rows, more_columns = max(0, 32 - height), max(0, 32 - width)
    top, left = more_rows // 2, more_columns // 2
    border = nn.ZeroPad2d((left, more_columns - left, top, more_rows - top))
    rows, columns = (((side - 4) // 2 - 4) // 2 for side in (max(height, 32), max(width, 32)))
    layers: list[nn.Module] = [border]
    for before, after in pairwise([channels, 6, 16]):
        layers += [nn.Conv2d(before, after, 5), nn.ReLU(), nn.MaxPool2d(2)]
    layers.append(nn.Flatten())
    for before, after in pairwise([16 * rows * columns, 120, 84]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return Network(nn.Sequential(*layers), 84, output_dim)


def alexnet_small(input_shape: tuple[int, ...], output_dim: int) -> Network:
    """Return AlexNet for small images: its five convolutions, and a linear head on 256 features.

    Learnable label smoothing (002) trains an "AlexNet" on CIFAR-10 and Fashion-MNIST without describing it. This is
    the form in wide use for such images: 11×11 of stride 4 and padding 5, 5×5, three times 3×3 (filters 64, 192, 384,
    256, 256), 2×2 max-pooling after the first, second and fifth, no hidden fully connected layers: 2,472,266
    parameters for 3×32×32 and 10 classes. Pooling is left out where a side would fall under 1, and what is left of a
    larger image is averaged. The start is He's: torch's own is too small for five layers without normalisation.
    """
    channels, height, width = image_shape("models.build('alexnet-small')", input_shape)
    height, width = ((side - 1) // 4 + 1 for side in (height, width))
    plan = ((64, 11, True), (192, 5, True), (384, 3, False), (256, 3, False), (256, 3, True))
    layers: list[nn.Module] = []
    before = channels
    for position, (after, kernel, pooled) in enumerate(plan):
        stride = 4 if position == 0 else 1
        layers += [nn.Conv2d(before, after, kernel, stride, padding=kernel // 2), nn.ReLU()]
        if pooled and min(height, width) >= 2:
            layers.append(nn.MaxPool2d(2))
            height, width = height // 2, width // 2
        before = after
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return he(Network(nn.Sequential(*layers), before, output_dim))


def cnn_5x5(input_shape: tuple[int, ...], output_dim: int, *, hidden: int = 1024) -> Network:
    """Return two 5×5 convolutions (32 and 64 filters), each with 2×2 max-pooling, and one fully connected layer.

    Paper (004) says: this, without the width of the fully connected layer. Code does: 1024, padding that keeps the
    size, biases at zero. We do: as code, with Glorot's uniform start; pooling is left out where a side would fall
    under 2.

    Args:
        input_shape: channels, height, width.
        output_dim: width of the head.
        hidden: width of the fully connected layer, and of the features.
    """
    owner = "models.build('cnn-5x5')"
    channels, height, width = image_shape(owner, input_shape)
    _checks.whole(owner, "hidden", hidden, low=1)
    layers: list[nn.Module] = []
    for before, after in pairwise([channels, 32, 64]):
        layers += [nn.Conv2d(before, after, 5, padding=2), nn.ReLU()]
        if min(height, width) >= 4:
            layers.append(nn.MaxPool2d(2))
            height, width = height // 2, width // 2
    layers += [nn.Flatten(), nn.Linear(64 * height * width, hidden), nn.ReLU()]
    return glorot(Network(nn.Sequential(*layers), hidden, output_dim))

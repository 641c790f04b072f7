"""The plain convolutional networks for MNIST of semantic target smoothing (000), Tables 2 and 6."""

from itertools import pairwise

from torch import nn

from labelspace.models.network import Network, glorot
from labelspace.models.shapes import image_shape

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

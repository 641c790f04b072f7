"""The linear model and the multilayer perceptron, for any input: images are flattened."""

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from torch import nn

from labelspace import _checks
from labelspace.models.network import Network

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

"""A network for tables: every number beside its place among the quantiles of the training data, then dense layers."""

import math
from itertools import pairwise
from typing import final

import numpy as np
import torch
from torch import Tensor, nn

from labelspace import _checks
from labelspace.models.network import Network

WIDEST = 4096  # numbers that go into the first dense layer because of bins: with more features there are fewer bins
FAR = 3.0  # standard deviations: smaller numbers stay nearly as they are, no number gets beyond it


@final
class Places(nn.Module):
    """Numbers, softly clipped, followed by their place in quantile bins of the training data.

    A number x becomes ``x / √(1 + (x/3)²)``, so that an outlier moves nothing else, and for each bin between two
    neighbouring quantiles ``q ≤ r`` one number ``clamp((x − q)/(r − q), 0, 1)``: 1 in bins below x, 0 in bins above
    (the piecewise linear encoding of Gorishniy et al. 2022, On Embeddings for Numerical Features). A linear layer on
    them is any function that is linear within bins, so that thresholds need no depth. Bins between equal quantiles are
    0: few-valued columns have few, and a category's column (0 or 1) has one, on which a linear layer is an embedding.

    Args:
        features: F, numbers of a sample.
        bins: B of each number; until ``fit_inputs``, those of a normal distribution.

    Shape:
        ``(N, *input_shape)`` → ``(N, F + F·B)``.
    """

    low: Tensor
    scale: Tensor

    def __init__(self, features: int, bins: int) -> None:
        """Begin with the quantiles of numbers that were standardised."""
        super().__init__()
        self.features, self.bins = features, bins
        self.width = features * (1 + bins)
        edges = torch.special.ndtri(torch.linspace(0, 1, bins + 1)).clamp(-FAR, FAR).repeat(features, 1)
        self.register_buffer("low", edges[:, :-1].contiguous())
        self.register_buffer("scale", 1 / edges.diff(dim=1))

    def fit_inputs(self, x: Tensor) -> None:
        """Take the quantiles from training inputs."""
        if not self.bins:
            return
        numbers = x.flatten(1).double().cpu().numpy()
        edges = torch.from_numpy(np.quantile(numbers, np.linspace(0, 1, self.bins + 1), axis=0).T)
        width = edges.diff(dim=1)
        # narrower bins are rounding: what falls between their edges in float32 is chance
        real = width > 1e-6 * (1 + edges[:, 1:].abs())
        self.low.copy_(edges[:, :-1])
        self.scale.copy_(torch.where(real, 1 / torch.where(real, width, 1), 0))

    def forward(self, x: Tensor) -> Tensor:
        """Return clipped numbers and places."""
        x = x.flatten(1)
        places = ((x.unsqueeze(2) - self.low) * self.scale).clamp(0, 1)
        return torch.cat([x / (1 + (x / FAR).square()).sqrt(), places.flatten(1)], dim=1)


def table(
    input_shape: tuple[int, ...],
    output_dim: int,
    *,
    bins: int = 32,
    width: int = 256,
    layers: int = 2,
    dropout: float = 0.1,
) -> Network:
    """Return dense layers with ReLU and dropout on numbers and their places among training quantiles, see ``Places``.

    The first layer begins as if there were no bins: their weights are 0, and grow where thresholds help.

    Args:
        input_shape: of one sample; flattened.
        output_dim: width of the head.
        bins: of each number; fewer where there are so many numbers that the first layer would be the whole network.
        width: of each layer, and of the features.
        layers: how many.
        dropout: rate after each layer.
    """
    owner = "models.build('table')"
    for argument, value, low in (("bins", bins, 0), ("width", width, 1), ("layers", layers, 1)):
        _checks.whole(owner, argument, value, low=low)
    rate = _checks.number(owner, "dropout", dropout, low=0, high=1, open_high=True)
    features = math.prod(input_shape)
    fewer = min(bins, WIDEST // features)
    places = Places(features, fewer if fewer > 1 else 0)
    body: list[nn.Module] = [places]
    for before, after in pairwise([places.width, *[width] * layers]):
        body += [nn.Linear(before, after), nn.ReLU(), nn.Dropout(rate)]
    _begin_without_bins(body[1], features)
    return Network(nn.Sequential(*body), width, output_dim)


def _begin_without_bins(layer: nn.Module, features: int) -> None:
    """Start a layer as torch would start it if there were no bins, which get weights of 0."""
    assert isinstance(layer, nn.Linear)
    bound = 1 / math.sqrt(features)
    with torch.no_grad():
        layer.weight[:, :features].uniform_(-bound, bound)
        layer.weight[:, features:].zero_()
        layer.bias.uniform_(-bound, bound)

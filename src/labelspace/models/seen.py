"""Layers that look at the training inputs once, before the first step, and keep what they found in buffers."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

MOST = 65_536  # samples that a layer is shown: quantiles and frequencies change little with more


@runtime_checkable
class Seeing(Protocol):
    """A layer with this method is shown training inputs; what it finds is a buffer, so that its state holds it.

    The shapes of its buffers must not depend on what it is shown: a record is read without the data.
    """

    def fit_inputs(self, x: Tensor) -> None:
        """Take what the layer needs to know from training inputs ``(N, *input_shape)``, as the network reads them."""


def fit_inputs(model: nn.Module, count: int, take: Callable[[Tensor], Tensor]) -> None:
    """Show training inputs to every layer of a model that wants to see them; without such a layer none are taken.

    Args:
        model: any module.
        count: how many training samples there are; of very many, every second or third is shown, in their order.
        take: returns the samples of some rows as the network reads them.

    Example:
        >>> class Centred(nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.register_buffer("mean", torch.zeros(2))
        ...     def fit_inputs(self, x):
        ...         self.mean.copy_(x.mean(dim=0))
        ...     def forward(self, x):
        ...         return x - self.mean
        >>> model, x = nn.Sequential(Centred(), nn.Linear(2, 3)), torch.tensor([[1.0, 2.0], [3.0, 6.0]])
        >>> fit_inputs(model, 2, lambda rows: x[rows])
        >>> model[0].mean
        tensor([2., 4.])
    """
    layers = [layer for layer in model.modules() if isinstance(layer, Seeing)]
    if not layers or not count:
        return
    with torch.no_grad():
        x = take(torch.arange(0, count, -(-count // MOST)))
        for layer in layers:
            layer.fit_inputs(x)

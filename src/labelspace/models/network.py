"""The one module every model is: a body that makes features, and a linear head on them."""

from typing import final

from torch import Tensor, nn


@final
class Network(nn.Module):
    """A body and a linear head; a call returns ``(output, features)``.

    Args:
        body: turns a batch into features ``(N, F)``.
        feature_dim: F.
        output_dim: D, the width of the head.

    Shape:
        whatever the body takes → output ``(N, D)``, features ``(N, F)``.

    Example:
        >>> import torch
        >>> output, features = Network(nn.Flatten(), 8, 3)(torch.zeros(5, 2, 4))
        >>> output.shape, features.shape
        (torch.Size([5, 3]), torch.Size([5, 8]))
    """

    def __init__(self, body: nn.Module, feature_dim: int, output_dim: int) -> None:
        """Hold the body and make the head."""
        super().__init__()
        self.body = body
        self.head = nn.Linear(feature_dim, output_dim)
        self.feature_dim = feature_dim

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the output of the head, and the features it was given."""
        features = self.body(x)
        return self.head(features), features


def glorot(network: Network) -> Network:
    """Start all weights from Glorot's uniform distribution and all biases at zero; return the network.

    torch's own start shrinks a signal about 2.4 times in every layer of a plain ReLU network: after nine layers
    nothing is left of it, and SGD without normalisation stands still.
    """
    for module in network.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    return network


def he(network: Network) -> Network:
    """Start the convolutions from He's normal distribution (fan out), as residual networks do; return the network."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    return network


def count_parameters(module: nn.Module, running_statistics: bool = False) -> int:
    """Return how many numbers a module learns; a shared parameter counts once.

    Args:
        module: any module.
        running_statistics: count the running mean and variance of batch normalisation too, as Keras does in its totals.

    Example:
        >>> layers = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
        >>> count_parameters(layers), count_parameters(layers, running_statistics=True)
        (21, 27)
    """
    total = sum(parameter.numel() for parameter in module.parameters())
    if running_statistics:
        kept = ("running_mean", "running_var")
        buffers = module.named_buffers()
        total += sum(buffer.numel() for name, buffer in buffers if name.rpartition(".")[2] in kept)
    return total

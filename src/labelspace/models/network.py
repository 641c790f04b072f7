"""The one module every model is: a body that makes features, and a linear head on them."""

from collections.abc import Mapping
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.nn.functional import linear


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
        # what a record must hold to build the body again where its name alone does not say it
        self.architecture: Mapping[str, Any] | None = None

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the output of the head, and the features it was given."""
        features = self.body(x)
        return self.head(features), features

    def head_weight(self) -> Tensor:
        """Return the weights of the last linear layer."""
        return self.head.weight

    def at_positions(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the output, and what the head says of each position of the last feature map.

        Only where the features are the mean of a map over its positions (``has_map``): then the output is the mean of
        these scores.

        Shape:
            output ``(N, D)``, scores ``(N, D, height, width)``.
        """
        output, _, positions = self._with_map(x)
        return output, linear(positions.movedim(1, -1), self.head.weight, self.head.bias).movedim(-1, 1)

    def has_map(self, input_shape: tuple[int, ...]) -> bool:
        """Return whether the features of such samples are the mean of a map over its positions.

        Example:
            >>> Network(nn.Flatten(), 8, 3).has_map((2, 2, 2))
            False
            >>> Network(nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()), 2, 3).has_map((2, 2, 2))
            True
        """
        if _global_pooling(self.body) is None:
            return False
        training, like = self.training, self.head.weight
        with torch.no_grad():
            sample = torch.ones(1, *input_shape, dtype=like.dtype, device=like.device)
            _, features, positions = self.eval()._with_map(sample)
        self.train(training)
        means = positions.flatten(2).mean(dim=2)
        # a body with further layers behind its pooling has features of another kind
        return means.shape == features.shape and bool((means - features).norm() <= 1e-4 * features.norm())

    def _with_map(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return output, features, and what the body's last global pooling was given."""
        pooling = _global_pooling(self.body)
        assert pooling is not None, "has_map() is False"
        seen: list[Tensor] = []
        hook = pooling.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
        try:
            output, features = self(x)
        finally:
            hook.remove()
        return output, features, seen[-1]


def _global_pooling(body: nn.Module) -> nn.Module | None:
    """Return the last layer that averages a map over all of its positions."""
    layers = [module for module in body.modules() if isinstance(module, nn.AdaptiveAvgPool2d)]
    return layers[-1] if layers and layers[-1].output_size in (1, (1, 1)) else None


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

"""The one module every model is: a body that makes features, and a linear head on them; shapes of samples; weights."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import final

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import linear

from labelspace import _checks


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
        self.architecture: Mapping[str, object] | None = None

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the output of the head, and the features it was given."""
        features = self.features(x)
        return self.head(features), features

    def features(self, x: Tensor) -> Tensor:
        """Return what the head reads."""
        features: Tensor = self.body(x)
        return features

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
        modes, like = {layer: layer.training for layer in self.modules()}, self.head.weight
        with torch.no_grad():
            sample = torch.ones(1, *input_shape, dtype=like.dtype, device=like.device)
            _, features, positions = self.eval()._with_map(sample)
        for layer, training in modes.items():
            layer.training = training
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


FORMS = "(channels, height, width) for images, (numbers,) for tables and features, (length,) for text"


def sample_shape(owner: str, input_shape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of one sample as a tuple of positive whole numbers."""
    if isinstance(input_shape, str | int) or not hasattr(input_shape, "__iter__"):
        raise _checks.fail_type(owner, "input_shape", f"the shape of one sample: {FORMS}", repr(input_shape))
    shape = tuple(input_shape)
    whole = all(isinstance(side, int) and not isinstance(side, bool) and side > 0 for side in shape)
    if not shape or not whole:
        remedy = "Leave the number of samples out: use x.shape[1:]."
        raise _checks.fail(owner, "input_shape", f"the shape of one sample: {FORMS}", repr(shape), remedy)
    return shape


def image_shape(owner: str, shape: tuple[int, ...], least: int = 1) -> tuple[int, int, int]:
    """Return channels, height and width, at least ``least`` high and wide."""
    if len(shape) != 3:
        remedy = "For tables and features use 'linear' or 'mlp-500-500'."
        if len(shape) == 2:
            remedy = f"For grey images add the channel: (1, {shape[0]}, {shape[1]})."
        raise _checks.fail(owner, "input_shape", "(channels, height, width): it is a network for images", shape, remedy)
    channels, height, width = shape
    if min(height, width) < least:
        remedy = "Resize the images, or use a smaller network such as 'cnn-3-layer-2'."
        raise _checks.fail(owner, "input_shape", f"of images at least {least} high and wide", shape, remedy)
    return channels, height, width


def text_shape(owner: str, shape: tuple[int, ...]) -> int:
    """Return the number of tokens of a text."""
    if len(shape) != 1:
        remedy = "For images use a network such as 'cnn-6-layer-2'; for text give token ids (N, length)."
        raise _checks.fail(owner, "input_shape", "(length,): it is a network for token ids", shape, remedy)
    return shape[0]


def read_weights(owner: str, path: str | Path) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file or of a torch file that holds only tensors.

    Args:
        owner: what asked for them, for the message.
        path: the file; ``.safetensors``, or anything ``torch.load(weights_only=True)`` reads.
    """
    file = Path(path)
    if not file.is_file():
        raise _checks.fail(owner, "weights", "the path of a file of weights", repr(str(path)))
    try:
        if file.suffix == ".safetensors":
            return load_file(file)
        # weights_only: a file that wants to execute something is refused
        state = torch.load(file, map_location="cpu", weights_only=True)
    except (SafetensorError, UnpicklingError, RuntimeError, EOFError, ValueError) as error:
        remedy = "Save the tensors with safetensors, or with torch.save(model.state_dict(), path)."
        raise _checks.fail(owner, "weights", "a file of tensors and nothing else", repr(file.name), remedy) from error
    if isinstance(state, Mapping) and isinstance(state.get("state_dict"), Mapping):
        state = state["state_dict"]
    if not isinstance(state, Mapping) or not all(isinstance(value, Tensor) for value in state.values()):
        raise _checks.fail(owner, "weights", "a file of named tensors", repr(file.name))
    return dict(state)


def load_weights(owner: str, module: nn.Module, path: str | Path) -> None:
    """Load a file of weights; tensors the module does not have (an old head) are passed over, missing ones refused."""
    state = read_weights(owner, path)
    own = module.state_dict()
    missing = [name for name in own if name not in state and not name.endswith("num_batches_tracked")]
    wrong = [name for name in own if name in state and own[name].shape != state[name].shape]
    if missing or wrong:
        name = (missing or wrong)[0]
        got = f"none named {name!r}" if missing else f"{name!r} of shape {tuple(state[name].shape)}"
        more = len(missing) + len(wrong) - 1
        got += f" and {more} more that do not fit" if more else ""
        raise _checks.fail(owner, "weights", "a file with every tensor of the model", got)
    module.load_state_dict(state, strict=False)


def content_hash(paths: list[Path]) -> str:
    """Return 16 hexadecimal digits that change with the content of the files, and with nothing else."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]

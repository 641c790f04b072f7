"""Networks of transformers, from a folder on disk or from the name of an architecture."""

from pathlib import Path
from typing import Any, final

import torch
from torch import Tensor, nn

from labelspace import _checks
from labelspace.models.external import feature_width
from labelspace.models.network import Network
from labelspace.models.packages import optional
from labelspace.models.shapes import image_shape, text_shape
from labelspace.models.text import masked_mean


def from_transformers(
    name: str, input_shape: tuple[int, ...], output_dim: int, *, pretrained: bool = True, **options: Any
) -> Network:
    """Return an encoder of transformers, pooled to one vector, and a linear head; nothing is ever downloaded.

    Texts come as token ids in which 0 is padding, and are pooled by the mean over their tokens; images by the
    network's own pooling, or the mean over positions where it has none.

    Args:
        name: the folder of a saved model (``config.json`` and safetensors), or an architecture such as ``bert`` or
            ``vit``, which starts from random weights.
        input_shape: ``(length,)`` for token ids, ``(channels, height, width)`` for images.
        output_dim: width of the head.
        pretrained: load the weights in the folder; with False only its configuration.
        options: values of the configuration, for example ``hidden_size=128``.
    """
    owner = f"models.build('hf:{name}')"
    text = len(input_shape) == 1
    shape: tuple[int, ...] = (text_shape(owner, input_shape),) if text else image_shape(owner, input_shape)
    optional(owner, "transformers.modeling_utils", "hf")  # transformers itself imports lazily: faults show here
    transformers = optional(owner, "transformers", "hf")
    folder = Path(name)
    if (folder / "config.json").is_file():
        config = transformers.AutoConfig.from_pretrained(str(folder), local_files_only=True, **options)
        model = _model(transformers, config, folder if pretrained else None)
    else:
        model = _model(transformers, _config(owner, transformers, name, shape, options), None)
    body: nn.Module = _TextBody(model) if text else _ImageBody(model)
    sample = torch.ones(1, *shape, dtype=torch.long) if text else torch.zeros(1, *shape)
    return Network(body, feature_width(owner, body, sample), output_dim)


def _config(owner: str, transformers: Any, name: str, shape: tuple[int, ...], options: dict[str, Any]) -> Any:
    known = sorted(transformers.CONFIG_MAPPING)
    if name not in known:
        remedy = "Models are not downloaded: save one to a folder first, and give that folder."
        expected = "the folder of a saved model, or an architecture such as 'bert', 'distilbert' or 'vit'"
        raise _checks.fail(owner, "name", expected, repr(name), remedy)
    plain = transformers.AutoConfig.for_model(name)
    if len(shape) == 3:
        fitting = {"num_channels": shape[0], "image_size": shape[1]}
        options = {key: value for key, value in fitting.items() if hasattr(plain, key)} | options
    return transformers.AutoConfig.for_model(name, **options)


def _model(transformers: Any, config: Any, folder: Path | None) -> nn.Module:
    """Return the encoder, without a pooling layer where it can be left out: its parameters would get no gradient."""

    def make(**more: bool) -> nn.Module:
        if folder is None:
            made: nn.Module = transformers.AutoModel.from_config(config, trust_remote_code=False, **more)
            return made
        # safetensors only, and no code from the folder
        safe = {"local_files_only": True, "use_safetensors": True, "trust_remote_code": False}
        loaded: nn.Module = transformers.AutoModel.from_pretrained(str(folder), config=config, **safe, **more)
        return loaded

    try:
        return make(add_pooling_layer=False)
    except TypeError:
        return make()


@final
class _TextBody(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor) -> Tensor:
        present = tokens != 0
        # a text of padding alone may attend to it: with every position masked, softmax gives NaN
        attended = present | ~present.any(dim=1, keepdim=True)
        hidden = self.model(input_ids=tokens, attention_mask=attended.long()).last_hidden_state
        return masked_mean(hidden, present)


@final
class _ImageBody(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        result = self.model(pixel_values=x)
        pooled: Tensor | None = getattr(result, "pooler_output", None)
        if pooled is not None:
            return pooled.flatten(1)
        hidden: Tensor = result.last_hidden_state
        # (N, positions, F) from transformers, (N, F, height, width) from convolutional networks
        return hidden.mean(dim=1) if hidden.ndim == 3 else hidden.flatten(2).mean(dim=2)

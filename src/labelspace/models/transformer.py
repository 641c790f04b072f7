"""Networks of transformers, from a folder on disk or from the name of an architecture."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Protocol, final

import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from labelspace import _checks
from labelspace._packages import optional
from labelspace.models.external import check_options, feature_width, shapes_network
from labelspace.models.network import Network, image_shape, text_shape
from labelspace.models.text import masked_mean

LOADERS = ("adapter_config.json",)  # files that would make transformers load something from elsewhere


def from_transformers(
    name: str,
    input_shape: tuple[int, ...],
    output_dim: int,
    *,
    pretrained: bool = True,
    vocabulary: int | None = None,
    **options: object,
) -> Network:
    """Return an encoder of transformers, pooled to one vector, and a linear head; nothing is ever downloaded.

    Texts come as token ids in which 0 is padding, and are pooled by the mean over their tokens; images by the
    network's own pooling, or the mean over positions where it has none. No code of the folder is run.

    Args:
        name: the folder of a saved model (``config.json`` and safetensors), or an architecture such as ``bert`` or
            ``vit``, which starts from random weights.
        input_shape: ``(length,)`` for token ids, ``(channels, height, width)`` for images.
        output_dim: width of the head.
        pretrained: load the weights in the folder; with False only its configuration.
        vocabulary: of the data, at most the ``vocab_size`` of the network.
        options: values of the configuration that shape the network, for example ``hidden_size=128``.
    """
    owner = f"models.build('hf:{name}')"
    shape = _shape(owner, input_shape)
    model, config = first_made(owner, name, shape, pretrained, vocabulary, options)
    return _network(owner, model, shape, output_dim, config)


def transformers_again(
    name: str,
    input_shape: tuple[int, ...],
    output_dim: int,
    architecture: Mapping[str, object] | None,
    options: Mapping[str, object],
) -> Network:
    """Return the network of a record, with random weights; no folder is looked at.

    Args:
        name: the folder that it once came from, or its architecture.
        input_shape: of one sample.
        output_dim: width of the head.
        architecture: the configuration in the record; None in those of earlier versions.
        options: as they were given, for a record without a configuration.
    """
    owner = f"models.build('hf:{name}')"
    shape = _shape(owner, input_shape)
    model, config = made_again(owner, name, shape, architecture, options)
    return _network(owner, model, shape, output_dim, config)


class Configured(Protocol):
    """What is asked of a configuration of transformers."""

    model_type: str

    def to_json_string(self, use_diff: bool) -> str:
        """Return its values as JSON."""


def first_made(
    owner: str,
    name: str,
    shape: tuple[int, ...],
    pretrained: bool,
    vocabulary: int | None,
    options: Mapping[str, object],
) -> tuple[nn.Module, Configured]:
    """Return the network of a folder or an architecture, and its configuration; arguments as of the above."""
    transformers, folder = _transformers(owner), Path(name)
    if (folder / "config.json").is_file():
        values = _saved(owner, folder)
    else:
        values = _named(owner, transformers, name, shape)
        pretrained = False
    config = _config(owner, transformers, values, options)
    rows = getattr(config, "vocab_size", None)
    if vocabulary is not None and isinstance(rows, int) and rows < vocabulary:
        raise _checks.fail(owner, "vocab_size", f"at least {vocabulary}, the token ids of the data", rows)
    return _model(owner, transformers, config, folder if pretrained else None), config


def made_again(
    owner: str,
    name: str,
    shape: tuple[int, ...],
    architecture: Mapping[str, object] | None,
    options: Mapping[str, object],
) -> tuple[nn.Module, Configured]:
    """Return the network of a record, with random weights, and its configuration; no folder is looked at."""
    transformers = _transformers(owner)
    if not architecture and name not in transformers.CONFIG_MAPPING:
        remedy = "An earlier version did not write it; train it again."
        raise _checks.fail(owner, "architecture", "in the record: folders that it names are not read", None, remedy)
    given = {} if architecture else {key: value for key, value in options.items() if key != "vocabulary"}
    values = dict(architecture) if architecture else _named(owner, transformers, name, shape)
    config = _config(owner, transformers, values, given)
    return _model(owner, transformers, config, None), config


def architecture_of(config: Configured) -> dict[str, object]:
    """Return what a record holds of a configuration: plain values that shape the network."""
    return {"model_type": config.model_type, **_shaping(json.loads(config.to_json_string(use_diff=False)))}


def _transformers(owner: str) -> ModuleType:
    optional(owner, "transformers.modeling_utils", "hf")  # transformers itself imports lazily: faults show here
    library: ModuleType = optional(owner, "transformers", "hf")
    return library


def _shape(owner: str, input_shape: tuple[int, ...]) -> tuple[int, ...]:
    return (text_shape(owner, input_shape),) if len(input_shape) == 1 else image_shape(owner, input_shape)


def _network(owner: str, model: nn.Module, shape: tuple[int, ...], output_dim: int, config: Configured) -> Network:
    text = len(shape) == 1
    body: nn.Module = _TextBody(model) if text else _ImageBody(model)
    sample = torch.ones(1, *shape, dtype=torch.long) if text else torch.zeros(1, *shape)
    network = Network(body, feature_width(owner, body, sample, getattr(config, "hidden_size", None)), output_dim)
    network.architecture = architecture_of(config)
    return network


def _saved(owner: str, folder: Path) -> dict[str, object]:
    """Return the configuration in a folder, read as data: transformers itself would look for code beside it."""
    found = next((file for file in LOADERS if (folder / file).exists()), None)
    if found is not None:
        remedy = "Merge it into its base model and save that."
        raise _checks.fail(owner, "name", "the folder of a whole model", f"one with {found}", remedy)
    try:
        values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _checks.fail(owner, "name", "a folder with a sound config.json", str(error)) from error
    if not isinstance(values, dict):
        raise _checks.fail(owner, "name", "a folder with a sound config.json", type(values).__name__)
    return values


def _named(owner: str, transformers: ModuleType, name: str, shape: tuple[int, ...]) -> dict[str, object]:
    if name not in transformers.CONFIG_MAPPING:
        remedy = "Models are not downloaded: save one to a folder first, and give that folder."
        expected = "the folder of a saved model, or an architecture such as 'bert', 'distilbert' or 'vit'"
        raise _checks.fail(owner, "name", expected, repr(name), remedy)
    fitting: dict[str, int] = {}
    if len(shape) == 3:
        plain = transformers.AutoConfig.for_model(name)
        wanted = {"num_channels": shape[0], "image_size": shape[1]}
        fitting = {key: value for key, value in wanted.items() if hasattr(plain, key)}
    return {"model_type": name, **fitting}


def _config(
    owner: str, transformers: ModuleType, values: Mapping[str, object], options: Mapping[str, object]
) -> Configured:
    """Return a configuration of transformers from plain values, of which none can name code or a place."""
    kind = values.get("model_type")
    if not isinstance(kind, str) or kind not in transformers.CONFIG_MAPPING:
        remedy = "Its own code would have to be run, which is never done."
        raise _checks.fail(owner, "name", "a network that transformers itself knows", f"model_type {kind!r}", remedy)
    made = transformers.CONFIG_MAPPING[kind]
    plain = made()
    known = filter(shapes_network, [*plain.to_dict(), *getattr(plain, "attribute_map", {})])
    check_options(owner, options, known)
    wrapped = next((name for name, value in values.items() if value and _is_wrapper(name)), None)
    if kind.startswith("timm") or wrapped is not None:
        raise _checks.fail(owner, "name", "a network by itself", f"{kind!r} with {wrapped or 'one of timm'}")
    try:
        configured: Configured = made.from_dict({**_shaping(values), **options})
        return configured
    except Exception as error:  # each configuration checks its values in its own way
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise _checks.fail(owner, "options", f"values that {kind!r} takes", first[:200]) from error


def _is_wrapper(name: str) -> bool:
    return "backbone" in name or name == "quantization_config"


def _shaping(values: Mapping[str, object]) -> dict[str, object]:
    """Return plain values without those that may name code or a place, also further in."""
    kept = {name: value for name, value in values.items() if isinstance(name, str)}
    return {name: _shaped(value) for name, value in kept.items() if shapes_network(name)}


def _shaped(value: object) -> object:
    if isinstance(value, dict):
        return _shaping(value)
    return [_shaped(part) for part in value] if isinstance(value, list) else value


def _model(owner: str, transformers: ModuleType, config: Configured, folder: Path | None) -> nn.Module:
    """Return the encoder, without a pooling layer where it can be left out: its parameters would get no gradient."""

    def make(**more: bool) -> nn.Module:
        if folder is None:
            made: nn.Module = transformers.AutoModel.from_config(config, **more, trust_remote_code=False)
            return made
        # safetensors only, and no code from the folder
        safe = {"local_files_only": True, "use_safetensors": True, "trust_remote_code": False}
        loaded: nn.Module = transformers.AutoModel.from_pretrained(str(folder), config=config, **more, **safe)
        return loaded.float()  # as every network here; the precision of a run is its own choice

    try:
        try:
            return make(add_pooling_layer=False)
        except TypeError:
            return make()
    except (OSError, SafetensorError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise _checks.fail(owner, "name", "a folder with sound weights in safetensors", first[:200]) from error


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

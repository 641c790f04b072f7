"""Every model by its name."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import TypeVar, overload

from torch import nn

from labelspace import _checks
from labelspace._plugins import Plugins
from labelspace.models import cifar_resnet, classic, estimators, given, preactivation, seq2seq, tabular, text, tfidf
from labelspace.models.external import OUTSIDE, efficientnet_lite0, from_timm, from_torchvision
from labelspace.models.fitted import ESTIMATOR, Fitted, check_scores, is_estimator
from labelspace.models.given import GivenNetwork
from labelspace.models.network import Network, sample_shape
from labelspace.models.transformer import from_transformers, transformers_again
from labelspace.models.translation import Translation, encoder_decoder_again, from_encoder_decoder

WRITERS = ("seq2seq-", "hf:")  # how names of networks begin that read and write texts
Built = Network | GivenNetwork | seq2seq.Seq2Seq | Translation | Fitted
Builder = Callable[..., Built]
Made = TypeVar("Made", bound=given.Factory)


def _from_transformers(name: str, input_shape: tuple[int, ...], output_dim: int, **options: object) -> Built:
    """Return an encoder, or an encoder–decoder where the data has target tokens."""
    make: Builder = from_encoder_decoder if options.get("targets") is not None else from_transformers
    return make(name, input_shape, output_dim, **options)


PLAIN: dict[str, Builder] = {
    "linear": classic.linear,
    **{name: partial(classic.mnist_cnn, name) for name in classic.LAYERS},
    "cnn-5x5": classic.cnn_5x5,
    "lenet": classic.lenet,
    "alexnet-small": classic.alexnet_small,
    **{name: partial(cifar_resnet.cifar_resnet, name) for name in cifar_resnet.STAGES},
    **{name: partial(preactivation.wide_resnet, name) for name in preactivation.WIDE},
    **{name: partial(preactivation.bottleneck, name) for name in preactivation.STAGES},
    "table": tabular.table,
    "text-tfidf": tfidf.text_tfidf,
    "text-bag": text.text_bag,
    "text-transformer": text.text_transformer,
    **{name: partial(seq2seq.seq2seq, name=name) for name in ("seq2seq-256", *seq2seq.SIZES)},
    "efficientnet-lite0": efficientnet_lite0,
}
# networks whose features are the mean of their last feature map over its positions, at any size: see Network.has_map
WITH_MAP = (
    "alexnet-small",
    *(name for name, layout in cifar_resnet.STAGES.items() if layout.pooling == "global"),
    *preactivation.WIDE,
    *preactivation.STAGES,
    "efficientnet-lite0",
)
# torchvision normalises inside the ones that it fetches weights for
NORMALISING = ("torchvision:googlenet", "torchvision:inception_v3")
SKLEARN = "sklearn"
LIBRARIES: dict[str, Builder] = {
    "timm": from_timm,
    "torchvision": from_torchvision,
    "hf": _from_transformers,
    SKLEARN: estimators.from_sklearn,
}


def names() -> tuple[str, ...]:
    """Return all names; H and L are numbers, of ``mlp-500-500`` any others do, NAME is a name of the other library.

    Example:
        >>> names()[:3]
        ('linear', 'mlp-500-500', 'cnn-3-layer-0')
    """
    first, *rest = PLAIN
    open_ended = (*seq2seq.FORMS, *(f"{library}:NAME" for library in LIBRARIES))
    return (first, classic.DEFAULT, *rest, *open_ended, *PLUGINS.names())


@overload
def register_model(name: str) -> Callable[[Made], Made]: ...
@overload
def register_model(name: str, factory: Made) -> Made: ...
def register_model(name: str, factory: Made | None = None) -> Made | Callable[[Made], Made]:
    """Make a network of your own known by a name; used as ``register_model("mine")(factory)``, or as a decorator.

    Packages do without: an entry point of the group ``labelspace.models`` names the factory.

    Args:
        name: one that no other model has.
        factory: called as ``factory(input_shape, output_dim, **model_options)``; returns a module whose output has
            width ``output_dim``, or a pair ``(output, features)``.

    Example:
        >>> @register_model("flat")
        ... def flat(input_shape, output_dim):
        ...     return nn.Sequential(nn.Flatten(), nn.LazyLinear(output_dim))
        >>> "flat" in names()
        True
    """
    if factory is None:
        return lambda made: register_model(name, made)
    if not callable(factory) or isinstance(factory, nn.Module):
        expected = "a function (input_shape, output_dim) -> module"
        raise _checks.fail_type("register_model", "factory", expected, repr(factory))
    PLUGINS.add("register_model", name, factory)
    return factory


def model_name(model: object) -> str:
    """Return the name of a model that may be given as an object; objects get a name made of their content."""
    if isinstance(model, str):
        return model
    if is_estimator(model):
        check_scores("train", model)
        return PLUGINS.give("train", model, given.label(model))
    if not isinstance(model, nn.Module) and not callable(model):
        expected = "a name, a torch module, a function (input_shape, output_dim) -> module, or an estimator with fit"
        raise _checks.fail_type("train", "model", expected, repr(model))
    return PLUGINS.give("train", model, given.label(model))


def build(name: str, input_shape: Sequence[int], output_dim: int, **options: object) -> Built:
    """Build a model by its name; its weights depend on torch's global random state only.

    Args:
        name: one of ``names()``, with any widths in ``mlp-500-500`` and ``seq2seq-256`` and a real name for NAME.
        input_shape: the shape of one sample: ``(channels, height, width)`` for images, ``(numbers,)`` for tables and
            features, ``(length,)`` for token ids.
        output_dim: D, the width of the head: ``criterion.output_dim``.
        options: the model's own, for example ``vocabulary=20000`` of the text networks.

    Shape:
        a call takes ``(N, *input_shape)`` and returns output ``(N, D)`` and features ``(N, F)``, F its ``feature_dim``;
        networks for sequences take ``Sentences``.

    Example:
        >>> import torch
        >>> model = build("cnn-3-layer-2", (1, 28, 28), 10)
        >>> output, features = model(torch.zeros(5, 1, 28, 28))
        >>> output.shape, features.shape, model.feature_dim
        (torch.Size([5, 10]), torch.Size([5, 8]), 8)
    """
    builder = _builder(name)
    owner = f"models.build({name!r})"
    shape = sample_shape(owner, input_shape)
    width = _checks.whole(owner, "output_dim", output_dim, low=1)
    _check_options(owner, builder, options)
    return builder(shape, width, **options)


def rebuild(
    name: str,
    input_shape: Sequence[int],
    output_dim: int,
    architecture: Mapping[str, object] | None = None,
    **options: object,
) -> Built:
    """Build the model of a record, whose weights are in the record too: nothing else is read, and nothing fetched.

    Args:
        name: as for ``build``; one that names a folder is not looked for.
        input_shape: of one sample.
        output_dim: D, the width of the head.
        architecture: ``Network.architecture`` of the model that was recorded.
        options: as they were given to ``build``; ``pretrained`` and ``weights`` are passed over.

    Example:
        >>> rebuild("linear", (4,), 3).feature_dim
        4
    """
    kept = {option: value for option, value in options.items() if option not in OUTSIDE}
    if isinstance(name, str) and name.startswith("hf:"):
        owner = f"models.build({name!r})"
        width = _checks.whole(owner, "output_dim", output_dim, low=1)
        again = transformers_again if kept.get("targets") is None else encoder_decoder_again
        return again(name[3:], sample_shape(owner, input_shape), width, architecture, kept)
    said = (architecture or {}).get(ESTIMATOR)
    if said is not None and not is_fitted(name):  # one that was given in Python, and is whole in the record
        tokens = kept.get("vocabulary")
        return Fitted(None, str(said), tuple(input_shape), output_dim, tokens if isinstance(tokens, int) else None)
    if name == "efficientnet-lite0":
        kept["pretrained"] = False
    if name in NORMALISING and options.get("pretrained"):
        kept.setdefault("transform_input", True)
    return build(name, input_shape, output_dim, **kept)


def _builder(name: str) -> Builder:
    if not isinstance(name, str):
        raise _checks.fail_type("models.build", "name", "the name of a model", repr(name))
    library, colon, model = name.partition(":")
    if colon and library in LIBRARIES and model:
        return partial(LIBRARIES[library], model)
    if name in PLAIN:
        return PLAIN[name]
    if name == "mlp" or name.startswith("mlp-"):
        return partial(classic.mlp, widths=classic.parse_widths(name))
    if name.startswith("seq2seq-"):
        return partial(seq2seq.seq2seq, name=name)
    plugin = PLUGINS.find(name)
    if plugin is not None:
        make: Builder = estimators.from_object if is_estimator(plugin.content) else given.from_given
        return partial(make, plugin.content)
    if name.startswith("given-"):
        remedy = f"It was given in Python: labelspace.register_model({name!r})(factory) makes it known again."
        raise _checks.fail("models.build", "name", "the name of a model", repr(name), remedy)
    near = get_close_matches(name, names(), n=1)
    remedy = f"Did you mean {near[0]!r}?" if near else "See labelspace.models.names()."
    raise _checks.fail("models.build", "name", "the name of a model", repr(name), remedy)


def _is_ours(name: str) -> bool:
    return name in PLAIN or name in ("auto", "mlp") or name.startswith(("mlp-", "seq2seq-")) or ":" in name


def is_fitted(name: str) -> bool:
    """Return whether a name is that of an estimator, which is fitted, not trained by steps.

    Example:
        >>> is_fitted("sklearn:SVC"), is_fitted("mlp-16")
        (True, False)
    """
    if name.startswith(f"{SKLEARN}:"):
        return True
    plugin = None if _is_ours(name) else PLUGINS.find(name)
    return plugin is not None and is_estimator(plugin.content)


def _version(name: str) -> str:
    """Return which release of a library fits a model; empty for networks, whose code is torch's."""
    return estimators.sklearn_version() if name.startswith(f"{SKLEARN}:") else ""


PLUGINS = Plugins("labelspace.models", "model", _is_ours, _version)


def _check_options(owner: str, builder: Builder, options: Mapping[str, object]) -> None:
    parameters = inspect.signature(builder).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    fixed = builder.keywords if isinstance(builder, partial) else {}
    known = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY and one.name not in fixed]
    for option in options:
        if not known:
            raise _checks.fail(owner, "options", "left out: this model has none", f"{option!r}")
        _checks.choice(owner, "option name", option, known)

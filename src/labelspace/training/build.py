"""From a configuration to a dataset, a label space and a learner."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import _checks, _devices, _plugins, models
from labelspace.augment.named import Augment
from labelspace.compressed import fits
from labelspace.criteria import Criterion, criterion_class, make_criterion
from labelspace.data import chosen
from labelspace.data.dataset import Dataset
from labelspace.data.loading import loaded
from labelspace.learner import Learner
from labelspace.space import LabelSpace
from labelspace.spec.named import SpaceSpec, named
from labelspace.training import estimator
from labelspace.training.config import Config, generator, stream_seed
from labelspace.training.feed import Extracting, extract
from labelspace.training.noise import label_noise
from labelspace.training.preprocessed import Preprocessing


class Outline(NamedTuple):
    """What building a model needs to know of a dataset, without its samples."""

    names: tuple[str, ...]
    kind: str
    input_shape: tuple[int, ...]
    train_samples: int
    tokens: int | None  # how many token ids there are, for text
    target_length: int = 0  # tokens of the longest target, of sequences; not in a record
    # of a record: the configuration of its network, empty where its name says all. Nothing outside is then read
    recorded: Mapping[str, object] | None = None

    @classmethod
    def of(cls, dataset: Dataset) -> "Outline":
        """Return the outline of a dataset."""
        tokens = None if dataset.vocabulary is None else len(dataset.vocabulary)
        length = dataset.train.y.shape[1] if dataset.kind == "sequences" else 0
        return cls(dataset.names, dataset.kind, dataset.input_shape, len(dataset.train), tokens, length)

    @classmethod
    def stored(cls, facts: Preprocessing) -> "Outline":
        """Return the outline that a record holds."""
        shape = tuple(facts["input_shape"])
        recorded = facts.get("architecture") or {}
        known = (tuple(facts["names"]), facts["kind"], shape, facts["train_samples"], facts["tokens"])
        return cls(*known, recorded=recorded)


class Job(NamedTuple):
    """Everything one run needs: the configuration is complete (data and space digests filled in, no "auto")."""

    config: Config
    dataset: Dataset
    space: LabelSpace | None
    options: Mapping[str, LabelSpace] = {}  # of the criterion: those that are label spaces
    weights: Tensor | None = None  # of training samples, where they do not count alike


def prepare(
    config: Config,
    dataset: Dataset | None = None,
    space: SpaceSpec | None = None,
    options: Mapping[str, LabelSpace] | None = None,
    progress: Extracting | None = None,
) -> Job:
    """Read the data, build the space, and complete the configuration.

    Args:
        config: what was asked for.
        dataset: the data, where it cannot be had by name.
        space: the label space, where it cannot be had by name.
        options: those of the criterion that are label spaces in memory; others are read from where they are said to be.
        progress: told while features of a frozen network are computed.
    """
    config = placed(config)
    dataset = loaded(config.data, config.data_options) if dataset is None else dataset
    _check_choice(config, dataset)
    return completed(*trained_on(config, dataset, progress), space, options)


def placed(config: Config) -> Config:
    """Return a configuration of a known method with the one name of its device; others are refused."""
    criterion_class(config.method)  # an unknown method is refused before anything is read
    return config.model_copy(update={"device": _device(config)})


def trained_on(config: Config, dataset: Dataset, progress: Extracting | None = None) -> tuple[Config, Dataset]:
    """Return the data as they are trained on, and the configuration with what that says of them filled in.

    Args:
        config: what was asked for.
        dataset: all of it.
        progress: told while features of a frozen network are computed.
    """
    found = {}
    if config.limit is not None:
        found["limit"] = chosen.count(config.limit, len(dataset.train))
        dataset = dataset.limit(config.limit)
    if config.backbone is not None:
        dataset = extract(dataset, models.backbone(config.backbone), progress)
    options = chosen.plain(config.data_options, dataset.names)
    return config.model_copy(update={**found, "data_key": dataset.key, "data_options": options}), dataset


def completed(
    config: Config,
    dataset: Dataset,
    space: SpaceSpec | None = None,
    options: Mapping[str, LabelSpace] | None = None,
) -> Job:
    """Build the space and complete a configuration whose data are known; see ``prepare``.

    Args:
        config: from ``trained_on``.
        dataset: from ``trained_on``.
        space: the label space, where it cannot be had by name.
        options: those of the criterion that are label spaces in memory.
    """
    given = config.space if space is None else space
    space = given if given is None or isinstance(given, LabelSpace) else _named_space(given, config, dataset)
    if space is not None and space.names != dataset.names:
        _checks.known_names("train", "space", dataset.names, space.names)
        space = space.subset(dataset.names)
    if dataset.kind == "sequences" and config.label_noise is not None:
        raise _checks.fail("train", "label_noise", "left out for sequences", repr(config.label_noise))
    model = automatic_model(dataset) if config.model == "auto" else config.model
    if models.is_fitted(model):
        config = estimator.configured(config, dataset.kind)
    found = option_spaces(config, dataset, options)
    filled = {
        "space_key": "" if space is None else _digest(space),
        "option_keys": {name: _digest(each) for name, each in found.items()},
        "code_key": _plugins.code_key(config.parts()),
        "teacher_key": "" if config.teacher is None else teacher_digest(config.teacher),
        "model": model,
        # one way to write each, so that equal runs have equal keys
        "augment": Augment.parse(config.augment, dataset.kind).specs,
        "label_noise": None if config.label_noise is None else label_noise(config.label_noise).spec,
    }
    return Job(config.model_copy(update=filled), dataset, space, found)


def _device(config: Config) -> str:
    """Return the one name of the device that is asked for, where it is here and can do what is asked of it."""
    device = _devices.resolved("train", config.device)
    _devices.check_precision("train", config.precision, device)
    if config.world > 1 and device not in ("cpu", "cuda"):
        expected = "'cpu' or 'cuda' for several ranks, each of which takes its own"
        raise _checks.fail("train", "device", expected, repr(device))
    return device


def _check_choice(config: Config, dataset: Dataset) -> None:
    """Refuse a choice among epochs where there is nothing to choose by: test data are never asked."""
    if config.best_by == "calibrated" and dataset.kind == "sequences":
        raise _checks.fail("train", "best_by", "'last', 'nll' or 'error' for pairs of texts", repr(config.best_by))
    if config.best_by == "last" or len(dataset.validation):
        return
    argument = "best_by" if config.patience is None else "patience"
    got = f"{getattr(config, argument)!r} with no validation samples to go by"
    remedy = "Leave it out to keep the last epoch; test data are never used for choices."
    raise _checks.fail("train", argument, "given with a validation part", got, remedy)


def option_spaces(
    config: Config, dataset: Dataset, given: Mapping[str, LabelSpace] | None = None
) -> dict[str, LabelSpace]:
    """Return the criterion's options that are label spaces, for the classes of the data.

    Args:
        config: what was asked for.
        dataset: the data.
        given: those that are in memory; others are read from where they are said to be.
    """
    found = {}
    for name in criterion_class(config.method).space_options:
        spec = (given or {}).get(name, config.method_options.get(name))
        if spec is None:
            continue
        try:
            found[name] = _named_space(spec if isinstance(spec, LabelSpace) else str(spec), config, dataset)
        except _checks.InputError as error:
            raise error.about(argument=name) from error  # a space that goes by the name of the option here
    return found


def _named_space(spec: SpaceSpec, config: Config, dataset: Dataset) -> LabelSpace:
    if str(spec) != "lda":
        return named(spec, dataset.names, among=dataset.source.get("all_names"))
    if dataset.kind == "sequences":
        raise _checks.fail("train", "space", "one that needs no samples, for sequences", repr(spec))
    # from the labels that are trained on: a space that knew the clean ones would leak them
    y = training_labels(Job(config, dataset, None))
    return named("lda", dataset.names, dataset.normalize(dataset.train.x), y)


def teacher_digest(folder: str) -> str:
    """Return a digest of a teacher's weights: another teacher at the same place is another run."""
    weights = Path(folder) / "model.safetensors"
    if not weights.is_file():
        remedy = "Train it with out=… (--out) and give the folder that it names."
        raise _checks.fail("train", "teacher", "the folder of a finished run", repr(folder), remedy)
    return hashlib.blake2b(weights.read_bytes(), digest_size=8).hexdigest()


def make_learner(
    config: Config, outline: Outline, space: LabelSpace | None, options: Mapping[str, LabelSpace] | None = None
) -> Learner:
    """Build criterion and model; their start depends on two streams of the seed alone.

    Labels that draw have a stream of their own: a model starts alike whatever the method.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stream_seed(config.seed, "labels"))
        criterion = _criterion(config, outline, space, options or {})
        torch.manual_seed(stream_seed(config.seed, "initialisation"))
        model = _model(config, outline, criterion.output_dim)
    if criterion.dense_features and not model.has_map(outline.input_shape):
        expected = f"a network with a last feature map that it averages, for dense votes of {config.method}"
        known = ", ".join(models.WITH_MAP)
        remedy = f"Choose one of {known}, or a residual network with pooling='global', or leave out dense votes."
        raise _checks.fail("train", "model", expected, repr(config.model), remedy)
    if isinstance(model, models.Fitted):
        estimator.check_method(config)
    if "features" in criterion.needs:
        _feature_dim(config, model)
    if outline.kind == "sequences":
        _check_sequences(config, criterion)
        longest = getattr(model, "longest", models.Longest())
        longest.check("train", "model", outline.input_shape[0], outline.target_length)
    learner = Learner(model, criterion)
    if config.channels_last:
        learner.model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return learner.double() if config.precision == "float64" else learner


def _check_sequences(config: Config, criterion: Criterion) -> None:
    """Refuse a method that cannot be trained on pairs of texts, and a search that is wider than there are tokens."""
    if "index" in criterion.needs:
        expected, remedy = "one that remembers nothing of single samples, for sequences", "A text has many labels."
        raise _checks.fail("train", "method", expected, repr(config.method), remedy)
    count = len(criterion.names)
    held = [*criterion.state_dict().values(), *criterion.statistics.sums.values()]
    if not fits(count) and any(tensor.shape[-2:] == (count, count) for tensor in held):
        expected = f"one whose labels of {count:,} tokens fit"
        got = f"{config.method!r}, which holds a number for every pair of them"
        raise _checks.fail("train", "method", expected, got, "Give it rank=100 (lls, labelemb), or take another.")
    if config.beam > count:
        expected = f"at most the number of tokens, {count}"
        raise _checks.fail("train", "beam", expected, config.beam)


def training_labels(job: Job) -> Tensor:
    """Return the labels to train on, with the noise that the configuration asks for."""
    y = job.dataset.train.y
    if job.config.label_noise is None:
        return y
    noise = label_noise(job.config.label_noise)
    noisy, _ = noise(y, len(job.dataset.names), generator=generator(job.config.seed, "noise"))
    return noisy


def automatic_model(dataset: Dataset) -> str:
    """Return a sensible small model for the shape of the data."""
    if dataset.kind == "sequences":
        return "seq2seq-256"
    if dataset.kind == "text":
        return "text-tfidf"
    if dataset.kind != "images":
        # measured on columns as people have them, not on what a frozen network made
        return "table" if len(dataset.input_shape) == 1 and "backbone" not in dataset.source else "mlp-128"
    channels, height, width = dataset.input_shape
    if min(height, width) < 16:
        return "mlp-128"
    return "lenet" if channels == 1 else "resnet8-small"


def _criterion(
    config: Config, outline: Outline, space: LabelSpace | None, options: Mapping[str, LabelSpace]
) -> Criterion:
    kind = criterion_class(config.method)
    known: dict[str, object] = {"samples": outline.train_samples, "epochs": config.epochs}
    if "in_features" in kind.engine_supplies:
        try:
            with torch.device("meta"):
                model = _model(config, outline, len(outline.names))
        except (NotImplementedError, RuntimeError):  # a network that looks at numbers
            model = _model(config, outline, len(outline.names))
        known["in_features"] = _feature_dim(config, model)
    found = {name: known[name] for name in kind.engine_supplies}
    labels = outline.names if space is None else space
    chosen = {**kind.engine_options, **found, **config.method_options, **options}
    return make_criterion(config.method, labels, **chosen)


def _feature_dim(config: Config, model: models.Built) -> int:
    if model.feature_dim is None:
        expected = f"a network that returns (output, features) or has a linear layer, for {config.method}"
        raise _checks.fail("train", "model", expected, repr(config.model))
    return model.feature_dim


def _model(config: Config, outline: Outline, width: int) -> models.Built:
    options = dict(config.model_options)
    if outline.tokens is not None:
        options.setdefault("vocabulary", outline.tokens)
    if outline.kind == "sequences":
        if not config.model.startswith(models.WRITERS):
            remedy = "Choose a name like seq2seq-256."
            raise _checks.fail("train", "model", "one that reads and writes texts", repr(config.model), remedy)
        options["targets"] = len(outline.names)
    if outline.recorded is not None:
        return models.rebuild(config.model, outline.input_shape, width, outline.recorded, **options)
    return models.build(config.model, outline.input_shape, width, **options)


def _digest(space: LabelSpace) -> str:
    # vectors turn into relations by the temperature in their source
    seen: tuple[object, ...] = (space.names, space.kind, space.source.get("temperature"))
    if space.rule is not None:
        seen = (*seen, space.rule.form, space.rule.facts())
    content = repr(seen).encode() + b"".join(part.numpy().tobytes() for part in space.tensors.values())
    return hashlib.blake2b(content, digest_size=8).hexdigest()

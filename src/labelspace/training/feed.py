"""What goes into a model and what comes out: batches, features of frozen networks, scores and their two numbers."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from labelspace import _checks, _devices, _distributed
from labelspace.data import digests, pieces
from labelspace.data.columns import Encoding
from labelspace.data.dataset import Dataset, Split
from labelspace.data.normalize import statistics
from labelspace.data.source import Raw, ReaderOptions, Source
from labelspace.decisions.calibration import calibrated_nll
from labelspace.learner import Learner
from labelspace.models.backbones import Backbone
from labelspace.models.sentences import Longest
from labelspace.training.config import Config
from labelspace.training.preprocessed import InputFacts, Preprocessing, within
from labelspace.training.ranges import ranges_of

EXTRACTED = 64  # samples that a frozen network reads at a time, and whose features are kept at a time: seconds of work
BATCH = 1024  # samples that a trained one does
HALF = {"bfloat16": torch.bfloat16, "float16": torch.float16}
IN_MEMORY = 2**30  # bytes; above that, samples are normalised batch by batch
ON_DEVICE = 0.25  # of what a device has left: samples that take no more go there whole


Extracting = Callable[[int, int], None]  # told how many samples a frozen network has read, and of how many


def preprocessing_of(dataset: Dataset, model: nn.Module) -> Preprocessing:
    """Return what a record must hold to build the model again and to prepare its samples."""
    scales = dataset.normalize.plain()
    facts: Preprocessing = {
        "kind": dataset.kind,
        "names": list(dataset.names),
        "input_shape": list(dataset.input_shape),
        "mean": scales["mean"],
        "std": scales["std"],
        "train_samples": len(dataset.train),
        "tokens": None if dataset.vocabulary is None else len(dataset.vocabulary),
        "vocabulary": None if dataset.vocabulary is None else list(dataset.vocabulary),
        "input": _described(dataset),
    }
    if dataset.kind == "sequences":
        longest = getattr(model, "longest", Longest())
        facts["vocabularies"] = dataset.source["vocabularies"]
        facts["limits"] = within(dataset.source["limits"], longest)
    if (ranges := ranges_of(dataset)) is not None:
        facts["ranges"] = ranges
    # the configuration of a network whose name does not say all, so that its record can do without a folder
    architecture = getattr(model, "architecture", None)
    return facts if architecture is None else {**facts, "architecture": dict(architecture)}


def _described(dataset: Dataset) -> InputFacts:
    """Return what a record must hold so that a run can take raw samples, as plain JSON data."""
    source = dataset.source
    options = source.get("options", ReaderOptions())
    # what a frozen network read, where the dataset holds its features
    given = None if "backbone" in source else dataset.kind
    raw = source.get("raw", Raw(kind=given, shape=None))
    shape = raw["shape"] or (None if "backbone" in source else list(dataset.input_shape))
    size = options.get("resize")
    if raw["kind"] is None and size is not None:
        shape = [3, *size]
    encoding = source.get("encoding")
    # parts may have been replaced since the table was read
    fits = encoding is not None and list(dataset.input_shape) == [len(Encoding.stored(encoding).features)]
    return {
        "kind": raw["kind"],
        "shape": shape,
        "resized": size is not None or source.get("reader") == "tiny_imagenet",
        "encoding": encoding if fits else None,
        "missing": options.get("missing", "error"),
        "text": options.get("text"),
    }


class Pairs(Protocol):
    """Samples by their rows, as a model reads them, with their labels."""

    def __len__(self) -> int:
        """Return the number of samples."""

    def pair(self, rows: Tensor, y: Tensor) -> tuple[object, Tensor]:
        """Return a batch as the model reads it, and its labels, both on the device."""


class Feed:
    """One part of a dataset, ready to be indexed.

    Args:
        split: the samples.
        dataset: whose normalisation applies.
        config: precision, memory format, and the device that batches come to; labels stay on the CPU.
    """

    def __init__(self, split: Split, dataset: Dataset, config: Config) -> None:
        """Normalise everything at once where it fits into memory."""
        self.split, self.dataset = split, dataset
        self.dtype = torch.float64 if config.precision == "float64" else torch.float32
        self.channels_last = config.channels_last and split.x.ndim == 4
        self.device = _devices.placed(config.device)
        self.y = split.y
        small = split.x.numel() * 4 <= IN_MEMORY
        self.ready = self._normalised(split.x) if small else None
        if self.ready is not None and self.ready.nbytes <= ON_DEVICE * _devices.free_memory(self.device):
            self.ready = self.ready.to(self.device)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.y)

    def known(self) -> dict[str, Tensor]:
        """Return what a record keeps of each sample beside its scores: its class, and what its prices are times."""
        factors = self.split.factors
        return {"y": self.y.clone()} | ({} if factors is None else {"factors": factors.clone()})

    def count(self, rows: Tensor) -> int:
        """Return how many labels so many samples have: one each."""
        return len(rows)

    def epoch(self, size: int, draws: torch.Generator) -> list[Tensor]:
        """Return the batches of an epoch, in a random order."""
        return in_batches(torch.randperm(len(self), generator=draws), size)

    def pair(self, rows: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return a batch as the model reads it, and its labels, both on the device."""
        return self.take(rows), _devices.moved(y, self.device)

    def take(self, rows: Tensor) -> Tensor:
        """Return a batch as the model reads it, on the device."""
        if self.ready is None:
            return _devices.moved(self._normalised(self.split.x[rows]), self.device)
        return _devices.moved(self.ready[_devices.moved(rows, self.ready.device)], self.device)

    def batches(self, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield all samples in order."""
        for rows in torch.split(torch.arange(len(self)), size):
            yield self.take(rows), self.y[rows]

    def _normalised(self, x: Tensor) -> Tensor:
        batch = self.dataset.normalize(x)
        if not batch.is_floating_point():
            return batch
        batch = batch.to(self.dtype)
        return batch.contiguous(memory_format=torch.channels_last) if self.channels_last else batch


def in_batches(order: Tensor, size: int) -> list[Tensor]:
    """Return the samples of an epoch, in their last axis, in batches."""
    batches = list(torch.split(order, size, dim=-1))
    if len(batches) > 1 and batches[-1].shape[-1] == 1:
        # one sample alone has no batch statistics: it joins the batch before it
        batches[-2:] = [torch.cat(batches[-2:], dim=-1)]
    return batches


def extract(dataset: Dataset, backbone: Backbone, progress: Extracting | None = None) -> Dataset:
    """Return the dataset with the features of a frozen backbone in the place of its samples.

    Features are cached by the content of the data and of the weights, and memory-mapped. What a killed process has
    computed is kept, and the next one goes on from there.

    Args:
        dataset: images, or texts, as the backbone reads.
        backbone: from ``labelspace.models.backbone(name)``.
        progress: told every few seconds while features are computed.
    """
    if dataset.kind != backbone.kind:
        expected = f"of kind {backbone.kind!r}, which this backbone reads"
        raise _checks.fail("extract", "dataset", expected, repr(dataset.kind))
    filled = {name: split for name, split in dataset.parts.items() if len(split)}
    total, before = sum(map(len, filled.values())), 0
    parts = {}
    for name, split in filled.items():
        told = None if progress is None else partial(_told, progress, before, total)
        parts[name] = _features(split, backbone, f"{dataset.key}/{name}", told)
        before += len(split)
    for name in dataset.parts.keys() - filled.keys():
        parts[name] = replace(dataset.parts[name], x=parts["train"].x[:0], text=None)
    key = digests.of_values(dataset.key, backbone.key)
    raw: Raw = {"kind": dataset.kind, "shape": list(dataset.input_shape)}
    source: Source = {**dataset.source, "backbone": backbone.key, "raw": raw}
    normalize = statistics(parts["train"].x, "features")
    return Dataset(
        train=parts["train"],
        validation=parts["validation"],
        test=parts["test"],
        names=dataset.names,
        kind="features",
        source=source,
        normalize=normalize,
        key=key,
    )


def _told(progress: Extracting, before: int, total: int, done: int) -> None:
    progress(before + done, total)


def _features(split: Split, backbone: Backbone, name: str, told: pieces.Progress | None) -> Split:
    samples = split.x if split.text is None else split.text

    def compute(start: int, end: int) -> digests.Array:
        return backbone.extract(backbone.prepare(samples[start:end])).numpy()

    key = digests.of_values(name, backbone.key)
    entry = pieces.fetch(key, len(split), EXTRACTED, compute, told or (lambda done: None))
    return replace(split, x=torch.from_numpy(entry.rows), text=None)


@torch.no_grad()
def scores_of(learner: Learner, feed: Feed, config: Config) -> Tensor:
    """Return ``(N, K)`` scores in float32 or better, on the CPU."""
    if not len(feed):
        return torch.zeros(0, len(learner.criterion.names))
    learner.eval()
    with autocast(config, feed.device):
        found = [learner(x).cpu() for x, _ in feed.batches(BATCH)]
    learner.train()
    return torch.cat(found)


def autocast(config: Config, device: torch.device) -> torch.autocast:
    """Return the context in which a run's model computes; a CPU takes float32 for a run that was trained in float16."""
    enabled = config.precision in HALF and not (config.precision == "float16" and device.type == "cpu")
    return torch.autocast(device.type, dtype=HALF.get(config.precision, torch.bfloat16), enabled=enabled)


@torch.no_grad()
def fit_labels(learner: Learner, feed: Pairs, y: Tensor) -> None:
    """Let a method that wants it see all training outputs, with the labels it trains on, before it is judged."""
    if not learner.criterion.full_pass:
        return
    learner.eval()
    # every rank brings its own share; the criterion adds them up
    shares = torch.split(torch.arange(_distributed.rank(), len(feed), _distributed.world_size()), BATCH)
    batches = (feed.pair(rows, y[rows]) for rows in shares)
    learner.criterion.fit_labels((output_of(learner.model, x), labels) for x, labels in batches)
    learner.train()


def output_of(model: nn.Module, x: object) -> Tensor:
    """Return a model's output without its features."""
    result = model(x)
    output = result[0] if isinstance(result, tuple) else result
    assert isinstance(output, Tensor)
    return output


def summary(scores: Tensor, y: Tensor) -> dict[str, float]:
    """Return accuracy and negative log-likelihood of softmax(scores); nothing where there are no samples."""
    if not len(y):
        return {}
    return {
        "accuracy": (scores.argmax(dim=1) == y).double().mean().item(),
        "nll": cross_entropy(scores.double(), y).item(),
    }


def to_minimise(summaries: Sequence[dict[str, float]], best_by: str, scores: Tensor, y: Tensor) -> list[float]:
    """Return the numbers by which one epoch is better than another: the smaller the better.

    Args:
        summaries: of the validation samples, of one model or of several.
        best_by: as the configuration says.
        scores: ``(models, N, K)``, which they are the summaries of; looked at only where temperatures are to be fitted.
        y: ``(N,)``, their classes.

    Example:
        >>> nothing = torch.zeros(1, 0, 2), torch.zeros(0, dtype=torch.int64)
        >>> to_minimise([{"accuracy": 0.75, "nll": 1.5}], "error", *nothing)
        [0.25]
    """
    if best_by == "error":
        return [1 - summary["accuracy"] for summary in summaries]
    plain = [summary["nll"] for summary in summaries]
    found = calibrated_nll(scores, y).tolist() if best_by == "calibrated" else plain
    # scores of −inf have no temperature
    return [value if math.isfinite(value) else other for value, other in zip(found, plain, strict=True)]

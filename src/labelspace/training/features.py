"""Frozen backbones: features are extracted once, cached, and heads are trained on them."""

from dataclasses import replace

import numpy as np
import torch

from labelspace import _checks
from labelspace.data import cache, digests
from labelspace.data.dataset import Dataset, Split
from labelspace.data.normalize import statistics
from labelspace.models.backbones import Backbone

BATCH = 64


def extract(dataset: Dataset, backbone: Backbone) -> Dataset:
    """Return the dataset with the features of a frozen backbone in the place of its samples.

    Features are cached by the content of the data and of the weights, and memory-mapped.

    Args:
        dataset: images, or texts, as the backbone reads.
        backbone: from ``labelspace.models.backbone(name)``.
    """
    if dataset.kind != backbone.kind:
        expected = f"of kind {backbone.kind!r}, which this backbone reads"
        raise _checks.fail("extract", "dataset", expected, repr(dataset.kind))
    filled = {name: split for name, split in dataset.parts.items() if len(split)}
    parts = {name: _features(split, backbone, f"{dataset.key}/{name}") for name, split in filled.items()}
    for name in dataset.parts.keys() - filled.keys():
        parts[name] = replace(dataset.parts[name], x=parts["train"].x[:0], text=None)
    key = digests.of_values(dataset.key, backbone.key)
    raw = {"kind": dataset.kind, "shape": list(dataset.input_shape)}
    source = {**dataset.source, "backbone": backbone.key, "raw": raw}
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


def _features(split: Split, backbone: Backbone, name: str) -> Split:
    samples = split.x if split.text is None else split.text

    def blocks() -> cache.Blocks:
        for start in range(0, len(split), BATCH):
            found = backbone.extract(backbone.prepare(samples[start : start + BATCH])).numpy()
            yield found, np.ones(len(found), dtype=np.bool_)

    entry = cache.fetch(digests.of_values(name, backbone.key), blocks)
    return replace(split, x=torch.from_numpy(entry.rows), text=None)

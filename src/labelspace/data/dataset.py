"""Dataset: three parts of labelled samples, their class names, and where they came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.data import chosen, splits
from labelspace.data.digests import Digests, of_values
from labelspace.data.normalise import Normalise, statistics

Kind = Literal["images", "table", "text", "features"]
PARTS = ("train", "validation", "test")


@dataclass(frozen=True, eq=False)
class Split:
    """One part of a dataset.

    Args:
        x: samples ``(N, …)``: uint8 images ``(N, C, H, W)``, float32 columns, or int64 token ids ``(N, length)``.
        y: class indices ``(N,)``, int64.
        groups: group codes ``(N,)``, int64, or None.
        text: the texts before they became token ids, or None.
        digests: a fingerprint per row, by which the same content is found in two parts.
    """

    x: Tensor
    y: Tensor
    groups: Tensor | None = None
    text: tuple[str, ...] | None = None
    digests: Digests | None = field(default=None, repr=False)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.y)

    def take(self, rows: Tensor) -> "Split":
        """Return some of the samples, in the order of ``rows``."""
        groups = None if self.groups is None else self.groups[rows]
        text = None if self.text is None else tuple(self.text[row] for row in rows.tolist())
        found = None if self.digests is None else self.digests[rows.numpy()]
        return Split(self.x[rows], self.y[rows], groups, text, found)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled samples in three parts; no statistic in here has seen the validation or the test part.

    Args:
        train: what models learn from.
        validation: what choices are made on; without samples where everything is trained on.
        test: what is measured once, at the end.
        names: class names in the order of class indices.
        kind: ``"images"``, ``"table"``, ``"text"`` or ``"features"``.
        source: where the data came from, as plain JSON data.
        normalise: turns a batch of ``x`` into what a model reads.
        key: a digest of content and split, for the keys of runs.
        vocabulary: the token of every id, for text.

    Example:
        >>> from labelspace import data
        >>> digits = data.load("digits")
        >>> digits
        Dataset(images 1×8×8, 10 classes: 800 train, 300 validation, 697 test)
        >>> digits.normalise(digits.train.x[:2]).dtype
        torch.float32
    """

    train: Split
    validation: Split
    test: Split
    names: tuple[str, ...]
    kind: Kind
    source: Mapping[str, Any]
    normalise: Normalise
    key: str
    vocabulary: tuple[str, ...] | None = None

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one sample."""
        return tuple(self.train.x.shape[1:])

    @property
    def parts(self) -> dict[str, Split]:
        """The three parts by name, in their order."""
        return {"train": self.train, "validation": self.validation, "test": self.test}

    def __repr__(self) -> str:
        """Return one line: what it is and how much of it."""
        shape = "×".join(str(size) for size in self.input_shape)
        counts = ", ".join(f"{len(part)} {name}" for name, part in self.parts.items())
        return f"Dataset({self.kind} {shape}, {len(self.names)} classes: {counts})"

    def limit(self, count: int | str, seed: int = 0) -> "Dataset":
        """Return the dataset with at most ``count`` training samples, class proportions kept.

        The statistics of ``normalise`` are taken again, of the samples that are left; for text the vocabulary stays.

        Args:
            count: how many training samples to keep, at least one per class; or a share of them, such as ``50%``.
            seed: which ones.

        Example:
            >>> from labelspace import data
            >>> len(data.load("digits").limit(100).train)
            100
        """
        count = _checks.whole("Dataset.limit", "count", chosen.count(count, len(self.train)), low=len(self.names))
        _checks.whole("Dataset.limit", "seed", seed)
        if count >= len(self.train):
            return self
        rows = splits.subset(self.train.y.numpy(), count, seed)
        train = self.train.take(torch.from_numpy(rows))
        counts = {**self.source.get("counts", {}), "train": count}
        source = {**self.source, "counts": counts, "limit": {"count": count, "seed": seed}}
        key = of_values(self.key, rows)
        return replace(self, train=train, source=source, key=key, normalise=statistics(train.x, self.kind))

"""Dataset: three parts of labelled samples, their class names and origin; some of its classes; what parts share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from labelspace import _checks
from labelspace.data import chosen, splits
from labelspace.data.digests import Digests, of_values
from labelspace.data.files import OWNER
from labelspace.data.normalize import Normalize, statistics
from labelspace.data.source import Kind, Source

PARTS = ("train", "validation", "test")


@dataclass(frozen=True, eq=False)
class Split:
    """One part of a dataset.

    Args:
        x: samples ``(N, …)``: uint8 images ``(N, C, H, W)``, float32 columns, or int64 token ids ``(N, length)``.
        y: class indices ``(N,)``, int64; of sequences the token ids of the target ``(N, length)``, −100 after its end.
        groups: group codes ``(N,)``, int64, or None.
        text: the texts before they became token ids, or None.
        digests: a fingerprint per row, by which the same content is found in two parts.
        answers: the target texts of sequences, or None.
        factors: what the prices of each sample are multiplied by, float64, or None.
    """

    x: Tensor
    y: Tensor
    groups: Tensor | None = None
    text: tuple[str, ...] | None = None
    digests: Digests | None = field(default=None, repr=False)
    answers: tuple[str, ...] | None = None
    factors: Tensor | None = None

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.y)

    def take(self, rows: Tensor) -> "Split":
        """Return some of the samples, in the order of ``rows``."""
        groups, factors = (None if each is None else each[rows] for each in (self.groups, self.factors))
        text, answers = (
            None if texts is None else tuple(texts[row] for row in rows.tolist()) for texts in (self.text, self.answers)
        )
        found = None if self.digests is None else self.digests[rows.numpy()]
        return Split(self.x[rows], self.y[rows], groups, text, found, answers, factors)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled samples in three parts; no statistic in here has seen the validation or the test part.

    Args:
        train: what models learn from.
        validation: what choices are made on; without samples where everything is trained on.
        test: what is measured once, at the end.
        names: class names in the order of class indices; of sequences the tokens of the target.
        kind: ``"images"``, ``"table"``, ``"text"``, ``"features"`` or ``"sequences"``.
        source: where the data came from, as plain JSON data.
        normalize: turns a batch of ``x`` into what a model reads.
        key: a digest of content and split, for the keys of runs.
        vocabulary: the token of every id, for text and the source of sequences.

    Example:
        >>> from labelspace import data
        >>> digits = data.load("digits")
        >>> digits
        Dataset(images 1×8×8, 10 classes: 800 train, 300 validation, 697 test)
        >>> digits.normalize(digits.train.x[:2]).dtype
        torch.float32
    """

    train: Split
    validation: Split
    test: Split
    names: tuple[str, ...]
    kind: Kind
    source: Source
    normalize: Normalize
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
        counts = ", ".join(f"{len(part)} {name}" for name, part in self.parts.items())
        if self.kind == "sequences":
            languages = "→".join(self.source.get("languages", ("source", "target")))
            sizes = f"{len(self.vocabulary or ())} → {len(self.names)} tokens"
            return f"Dataset(sequences {languages}, {sizes}: {counts})"
        shape = "×".join(str(size) for size in self.input_shape)
        return f"Dataset({self.kind} {shape}, {len(self.names)} classes: {counts})"

    def limit(self, count: int | str, seed: int = 0) -> "Dataset":
        """Return the dataset with at most ``count`` training samples, class proportions kept.

        The statistics of ``normalize`` are taken again, of the samples that are left; vocabularies stay.

        Args:
            count: how many training samples to keep, at least one per class (of sequences, one); or a share of them,
                such as ``50%``.
            seed: which ones.

        Example:
            >>> from labelspace import data
            >>> len(data.load("digits").limit(100).train)
            100
        """
        y = self.train.y.numpy()
        if self.kind == "sequences":
            y = np.zeros(len(y), dtype=np.int64)  # no classes whose proportions could be kept
        low = 1 if self.kind == "sequences" else len(self.names)
        count = _checks.whole("Dataset.limit", "count", chosen.count(count, len(self.train)), low=low)
        _checks.whole("Dataset.limit", "seed", seed)
        if count >= len(self.train):
            return self
        rows = splits.subset(y, count, seed)
        train = self.train.take(torch.from_numpy(rows))
        counts = {**self.source.get("counts", {}), "train": count}
        source: Source = {**self.source, "counts": counts, "limit": {"count": count, "seed": seed}}
        key = of_values(self.key, rows)
        return replace(self, train=train, source=source, key=key, normalize=statistics(train.x, self.kind))


def of_classes(dataset: Dataset, classes: object) -> Dataset:
    """Return the samples of some classes, in all parts, with labels in the order given.

    Parts stay what they are: no sample of the test part gets into training, so what was learned from all classes
    (a label space, a teacher) can be used on some of them. The statistics of ``normalize`` are taken again; how tables
    and texts are encoded stays.

    Args:
        dataset: with all classes.
        classes: names; or one text: ``cat,dog`` (quotation marks keep a comma), ``first 5``, ``last 50%``.

    Example:
        >>> from labelspace import data
        >>> of_classes(data.load("digits"), ["7", "1"])
        Dataset(images 1×8×8, 2 classes: 161 train, 60 validation, 140 test)
    """
    if dataset.kind == "sequences":
        remedy = "Their classes are the tokens of the target: a smaller vocabulary is asked for when they are read."
        raise _checks.fail(OWNER, "classes", "left out for pairs of texts", repr(classes), remedy)
    names = chosen.classes(classes, dataset.names)
    if names == dataset.names:
        return dataset
    code = torch.full((len(dataset.names),), -1)
    code[[dataset.names.index(name) for name in names]] = torch.arange(len(names))
    parts = {name: _relabelled(part, code) for name, part in dataset.parts.items()}
    _check_samples(parts, names)
    leaks = leaks_between(parts)
    source: Source = {
        **dataset.source,
        "names": list(names),
        # a space or prices may have been written for all of them
        "all_names": list(dataset.source.get("all_names", dataset.names)),
        "counts": {name: len(part) for name, part in parts.items()},
    }
    source.pop("leakage", None)
    if leaks:
        source["leakage"] = leaks
    return replace(
        dataset,
        train=parts["train"],
        validation=parts["validation"],
        test=parts["test"],
        names=names,
        source=source,
        key=of_values(dataset.key, list(names)),
        normalize=statistics(parts["train"].x, dataset.kind),
    )


def leaks_between(parts: Mapping[str, Split]) -> dict[str, dict[str, int]]:
    """Return how many rows and groups of a held-out part are in an earlier part too; empty if none.

    The validation part is compared with training, the test part with both: a choice made on test samples is a leak
    as well.

    Args:
        parts: the parts by name, in the order train, validation, test.

    Example:
        >>> from labelspace import data
        >>> leaks_between(data.load("digits").parts)
        {}
    """
    leaks: dict[str, dict[str, int]] = {}
    earlier: list[Split] = []
    for name, part in parts.items():
        counts = {"rows": _shared_rows(earlier, part), "groups": _shared_groups(earlier, part)}
        found = {what: count for what, count in counts.items() if count}
        if found:
            leaks[name] = {**found, "of": len(part)}
        earlier.append(part)
    return leaks


def repeated_rows(part: Split) -> int:
    """Return how many rows of a part repeat an earlier row of it."""
    return 0 if part.digests is None else len(part.digests) - len(np.unique(part.digests))


def _relabelled(part: Split, code: Tensor) -> Split:
    y = code[part.y]
    kept = (y >= 0).nonzero().flatten()
    return replace(part.take(kept), y=y[kept])


def _check_samples(parts: Mapping[str, Split], names: Sequence[str]) -> None:
    absent = torch.bincount(parts["train"].y, minlength=len(names)) == 0
    if bool(absent.any()):
        got = f"none of {names[int(absent.nonzero()[0])]!r}"
        raise _checks.fail(OWNER, "classes", "classes with training samples", got)
    if not len(parts["test"]):
        raise _checks.fail(OWNER, "classes", "classes with test samples", f"none of {names[0]!r} or another")


def _shared_rows(earlier: Sequence[Split], part: Split) -> int:
    known = [other.digests for other in earlier if other.digests is not None]
    return int(np.isin(part.digests, np.concatenate(known)).sum()) if known and part.digests is not None else 0


def _shared_groups(earlier: Sequence[Split], part: Split) -> int:
    known = [other.groups.numpy() for other in earlier if other.groups is not None]
    return len(np.intersect1d(part.groups.numpy(), np.concatenate(known))) if known and part.groups is not None else 0

"""The dataset of some classes of a dataset."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.data import chosen, leakage
from labelspace.data.dataset import Dataset, Split
from labelspace.data.digests import of_values
from labelspace.data.normalise import statistics


def of_classes(dataset: Dataset, classes: str | Sequence[str]) -> Dataset:
    """Return the samples of some classes, in all parts, with labels in the order given.

    Parts stay what they are: no sample of the test part gets into training, so what was learned from all classes
    (a label space, a teacher) can be used on some of them. The statistics of ``normalise`` are taken again; how tables
    and texts are encoded stays.

    Args:
        dataset: with all classes.
        classes: names; or one text: ``cat,dog`` (quotation marks keep a comma), ``first 5``, ``last 50%``.

    Example:
        >>> from labelspace import data
        >>> of_classes(data.load("digits"), ["7", "1"])
        Dataset(images 1×8×8, 2 classes: 161 train, 60 validation, 140 test)
    """
    names = chosen.classes(classes, dataset.names)
    if names == dataset.names:
        return dataset
    code = torch.full((len(dataset.names),), -1)
    code[[dataset.names.index(name) for name in names]] = torch.arange(len(names))
    parts = {name: _relabelled(part, code) for name, part in dataset.parts.items()}
    _check(parts, names)
    leaks = leakage.between(parts)
    source = {name: value for name, value in dataset.source.items() if name != "leakage"}
    source |= {
        "names": list(names),
        # a space or prices may have been written for all of them
        "all_names": list(dataset.source.get("all_names", dataset.names)),
        "counts": {name: len(part) for name, part in parts.items()},
        **({"leakage": leaks} if leaks else {}),
    }
    return replace(
        dataset,
        train=parts["train"],
        validation=parts["validation"],
        test=parts["test"],
        names=names,
        source=source,
        key=of_values(dataset.key, list(names)),
        normalise=statistics(parts["train"].x, dataset.kind),
    )


def _relabelled(part: Split, code: Tensor) -> Split:
    y = code[part.y]
    kept = (y >= 0).nonzero().flatten()
    return replace(part.take(kept), y=y[kept])


def _check(parts: Mapping[str, Split], names: Sequence[str]) -> None:
    absent = torch.bincount(parts["train"].y, minlength=len(names)) == 0
    if bool(absent.any()):
        got = f"none of {names[int(absent.nonzero()[0])]!r}"
        raise _checks.fail(chosen.OWNER, "classes", "classes with training samples", got)
    if not len(parts["test"]):
        raise _checks.fail(chosen.OWNER, "classes", "classes with test samples", f"none of {names[0]!r} or another")

"""From what a reader found to a Dataset: split, take the features, look for the same content on both sides."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray

from labelspace import _checks
from labelspace.data import labels, splits
from labelspace.data.chosen import NONE, End
from labelspace.data.dataset import PARTS, Dataset, Split, leaks_between
from labelspace.data.digests import Array, Digests, of_values
from labelspace.data.files import OWNER
from labelspace.data.normalize import statistics
from labelspace.data.source import Kind, Source

Rows = NDArray[np.int64]


class Shares(NamedTuple):
    """How much of what is split becomes validation, and how much test; or which end of training, or ``"none"``."""

    validation: float | End | str
    test: float


USUAL = Shares(0.15, 0.15)


@dataclass(frozen=True)
class Taken:
    """The features of three parts; ``kept`` says which of the asked-for rows could be read.

    Of sequences it brings the labels ``(N, T)`` and their names too.
    """

    x: Sequence[Array]
    digests: Sequence[Digests]
    kept: Sequence[NDArray[np.bool_]] | None = None
    source: Source = field(default_factory=Source)
    vocabulary: tuple[str, ...] | None = None
    y: Sequence[Rows] | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """What a reader found, before anything is split.

    Args:
        kind: the kind of dataset.
        y: class indices of all samples; of sequences all the same, as their labels come with ``take``.
        names: class names.
        given: rows of the parts the data comes in: all three, ``train`` and one other, or only ``all``.
        digests: a fingerprint per sample.
        content: a digest of the whole.
        source: what goes into ``Dataset.source``: reader, path, options, and what happened.
        take: returns the features of three lists of rows. It comes after the split, so that vocabularies, medians
            and categories can be those of the training part.
        groups: group codes of all samples.
        texts: of all samples, before they become token ids.
        shares: how much of what is split to hold out, where the caller does not say.
        answers: the target texts of sequences.
        factors: what the prices of all samples are multiplied by.
    """

    kind: Kind
    y: Rows
    names: tuple[str, ...]
    given: Mapping[str, Rows]
    digests: Digests
    content: str
    source: Source
    take: Callable[[Sequence[Rows]], Taken]
    groups: Rows | None = None
    texts: Sequence[str] | None = None
    shares: Shares = USUAL
    answers: Sequence[str] | None = None
    factors: NDArray[np.float64] | None = None


def rows_of(x: Array, found: Digests) -> Callable[[Sequence[Rows]], Taken]:
    """Return a ``take`` for features that are one array in memory."""
    return lambda order: Taken([x[rows] for rows in order], [found[rows] for rows in order])


def ranges(counts: Mapping[str, int]) -> dict[str, Rows]:
    """Return the rows of parts that lie one after the other."""
    ends = np.cumsum(list(counts.values()))
    return {
        name: np.arange(end - count, end, dtype=np.int64)
        for (name, count), end in zip(counts.items(), ends, strict=True)
    }


def assemble(found: Found, *, seed: int, validation: float | End | str | None, test: float | None) -> Dataset:
    """Return the dataset; its source says where the same content is in training and in another part."""
    if found.answers is None:
        labels.check_classes(found.y, found.names)
    order, split = _order(found, seed, _shares(found, validation, test))
    taken = found.take(order)
    kept = taken.kept or [np.ones(len(rows), dtype=bool) for rows in order]
    order = [rows[flags] for rows, flags in zip(order, kept, strict=True)]
    names = taken.names or found.names
    if taken.y is None:
        _check_training(found, order[0])
    _check_samples(taken.x[0])
    y = taken.y or [found.y[rows] for rows in order]
    parts = [_split(found, *each) for each in zip(order, taken.x, y, taken.digests, strict=True)]
    leaks = leaks_between({name: part for name, part in zip(PARTS, parts, strict=True)})
    source: Source = {
        **_text(found.source),
        "content": found.content,
        "names": list(names),
        "counts": {name: len(part) for name, part in zip(PARTS, parts, strict=True)},
        "split": split,
        **_text(taken.source),
    }
    if leaks:
        source["leakage"] = leaks
    options = json.loads(json.dumps(found.source.get("options", {})))
    key = of_values(found.content, found.kind, list(names), options, *order)
    return Dataset(
        train=parts[0],
        validation=parts[1],
        test=parts[2],
        names=names,
        kind=found.kind,
        source=source,
        normalize=statistics(parts[0].x, found.kind),
        key=key,
        vocabulary=taken.vocabulary,
    )


def _text(source: Source) -> Source:
    """Return plain data in which names of files that are not Unicode text are written so that they can be kept."""
    return cast(Source, _encodable(source))  # of the same form


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {_encodable(key): _encodable(part) for key, part in value.items()}
    return [_encodable(part) for part in value] if isinstance(value, list) else value


def _split(found: Found, rows: Rows, x: Array, y: Rows, own: Digests) -> Split:
    groups = None if found.groups is None else torch.from_numpy(found.groups[rows])
    text = None if found.texts is None else tuple(found.texts[row] for row in rows)
    answers = None if found.answers is None else tuple(found.answers[row] for row in rows)
    factors = None if found.factors is None else torch.from_numpy(found.factors[rows])
    return Split(torch.from_numpy(x), torch.from_numpy(y), groups, text, own, answers, factors)


def _shares(found: Found, validation: float | End | str | None, test: float | None) -> Shares:
    """Return what was asked for, and what the data says where nothing was."""
    shares = Shares(
        found.shares.validation if validation is None else validation, found.shares.test if test is None else test
    )
    if isinstance(shares.validation, float) and shares.validation + shares.test >= 1:
        got = f"{shares.validation:.3g} beside a test share of {shares.test:.3g}"
        raise _checks.fail(OWNER, "validation", "a share that leaves training samples", got)
    return shares


def _order(found: Found, seed: int, shares: Shares) -> tuple[list[Rows], dict[str, str | int | list[str]]]:
    """Return the rows of the three parts, and how they came about."""
    validation, test = shares
    given = dict(found.given)
    said: dict[str, str | int | list[str]] = {part: "given" for part in PARTS}
    if set(given) == {"train", "validation"}:
        # one held-out part: the last measurement comes first, choices get a part of the training data
        given = {"train": given["train"], "test": given["validation"]}
        said["test"] = "the validation part of the data"
    if "all" in given:
        rest, held = _hold_out(found, given["all"], test, seed)
        given = {"train": rest, "test": held}
        said.update(train="split", test=f"split from all, {test:.3g}", seed=seed)
        validation = validation / (1 - test) if isinstance(validation, float) else validation
    if not isinstance(validation, float):
        given, how = _without_chance(given, validation)
        said.update(how)
    elif "validation" not in given:
        rest, held = _hold_out(found, given["train"], validation, seed + 1)
        given.update(train=rest, validation=held)
        said.update(train="split", validation=f"split from train, {validation:.3g}", seed=seed)
    whole = [name for name, count in zip(found.names, np.bincount(found.y), strict=True) if count == 1]
    if whole:
        said["kept whole in training (one sample)"] = whole
    return [given[part] for part in PARTS], said


def _without_chance(given: Mapping[str, Rows], validation: End | str) -> tuple[dict[str, Rows], dict[str, str]]:
    """Return the parts with the validation part at one end of training, or nowhere, and how they came about."""
    own = given.get("validation")
    if validation == NONE:
        everything = given["train"] if own is None else np.concatenate([given["train"], own])
        said = {"validation": NONE} if own is None else {"train": "given, with the validation part", "validation": NONE}
        return {**given, "train": everything, "validation": np.zeros(0, dtype=np.int64)}, said
    assert isinstance(validation, End)
    if own is not None:
        remedy = "Leave it out to use that part, or say 'none' to train on it."
        got = f"a part of the training data beside {len(own)} validation samples"
        raise _checks.fail(OWNER, "validation", "left out where the data brings its own validation part", got, remedy)
    rows, held = given["train"], validation.places(len(given["train"]))
    if not 0 < len(held) < len(rows):
        got = f"{len(held)} of {len(rows)} training samples"
        raise _checks.fail(OWNER, "validation", "some training samples, not all", got)
    said = {"train": "the rest", "validation": f"the {'first' if validation.first else 'last'} {len(held)} of train"}
    chosen = np.isin(np.arange(len(rows)), held)
    return {**given, "train": rows[~chosen], "validation": rows[chosen]}, said


def _hold_out(found: Found, rows: Rows, fraction: float, seed: int) -> tuple[Rows, Rows]:
    groups = None if found.groups is None else found.groups[rows]
    stay, held = splits.hold_out(found.y[rows], fraction, seed, groups=groups, digests=found.digests[rows])
    if not len(held):
        # with a single sample of each class left, all of them stay in training
        got = f"{len(found.y)} samples, at most {np.bincount(found.y).max()} of a class"
        remedy = "For a training, a validation and a test part some class needs three: add samples."
        raise _checks.fail(OWNER, "name_or_path", "data with samples enough to split", got, remedy)
    return rows[stay], rows[held]


def _check_samples(x: Array) -> None:
    if 0 in x.shape:
        raise _checks.fail(OWNER, "x", "samples with numbers in them", f"shape {x.shape}", "There is nothing to learn.")


def _check_training(found: Found, rows: Rows) -> None:
    absent = np.flatnonzero(np.bincount(found.y[rows], minlength=len(found.names)) == 0)
    if len(absent):
        names = ", ".join(repr(found.names[index]) for index in absent[:5]) + (" …" if len(absent) > 5 else "")
        remedy = "A class must be learned before it can be tested: add training samples or take the class out."
        got = f"{len(absent)} without any ({names})"
        raise _checks.fail(OWNER, "y", "classes with training samples", got, remedy)

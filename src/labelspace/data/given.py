"""Data as ``train`` and ``compare`` are given them: options, a key by content; and as their workers get them.

A worker maps a dataset into its memory that was written once as plain arrays.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from labelspace import _checks, _files
from labelspace.data import digests
from labelspace.data.dataset import Dataset, Split
from labelspace.data.digests import Array
from labelspace.data.loading import loaded, option_names
from labelspace.data.normalize import Normalize

# options of data that are given by their own names too; a run's seed is its own, not that of the splits
OF_DATA = tuple(sorted(option_names() - {"seed"}))
FACTS = "facts.json"
NAME = "data"  # of the folder, between a dot and ``.part``: the ending of what killed processes leave


def data_options(owner: str, options: dict[str, object]) -> dict[str, object]:
    """Return the options of data, of which some may have been given by their own names; those are taken out.

    Args:
        owner: whose options, for the message.
        options: with ``data_options``, and with any of ``OF_DATA``.
    """
    own = {name: options.pop(name) for name in OF_DATA if name in options}
    given = options.pop("data_options", None) or {}
    if not isinstance(given, Mapping):
        raise _checks.fail_type(owner, "data_options", "options by their names", repr(given))
    others = dict(given)
    for name in own:
        if name in others:
            raise _checks.fail(owner, name, "given once", f"it in data_options ({others[name]!r}) too")
    return {**others, **{name: value for name, value in own.items() if value is not None}}


def as_dataset(data: object, options: Mapping[str, object] | None = None) -> Dataset:
    """Return a Dataset whose key is that of its content: parts may have been replaced since it was read.

    Args:
        data: what ``labelspace.data.load`` takes.
        options: of ``labelspace.data.load``.
    """
    dataset = loaded(data, options or {})
    arrays = [part for split in dataset.parts.values() for part in (split.x.numpy(), split.y.numpy())]
    groups = [None if split.groups is None else split.groups.numpy() for split in dataset.parts.values()]
    texts = [None if split.text is None else list(split.text) for split in dataset.parts.values()]
    answers = [list(split.answers) for split in dataset.parts.values() if split.answers is not None]
    factors = [split.factors.numpy() for split in dataset.parts.values() if split.factors is not None]
    prepared = [dataset.normalize.mean.numpy(), dataset.normalize.std.numpy()]
    vocabulary = None if dataset.vocabulary is None else list(dataset.vocabulary)
    said = (list(dataset.names), *arrays, *groups, *texts, *prepared, vocabulary, *answers, *factors)
    return replace(dataset, key=digests.of_values(dataset.key, *said))


@contextmanager
def on_disk(dataset: Dataset | None, folder: Path) -> Iterator[Path | None]:
    """Give a place in a folder where the dataset is while it is needed.

    A process that is killed leaves it there; the next one that is alone in the folder removes it.

    Args:
        dataset: to hand over; None for nothing, which has no place.
        folder: that workers can read too; it must be there.
    """
    with _files.sharing(folder, lambda: _sweep(folder)):
        if dataset is None:
            yield None
            return
        place = _files.beside(folder.resolve() / NAME)
        try:
            _put(dataset, place)
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)


def _put(dataset: Dataset, place: Path) -> None:
    try:
        place.mkdir()
        write(dataset, place)
    except OSError as error:
        remedy = "Choose another folder with out=… (--out), or make room in this one."
        expected = "a folder that can be written to"
        raise _checks.fail("sweep", "out", expected, f"{place.parent} ({error.strerror})", remedy) from error


def _sweep(folder: Path) -> None:
    for left in folder.glob(f".{NAME}.*.part"):
        shutil.rmtree(left, ignore_errors=True)


@lru_cache(maxsize=2)
def taken(place: Path) -> Dataset:
    """Return a dataset that was handed over; a worker maps it into its memory once for all its runs."""
    return read(place)


def write(dataset: Dataset, folder: Path) -> None:
    """Write a dataset into a folder, which must be there.

    Args:
        dataset: whose ``source`` is plain data.
        folder: for its arrays and facts.
    """
    for name, part in dataset.parts.items():
        held = {"x": part.x.numpy(), "y": part.y.numpy(), "digests": part.digests}
        held |= {
            field: None if values is None else values.numpy()
            for field, values in (("groups", part.groups), ("factors", part.factors))
        }
        for field, values in held.items():
            if values is not None:
                np.save(folder / f"{name}-{field}.npy", values, allow_pickle=False)
    np.save(folder / "mean.npy", dataset.normalize.mean.numpy(), allow_pickle=False)
    np.save(folder / "std.npy", dataset.normalize.std.numpy(), allow_pickle=False)
    facts = {
        "names": dataset.names,
        "kind": dataset.kind,
        "source": dict(dataset.source),
        "key": dataset.key,
        "vocabulary": dataset.vocabulary,
        "normalised": dataset.normalize.kind,
        "texts": {name: part.text for name, part in dataset.parts.items()},
        "answers": {name: part.answers for name, part in dataset.parts.items()},
    }
    (folder / FACTS).write_text(json.dumps(facts, default=str), encoding="utf-8")


def read(folder: Path) -> Dataset:
    """Return the dataset that ``write`` wrote; its samples stay in the file until they are asked for."""
    facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    parts = {name: _split(folder, name, text, facts["answers"][name]) for name, text in facts["texts"].items()}
    mean, std = (torch.from_numpy(np.load(folder / f"{name}.npy")) for name in ("mean", "std"))
    vocabulary = facts["vocabulary"]
    return Dataset(
        **parts,
        names=tuple(facts["names"]),
        kind=facts["kind"],
        source=facts["source"],
        normalize=Normalize(facts["normalised"], mean, std),
        key=facts["key"],
        vocabulary=None if vocabulary is None else tuple(vocabulary),
    )


def _split(folder: Path, name: str, text: list[str] | None, answers: list[str] | None) -> Split:
    fields = ("x", "y", "groups", "digests", "factors")
    x, y, groups, found, factors = (_array(folder / f"{name}-{field}.npy") for field in fields)
    assert x is not None
    assert y is not None
    return Split(
        torch.from_numpy(x),
        torch.from_numpy(y),
        None if groups is None else torch.from_numpy(groups),
        None if text is None else tuple(text),
        None if found is None else found.astype(np.uint64, copy=False),
        None if answers is None else tuple(answers),
        None if factors is None else torch.from_numpy(factors),
    )


def _array(path: Path) -> Array | None:
    if not path.is_file():
        return None
    # copy-on-write: torch wants a writable array, the file stays as it is
    found: Array = np.load(path, mmap_mode="c")
    return found if found.size else np.array(found)

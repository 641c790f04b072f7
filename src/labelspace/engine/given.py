"""Data as they are given in Python: options under their own names, datasets and arrays in memory."""

from dataclasses import replace
from typing import Any

from labelspace import _checks
from labelspace.data import digests
from labelspace.data import load as load_data
from labelspace.data.dataset import Dataset
from labelspace.data.subset import of_classes

OF_DATA = ("classes", "validation")  # options of data that are given by their own names too


def data_options(owner: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of data, of which some may have been given by their own names; those are taken out.

    Args:
        owner: whose options, for the message.
        options: with ``data_options``, and with any of ``OF_DATA``.
    """
    own = {name: options.pop(name) for name in OF_DATA if name in options}
    others = dict(options.pop("data_options", None) or {})
    for name in own:
        if name in others:
            raise _checks.fail(owner, name, "given once", f"it in data_options ({others[name]!r}) too")
    return {**others, **{name: value for name, value in own.items() if value is not None}}


def as_dataset(data: Any, options: dict[str, Any] | None = None) -> Dataset:
    """Return a Dataset whose key is that of its content: parts may have been replaced since it was read.

    Args:
        data: a Dataset, which can only be cut to some classes, or what ``labelspace.data.load`` takes.
        options: of ``labelspace.data.load``.
    """
    wanted = dict(options or {})
    if not isinstance(data, Dataset):
        dataset = load_data(data, **wanted)
    else:
        classes = wanted.pop("classes", None)
        if wanted:
            remedy = "Give them to labelspace.data.load."
            raise _checks.fail("train", "data_options", "left out for a Dataset, but for classes", list(wanted), remedy)
        dataset = data if classes is None else of_classes(data, classes)
    parts = [part for split in dataset.parts.values() for part in (split.x.numpy(), split.y.numpy())]
    return replace(dataset, key=digests.of_values(dataset.key, list(dataset.names), *parts))

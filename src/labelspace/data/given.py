"""Data as ``train`` and ``compare`` are given them: options under their own names, and a key by content."""

from dataclasses import replace
from typing import Any

from labelspace import _checks
from labelspace.data import digests
from labelspace.data.dataset import Dataset
from labelspace.data.loading import load, option_names

# options of data that are given by their own names too; a run's seed is its own, not that of the splits
OF_DATA = tuple(sorted(option_names() - {"seed"}))


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
        data: what ``labelspace.data.load`` takes.
        options: of ``labelspace.data.load``.
    """
    dataset = load(data, **(options or {}))
    parts = [part for split in dataset.parts.values() for part in (split.x.numpy(), split.y.numpy())]
    return replace(dataset, key=digests.of_values(dataset.key, list(dataset.names), *parts))

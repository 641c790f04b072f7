"""Stand-ins for data as other packages hold them in memory, as far as they are asked."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset as TorchDataset

from labelspace import data


class Frame:
    """What pandas calls a DataFrame: columns, and each of them by its name."""

    def __init__(self, columns: Mapping[Any, Any]) -> None:
        self.content = {name: np.asarray(values, dtype=object) for name, values in columns.items()}
        self.columns = list(columns)

    def __getitem__(self, name: Any) -> Any:
        return self.content[name]


class ClassLabel:
    """The feature of a column of classes."""

    def __init__(self, names: list[str]) -> None:
        self.names = names


class Image:
    """The feature of a column of pictures."""


class Value:
    """The feature of any other column."""


class Hugging:
    """What Hugging Face calls a Dataset."""

    def __init__(self, columns: Mapping[str, list[Any]], features: Mapping[str, Any]) -> None:
        self.content, self.column_names = columns, list(columns)
        self.features = {name: features.get(name, Value()) for name in columns}

    def __len__(self) -> int:
        return len(next(iter(self.content.values())))

    def __getitem__(self, key: Any) -> Any:
        return self.content[key] if isinstance(key, str) else {name: own[key] for name, own in self.content.items()}


class Items(TorchDataset[Any]):
    """A map-style dataset of whatever it is given."""

    def __init__(self, items: list[Any], classes: list[str] | None = None) -> None:
        self.items = items
        if classes is not None:
            self.classes = classes

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, number: int) -> Any:
        return self.items[number]


def same(one: data.Dataset, other: data.Dataset) -> None:
    """Refuse any difference of tensors, names and columns."""
    assert one.names == other.names
    assert one.source.get("columns") == other.source.get("columns")
    assert one.vocabulary == other.vocabulary
    for name, part in one.parts.items():
        torch.testing.assert_close(part.x, other.parts[name].x, rtol=0, atol=0)
        torch.testing.assert_close(part.y, other.parts[name].y, rtol=0, atol=0)
        groups = other.parts[name].groups
        assert (part.groups is None) == (groups is None)
        if part.groups is not None and groups is not None:
            torch.testing.assert_close(part.groups, groups, rtol=0, atol=0)

"""Rows: relations of many classes by a rule, and when a matrix of them is still built."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, final

import torch
from torch import Tensor

from labelspace import _checks

LIMIT = 2**28  # bytes of the largest matrix (float32) that is built from a rule: 8,192 classes
AT_ONCE = 2**21  # numbers that are in memory at once where all rows are looked at


class Rows(ABC):
    """Relations of K classes by a rule: rows are not negative and sum to 1."""

    form: ClassVar[str]  # its name in a label file

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of classes K."""

    @abstractmethod
    def rows(self, places: Tensor) -> Tensor:
        """Return the rows of some class indices, ``(n, K)`` in float64."""

    @abstractmethod
    def subset(self, places: Tensor) -> "Rows":
        """Return the rule of some classes; what they share sums to 1 again."""

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Return what it consists of, by the names of its fields."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return its other fields as plain data."""

    @final
    def matrix(self) -> Tensor:
        """Return all rows, ``(K, K)`` in float32, unless that takes more than ``LIMIT`` bytes."""
        count = len(self)
        if not fits(count):
            expected = f"asked for only where it takes at most {_size(LIMIT)}"
            got = f"{count:,} × {count:,} numbers, {_size(4 * count * count)}"
            remedy = "The space is compressed: use rows(classes), nearest(name) or subset(classes)."
            raise _checks.fail("LabelSpace", "matrix", expected, got, remedy)
        found = torch.empty(count, count)
        for places in chunks(count):
            found[places] = self.rows(places).float()
        return found


def fits(classes: int) -> bool:
    """Return whether the matrix of so many classes may be built from a rule."""
    return 4 * classes * classes <= LIMIT


def chunks(classes: int) -> Iterator[Tensor]:
    """Yield class indices, so few at once that their rows take little memory."""
    yield from torch.split(torch.arange(classes), max(AT_ONCE // classes, 1))


def _size(number: float) -> str:
    return f"{number / 2**20:,.0f} MiB" if number < 2**30 else f"{number / 2**30:,.1f} GiB"

"""Relations of many classes by a rule, and when a matrix of them is still built; rules of thin factors, of vectors."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Self, final

import torch
from torch import Tensor

from labelspace import _checks

LIMIT = 2**28  # bytes of the largest matrix (float32) that is built from a rule: 8,192 classes
AT_ONCE = 2**21  # numbers that are in memory at once where all rows are looked at


class Rows(ABC):
    """Relations of K classes by a rule: rows are not negative and sum to 1."""

    form: ClassVar[str]  # its name in a label file
    written_out: ClassVar[bool] = False  # whether a part of it becomes a matrix wherever that fits, as when it is built

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
    def facts(self) -> dict[str, float]:
        """Return its other fields as plain data."""

    def hops(self) -> Tensor | None:
        """Return path lengths between all classes, where the rule knows them; asked for only where a matrix fits."""
        return None

    def heaviest(self, count: int) -> Tensor:
        """Return the classes to which each gives most, ``(K, count)`` on the CPU, looking at few rows at a time."""
        # one table for all: small results kept between large rows would leave holes that no later rows fit into
        found = torch.empty(len(self), count, dtype=torch.int64)
        for places in chunks(len(self)):
            rows = self.rows(places)
            rows[torch.arange(len(places)), places] = -1
            found[places] = rows.topk(count, dim=1).indices.cpu()
        return found

    @final
    def mixed(self, y: Tensor) -> Tensor:
        """Return ``y @ rows`` for probabilities ``(n, K)``, looking at the rows of classes that have mass alone."""
        found = torch.zeros_like(y)
        present = (y != 0).any(dim=0).nonzero()[:, 0]
        for places in torch.split(present, max(AT_ONCE // len(self), 1)):
            found += y[:, places] @ self.rows(places).to(y.dtype)
        return found

    @final
    def on(self, device: torch.device) -> Self:
        """Return the same rule with its tensors on a device; label spaces keep theirs on the CPU."""
        if all(tensor.device == device for tensor in self.tensors().values()):
            return self
        moved = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, Tensor):
                object.__setattr__(moved, name, value.to(device))
        return moved

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


@final
@dataclass(frozen=True, eq=False)
class LowRank(Rows):
    """Rows ``softmax(left_i · right)``, or with ``relu`` ``softmax(ReLU(left_i · right))``.

    Args:
        left: ``(K, h)``, kept as float32.
        right: ``(h, K)``.
        relu: whether negative products count as 0, as in compressed label embeddings.

    Example:
        >>> rule = LowRank(torch.tensor([[0.0], [1.0]]), torch.tensor([[1.0, 2.0]]))
        >>> rule.rows(torch.tensor([1]))  # 1/(1 + e) and e/(1 + e)
        tensor([[0.2689, 0.7311]], dtype=torch.float64)
    """

    left: Tensor
    right: Tensor
    relu: bool = field(default=False, kw_only=True)
    form: ClassVar[str] = "low-rank"

    def __post_init__(self) -> None:
        """Check that the factors fit each other."""
        left = _checks.matrix("LowRank", "left", self.left)
        right = _checks.matrix("LowRank", "right", self.right)
        if right.shape != left.T.shape or not len(left):
            got = f"shapes {tuple(left.shape)} and {tuple(right.shape)}"
            raise _checks.fail("LowRank", "left and right", "of shapes (K, h) and (h, K)", got)
        largest = float(left.abs().max()) * float(right.abs().max()) * left.shape[1]
        if largest > torch.finfo(torch.float32).max:
            raise _checks.fail("LowRank", "left and right", "so small that products are finite", f"{largest:g}")
        if not isinstance(self.relu, bool):
            raise _checks.fail_type("LowRank", "relu", "true or false", repr(self.relu))
        object.__setattr__(self, "left", left.float())
        object.__setattr__(self, "right", right.float())

    def __len__(self) -> int:
        """Return K."""
        return len(self.left)

    def rows(self, places: Tensor) -> Tensor:
        """Return the softmax of the products."""
        # float32 as in the loss: the second factor in float64 would be copied for every row that is asked for
        logits = (self.left[places] @ self.right).double()
        return torch.softmax(logits.relu() if self.relu else logits, dim=1)

    def subset(self, places: Tensor) -> "LowRank":
        """Return the factors of some classes: a softmax over fewer classes is the softmax, scaled to sum to 1."""
        return LowRank(self.left[places], self.right[:, places], relu=self.relu)

    def tensors(self) -> dict[str, Tensor]:
        """Return both factors."""
        return {"left": self.left, "right": self.right}

    def facts(self) -> dict[str, float]:
        """Return whether products are cut at 0."""
        return {"relu": self.relu}


@final
@dataclass(frozen=True, eq=False)
class CosineRows(Rows):
    """Relations of vectors: ``s = 1/(1 + exp(d/τ))`` with ``d = 1 − cos``, each row scaled to sum to 1.

    Args:
        vectors: ``(K, D)``, one point per class.
        temperature: τ > 0.

    Example:
        >>> CosineRows(torch.tensor([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0]])).rows(torch.tensor([0]))
        tensor([[0.0000, 0.6929, 0.3071]], dtype=torch.float64)
    """

    vectors: Tensor
    temperature: float = field(default=1.0, kw_only=True)
    form: ClassVar[str] = "cosine-rows"

    def __post_init__(self) -> None:
        """Check and keep the vectors."""
        vectors = _checks.matrix("CosineRows", "vectors", self.vectors)
        tau = _checks.number("CosineRows", "temperature", self.temperature, low=0, open_low=True)
        object.__setattr__(self, "vectors", vectors.float())
        object.__setattr__(self, "temperature", tau)

    def __len__(self) -> int:
        """Return K."""
        return len(self.vectors)

    def rows(self, places: Tensor) -> Tensor:
        """Return the similarities of some classes to all others."""
        unit = _unit_rows(self.vectors.double())
        distances = 1 - (unit[places] @ unit.T).clamp(-1, 1)
        # 1/(1 + exp(x)) is a sigmoid of −x; its logarithm keeps small temperatures from underflowing
        weights = torch.nn.functional.logsigmoid(-distances / self.temperature)
        if len(self) == 1:
            return torch.ones_like(weights)
        return torch.softmax(weights.scatter(1, places[:, None], -torch.inf), dim=1)

    def subset(self, places: Tensor) -> "CosineRows":
        """Return the vectors of some classes."""
        return CosineRows(self.vectors[places], temperature=self.temperature)

    def tensors(self) -> dict[str, Tensor]:
        """Return the vectors."""
        return {"vectors": self.vectors}

    def facts(self) -> dict[str, float]:
        """Return the temperature."""
        return {"temperature": self.temperature}


def _unit_rows(rows: Tensor) -> Tensor:
    """Return rows of length 1; a row of zeros has no direction and stays."""
    norms = rows.norm(dim=1, keepdim=True)
    return rows / torch.where(norms > 0, norms, 1)

"""Relations that a few words say for any number of classes: an order, groups."""

from dataclasses import dataclass, field
from typing import ClassVar, final

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.compressed.rows import Rows


@final
@dataclass(frozen=True, eq=False)
class OrderRows(Rows):
    """Rows of ordered classes, ``A_ij ∝ 1/|r_i − r_j|^power`` with a zero diagonal.

    Args:
        ranks: ``(K,)``, the place of each class in the order; no two are the same.
        power: how fast mass falls with distance.

    Example:
        >>> OrderRows(torch.tensor([0, 1, 2])).rows(torch.tensor([0]))
        tensor([[0.0000, 0.6667, 0.3333]], dtype=torch.float64)
    """

    ranks: Tensor
    power: float = field(default=1.0, kw_only=True)
    form: ClassVar[str] = "order"
    written_out: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the ranks, and write down what each distance weighs."""
        ranks = _whole_numbers("OrderRows", "ranks", self.ranks, _checks.MOST_CLASSES)
        if bool((ranks.sort().values.diff() == 0).any()):
            raise _checks.fail("OrderRows", "ranks", "one rank for each class", "a rank of two classes")
        power = _checks.number("OrderRows", "power", self.power, low=0)
        weights = torch.arange(int(ranks.max() - ranks.min()) + 1, dtype=torch.float64).clamp_min(1).pow(-power)
        weights[0] = 0
        object.__setattr__(self, "ranks", ranks)
        object.__setattr__(self, "power", power)
        object.__setattr__(self, "weights", weights)  # by distance: a power of each entry would take most of the time

    def __len__(self) -> int:
        """Return K."""
        return len(self.ranks)

    def rows(self, places: Tensor) -> Tensor:
        """Return the weight of each distance, rows scaled to sum to 1."""
        if len(self) == 1:
            return torch.ones(len(places), 1, dtype=torch.float64, device=places.device)
        weights: Tensor = self.weights  # type: ignore[attr-defined]
        found = weights[(self.ranks[places][:, None] - self.ranks).abs_()]
        return found.div_(found.sum(dim=1, keepdim=True))

    def heaviest(self, count: int) -> Tensor:
        """Return the classes on both sides of each class in the order, nearest first."""
        order = torch.argsort(self.ranks)
        window = torch.cat([torch.arange(-count, 0), torch.arange(1, count + 1)])
        there = torch.arange(len(self))[:, None] + window
        outside = (there < 0) | (there >= len(self))
        beside = order[there.clamp(0, len(self) - 1)]
        steps = (self.ranks[beside] - self.ranks[order][:, None]).abs()
        steps = torch.where(outside, torch.iinfo(torch.int64).max, steps)
        nearest = steps.argsort(dim=1, stable=True)[:, :count]
        found = torch.empty(len(self), count, dtype=torch.int64)
        found[order] = beside.gather(1, nearest)
        return found

    def hops(self) -> Tensor:
        """Return the steps between ranks."""
        return (self.ranks[:, None] - self.ranks).abs()

    def subset(self, places: Tensor) -> "OrderRows":
        """Return the ranks of some classes, which stay as far apart as they were."""
        return OrderRows(self.ranks[places], power=self.power)

    def tensors(self) -> dict[str, Tensor]:
        """Return the ranks."""
        return {"ranks": self.ranks}

    def facts(self) -> dict[str, float]:
        """Return the power."""
        return {"power": self.power}


@final
@dataclass(frozen=True, eq=False)
class GroupRows(Rows):
    """Rows of grouped classes: ``1/(n−1)`` inside a group of ``n``, else 0; a class that is alone keeps its mass.

    Args:
        codes: ``(K,)``, the number of each class's group.

    Example:
        >>> GroupRows(torch.tensor([0, 1, 0, 0])).rows(torch.tensor([0, 1]))
        tensor([[0.0000, 0.0000, 0.5000, 0.5000],
                [0.0000, 1.0000, 0.0000, 0.0000]], dtype=torch.float64)
    """

    codes: Tensor
    form: ClassVar[str] = "groups"
    written_out: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the codes."""
        object.__setattr__(self, "codes", _whole_numbers("GroupRows", "codes", self.codes, _checks.MOST_CLASSES))

    def __len__(self) -> int:
        """Return K."""
        return len(self.codes)

    def rows(self, places: Tensor) -> Tensor:
        """Return even shares of those in the same group."""
        found = (self.codes[places][:, None] == self.codes).double()
        others = found.sum(dim=1, keepdim=True) - 1
        own = (others == 0).double()
        return found.div_(others.clamp_min(1)).scatter_(1, places[:, None], own)

    def heaviest(self, count: int) -> Tensor:
        """Return members of each class's group, then others, which have no mass."""
        order = torch.argsort(self.codes, stable=True)
        members = torch.bincount(self.codes)
        members = members[members > 0]
        size = members.repeat_interleave(members)[:, None]
        start = (members.cumsum(0) - members).repeat_interleave(members)[:, None]
        ahead, own = torch.arange(1, count + 1), torch.arange(len(self))[:, None] - start
        there = torch.where(ahead < size, start + (own + ahead) % size, (start + ahead) % len(self))
        found = torch.empty(len(self), count, dtype=torch.int64)
        found[order] = order[there]
        return found

    def subset(self, places: Tensor) -> "GroupRows":
        """Return the groups of some classes."""
        return GroupRows(self.codes[places])

    def tensors(self) -> dict[str, Tensor]:
        """Return the codes."""
        return {"codes": self.codes}

    def facts(self) -> dict[str, float]:
        """Return nothing: the codes say it all."""
        return {}


def _whole_numbers(owner: str, argument: str, given: object, most: int) -> Tensor:
    """Return whole numbers from 0 to below ``most``, one per class."""
    numbers = torch.as_tensor(given).detach().cpu()
    if numbers.ndim != 1 or not len(numbers) or numbers.is_floating_point() or numbers.dtype == torch.bool:
        got = f"{numbers.dtype} of shape {tuple(numbers.shape)}"
        raise _checks.fail(owner, argument, "whole numbers, one for each class", got)
    numbers = numbers.to(torch.int64).clone()
    if bool((numbers < 0).any()) or bool((numbers >= most).any()):
        wrong = numbers[(numbers < 0) | (numbers >= most)]
        raise _checks.fail(owner, argument, f"from 0 to below {most}", int(wrong[0]))
    return numbers

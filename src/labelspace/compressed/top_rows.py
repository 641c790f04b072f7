"""Relations that name a few classes a row."""

from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.compressed.rows import Rows


@final
@dataclass(frozen=True, eq=False)
class TopRows(Rows):
    """Rows that name the mass of a few classes each; the classes they do not name share the rest evenly.

    Args:
        indices: ``(K, n)`` class indices, each once a row; −1 is no class.
        values: ``(K, n)``, their mass; 0 where there is no class.
        rest: ``(K,)``, the mass of all other classes together.

    Example:
        >>> rule = TopRows(torch.tensor([[1], [0], [0]]), torch.tensor([[0.5], [0.2], [1.0]]), [0.5, 0.8, 0.0])
        >>> rule.rows(torch.tensor([0, 2]))
        tensor([[0.2500, 0.5000, 0.2500],
                [1.0000, 0.0000, 0.0000]], dtype=torch.float64)
    """

    indices: Tensor
    values: Tensor
    rest: Tensor
    form: ClassVar[str] = "top-rows"

    def __post_init__(self) -> None:
        """Check that rows are shares of 1 and name every class at most once."""
        values = _checks.matrix("TopRows", "values", self.values)
        rest = _checks.matrix("TopRows", "rest", torch.as_tensor(self.rest).reshape(-1, 1), rows=len(values))[:, 0]
        indices = _class_places(self.indices, values)
        none = indices < 0
        if bool((values < 0).any()) or bool((rest < 0).any()):
            lowest = min(values.min().item(), rest.min().item())
            raise _checks.fail("TopRows", "values and rest", "not negative", f"{lowest:g}")
        if bool((values[none] != 0).any()):
            got = f"{values[none].max().item():g}"
            raise _checks.fail("TopRows", "values", "0 where `indices` has −1", got)
        nobody = (~none).sum(dim=1) == len(values)
        if bool((rest[nobody] != 0).any()):
            got = f"{rest[nobody].max().item():g}"
            raise _checks.fail("TopRows", "rest", "0 where a row names every class", got)
        total = values.sum(dim=1) + rest
        if not bool(((total - 1).abs() < 1e-4).all()):
            worst = int((total - 1).abs().argmax())
            raise _checks.fail("TopRows", "values and rest", "rows that sum to 1", f"{total[worst]:.6g} in row {worst}")
        # as in a matrix: rows that are right already keep their last bits, so that a file loads as it was saved
        scale = torch.where((total - 1).abs() < 1e-6, 1, total)
        object.__setattr__(self, "indices", indices)
        object.__setattr__(self, "values", (values / scale[:, None]).float())
        object.__setattr__(self, "rest", (rest / scale).float())

    def __len__(self) -> int:
        """Return K."""
        return len(self.indices)

    def rows(self, places: Tensor) -> Tensor:
        """Return every class's share of the rest, with the named ones written over it."""
        named, count = self.indices[places], len(self)
        found = self._share(places)[:, None].repeat(1, count + 1)
        # what is no class goes to one more column, which is cut off
        found.scatter_(1, torch.where(named < 0, count, named), self.values[places].double())
        return found[:, :count]

    def _share(self, places: Tensor) -> Tensor:
        others = len(self) - (self.indices[places] >= 0).sum(dim=1)
        return self.rest[places].double() / others.clamp_min(1)

    def subset(self, places: Tensor) -> "TopRows":
        """Return the rows of some classes, without the classes that are left out."""
        count = len(places)
        moved = torch.full((len(self) + 1,), -1)  # the last one is where −1 points
        moved[places] = torch.arange(count)
        indices = moved[self.indices[places]]
        present = indices >= 0
        values = torch.where(present, self.values[places].double(), 0)
        rest = self._share(places) * (count - present.sum(dim=1))
        total = values.sum(dim=1) + rest
        # a class that is left alone keeps its mass
        alone, first = (total == 0)[:, None], (torch.arange(indices.shape[1]) == 0)[None, :]
        indices = torch.where(alone, torch.where(first, torch.arange(count)[:, None], -1), indices)
        values = torch.where(alone, first.double(), values / torch.where(total > 0, total, 1)[:, None])
        return TopRows(*_narrowed(indices, values), rest / torch.where(total > 0, total, 1))

    def tensors(self) -> dict[str, Tensor]:
        """Return the named classes, their mass, and the rest."""
        return {"indices": self.indices, "values": self.values, "rest": self.rest}

    def facts(self) -> dict[str, float]:
        """Return nothing: the tensors say it all."""
        return {}


def _class_places(given: object, values: Tensor) -> Tensor:
    """Return class indices of the shape of ``values``, each once in its row, or −1."""
    indices = torch.as_tensor(given).detach().cpu()
    if indices.shape != values.shape or indices.is_floating_point() or indices.dtype == torch.bool:
        got = f"{indices.dtype} of shape {tuple(indices.shape)}"
        raise _checks.fail("TopRows", "indices", f"whole numbers of shape {tuple(values.shape)}, as `values`", got)
    indices = indices.to(torch.int64).clone()
    outside = (indices < -1) | (indices >= len(values))
    if bool(outside.any()):
        expected = f"class indices from 0 to {len(values) - 1}, or −1 for none"
        raise _checks.fail("TopRows", "indices", expected, int(indices[outside][0]))
    ordered = indices.sort(dim=1).values
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if bool(twice.any()):
        row = int(twice.any(dim=1).nonzero()[0])
        got = f"{int(ordered[row, 1:][twice[row]][0])} twice in row {row}"
        raise _checks.fail("TopRows", "indices", "each class at most once a row", got)
    return indices


def _narrowed(indices: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Return both with the classes of each row first, as wide as the longest row."""
    present = indices >= 0
    order = present.to(torch.int8).argsort(dim=1, descending=True, stable=True)
    width = max(int(present.sum(dim=1).max()), 1)
    return indices.gather(1, order)[:, :width], values.gather(1, order)[:, :width]

"""Soft targets of which a few classes a sample are stored: outputs of a teacher, votes of people."""

from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from labelspace import _checks


@final
@dataclass(frozen=True, eq=False)
class TopTargets:
    """Probabilities ``y`` of which each sample names a few classes; taken wherever a criterion takes probabilities.

    Unlike dense probabilities, rows are scaled to sum to 1: mass that was left out when they were stored goes to the
    classes that are named, in proportion. A row without mass is an ignored sample. As ``teacher`` of distillation
    their logarithms are the logits, and classes that are not named are ruled out.

    Args:
        indices: ``(N, k)``, or ``(N, d…, k)`` for more positions: class indices, each once a row; −1 is no class.
        values: of the same shape, their probabilities, 0 where there is no class; rows sum to at most 1.

    Example:
        >>> from labelspace import OneHot
        >>> y = TopTargets(torch.tensor([[0, 2]]), torch.tensor([[0.75, 0.25]]))
        >>> criterion, output = OneHot(3), torch.tensor([[2.0, 1.0, 0.0]])
        >>> torch.testing.assert_close(criterion(output, y), criterion(output, torch.tensor([[0.75, 0.0, 0.25]])))
    """

    indices: Tensor
    values: Tensor

    def __post_init__(self) -> None:
        """Check rows once, where values can be looked at."""
        indices, values = self.indices, self.values
        if not isinstance(indices, Tensor) or not isinstance(values, Tensor):
            raise _checks.fail_type("TopTargets", "indices and values", "tensors", type(indices).__name__)
        if indices.is_floating_point() or indices.dtype == torch.bool or indices.ndim < 2:
            got = f"{indices.dtype} of shape {tuple(indices.shape)}"
            raise _checks.fail("TopTargets", "indices", "whole numbers of shape (N, k)", got)
        if not values.is_floating_point() or values.shape != indices.shape:
            got = f"{values.dtype} of shape {tuple(values.shape)}"
            raise _checks.fail("TopTargets", "values", f"probabilities of shape {tuple(indices.shape)}", got)
        if values.device.type == "cpu":
            _check_rows(indices, values)

    def __len__(self) -> int:
        """Return N."""
        return len(self.indices)

    def __getitem__(self, places: Tensor | slice) -> "TopTargets":
        """Return some samples."""
        return TopTargets(self.indices[places], self.values[places])

    def to(self, device: torch.device | str) -> "TopTargets":
        """Return the same on a device."""
        return TopTargets(self.indices.to(device), self.values.to(device))

    def flat(self) -> "TopTargets":
        """Return one row a sample, positions one after the other."""
        width = self.indices.shape[-1]
        return TopTargets(self.indices.reshape(-1, width), self.values.reshape(-1, width))

    def dense(self, classes: int, class_dim: int = -1) -> Tensor:
        """Return all probabilities, scaled to sum to 1, where a criterion has them: ``(N, K)`` or ``(N, K, d…)``.

        Args:
            classes: K.
            class_dim: the dimension of classes.
        """
        if self.values.device.type == "cpu" and self.indices.numel() and int(self.indices.max()) >= classes:
            expected = f"class indices from 0 to {classes - 1}, or −1 for none"
            raise _checks.fail("TopTargets", "indices", expected, int(self.indices.max()))
        found = self.values.new_zeros((*self.indices.shape[:-1], classes + 1))
        mass = self.values.sum(dim=-1, keepdim=True)
        scaled = self.values / torch.where(mass > 0, mass, 1)
        # what is no class goes to one more column, which is cut off
        found.scatter_(-1, torch.where(self.indices < 0, classes, self.indices.long()), scaled)
        return found[..., :classes].movedim(-1, class_dim)

    def logits(self, classes: int, class_dim: int = -1) -> Tensor:
        """Return logarithms of the probabilities, ``−inf`` for classes that are not named."""
        if self.values.device.type == "cpu" and bool((self.values.sum(dim=-1) <= 0).any()):
            raise _checks.fail("TopTargets", "values", "of some mass in every row of a teacher", "a row of zeros")
        return self.dense(classes, class_dim).log()

    @staticmethod
    def of(probabilities: Tensor, count: int) -> "TopTargets":
        """Return the largest entries of probabilities ``(N, K)``; what is left out is lost.

        Args:
            probabilities: classes in the last dimension.
            count: k.
        """
        values, indices = probabilities.topk(count, dim=-1)
        return TopTargets(indices, values)


def _check_rows(indices: Tensor, values: Tensor) -> None:
    mass = values.sum(dim=-1)
    # a comparison that NaN fails too
    if not (bool((values >= 0).all()) and bool((mass <= 1.01).all())):
        got = f"a row summing to {mass.max().item():g}, smallest entry {values.min().item():g}"
        expected = "probabilities: not negative, rows summing to at most 1"
        raise _checks.fail("TopTargets", "values", expected, got, "Divide each row by its sum.")
    if bool((indices < -1).any()):
        raise _checks.fail("TopTargets", "indices", "class indices, or −1 for none", int(indices.min()))
    if bool((values[indices < 0] != 0).any()):
        raise _checks.fail("TopTargets", "values", "0 where `indices` has −1", "some mass")
    ordered = indices.sort(dim=-1).values
    if bool(((ordered[..., 1:] == ordered[..., :-1]) & (ordered[..., 1:] >= 0)).any()):
        raise _checks.fail("TopTargets", "indices", "each class at most once a row", "a class twice in one row")

"""Inputs of kernels that are made for a batch of what is learned: rows of tables, their products, a layer of features.

A kernel that makes them itself, and the gradients of what they are made of, takes some steps of autograd less on either
way, and does without their memory. Each is a tuple of tensors: ``read`` returns the numbers ``(n, K)`` in memory that
nobody else has, differentiable where gradients are recorded, ``backward`` the gradients by the tensors from that by the
numbers, and ``looked_at`` the tensors whose values that takes: nobody may have written to them since.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from labelspace.criteria.products import product
from labelspace.criteria.scratch import LEAST, LENT


class Table(NamedTuple):
    """The row of each sample's class.

    Args:
        rows: ``(K, D)``.
    """

    rows: Tensor

    def whole(self) -> Tensor:
        """Return what all classes have."""
        return self.rows

    def read(self, y: Tensor | None) -> Tensor:
        """Look it up."""
        return _looked_up(self.rows, y)

    def looked_at(self) -> tuple[Tensor, ...]:
        """Return none of them."""
        return ()

    def backward(self, y: Tensor | None, gradient: Tensor, needed: tuple[bool, ...]) -> list[Tensor | None]:
        """Add up rows."""
        return [_added_up(self.rows, y, gradient)]


class Product(NamedTuple):
    """The row of each sample's class, of a table that is a product.

    Args:
        left: ``(K, r)``.
        right: ``(r, D)``.
    """

    left: Tensor
    right: Tensor

    def whole(self) -> Tensor:
        """Return what all classes have."""
        return product(self.left, self.right)

    def read(self, y: Tensor | None) -> Tensor:
        """Multiply rows of one factor with the other."""
        return product(_looked_up(self.left, y), self.right)

    def looked_at(self) -> tuple[Tensor, ...]:
        """Return both factors."""
        return self.left, self.right

    def backward(self, y: Tensor | None, gradient: Tensor, needed: tuple[bool, ...]) -> list[Tensor | None]:
        """Multiply with the other factor."""
        by_left = _added_up(self.left, y, product(gradient, self.right.T)) if needed[0] else None
        by_right = product(_looked_up(self.left, y).T, gradient) if needed[1] else None
        return [by_left, by_right]


class Layer(NamedTuple):
    """A linear layer's outputs.

    Args:
        features: ``(n, d)``.
        weight: ``(K, d)``.
        bias: ``(K,)``.
    """

    features: Tensor
    weight: Tensor
    bias: Tensor

    def read(self, y: Tensor | None) -> Tensor:
        """Apply it."""
        return product(self.features, self.weight.T, self.bias)

    def looked_at(self) -> tuple[Tensor, ...]:
        """Return the features, and the weights where features learn."""
        return (self.features, self.weight) if self.features.requires_grad else (self.features,)

    def backward(self, y: Tensor | None, gradient: Tensor, needed: tuple[bool, ...]) -> list[Tensor | None]:
        """Return what a linear layer's are."""
        by_features = product(gradient, self.weight) if needed[0] else None
        # the wide matrix second is quicker by more than it takes to turn the result
        by_weight = _turned(product(self.features.T, gradient)) if needed[1] else None
        return [by_features, by_weight, gradient.sum(dim=0) if needed[2] else None]


def _turned(a: Tensor) -> Tensor:
    """Return a transpose in memory of its own; numpy takes half of torch's time for it."""
    found = LENT.take(a.T.shape, a.dtype)
    np.copyto(found.numpy(), a.numpy().T)
    return found


Made = Table | Product | Layer


def is_shorter(made: Table | Product, y: Tensor) -> bool:
    """Return whether there are at most as many classes as samples, so that all rows are no more than those read."""
    return made[0].shape[0] <= len(y)


def table(rows: Tensor, output: Tensor) -> Table | None:
    """Return a table that a kernel reads itself; None where it must not.

    Args:
        rows: of all classes.
        output: what they meet.
    """
    return Table(rows) if may_be_read(output, rows) else None


def may_be_read(output: Tensor, *learned: Tensor) -> bool:
    """Return whether a kernel may read parameters itself.

    Rows that are kept up to date as they are read (``labelspace.optim``), and those of another dtype, are read outside.

    Args:
        output: what they meet.
        learned: all of them.
    """
    return all(type(one) is torch.nn.Parameter and one.is_cpu and one.dtype is output.dtype for one in learned)


def _looked_up(rows: Tensor, y: Tensor | None) -> Tensor:
    assert y is not None
    if torch.is_grad_enabled():
        return torch.embedding(rows, y)
    if y.shape[0] * rows.shape[1] < LEAST:
        return rows.index_select(0, y)
    return torch.index_select(rows, 0, y, out=LENT.take((y.shape[0], rows.shape[1]), rows.dtype))


def _added_up(rows: Tensor, y: Tensor | None, gradient: Tensor) -> Tensor:
    assert y is not None
    if rows.numel() < LEAST:
        return torch.zeros_like(rows).index_add_(0, y, gradient)
    return LENT.take(rows.shape, rows.dtype).zero_().index_add_(0, y, gradient)

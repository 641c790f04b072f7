"""What kernels compute with: one notation, two ways to do it on a CPU.

A few thousand numbers cost what is said about them, not what is done with them: numpy says it in a third of torch's
time, and with classes first a sum over them runs along memory. More numbers are torch's, which has vectors and threads
for exponentials; classes are then last, as they come. A kernel is written once, for both.

Numbers of every class are ``(K, n)`` in numpy and ``(n, K)`` in torch, those of a sample ``(n,)`` and ``(n, 1)``:
either way one meets the other in arithmetic. Functions that end in ``_`` change their first argument and return it.
Whether something holds is multiplied by, never converted: numpy would make it double precision.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Array = NDArray[Any]
Numbers = TypeVar("Numbers", Tensor, Array)
Rows = Callable[[slice], Tensor]  # ``(n, K)`` numbers of some of a batch's samples, which nothing learns


class Softmax(NamedTuple, Generic[Numbers]):
    """What losses need of logits z with the largest m of each sample, from one pass of exponentials."""

    shifted: Numbers  # z − m, of every class
    e: Numbers  # e^{z−m}, of every class: p = e / total
    total: Numbers  # Σ e^{z−m}, of every sample: log p = shifted − log total
    top: Numbers  # m


class Maths(ABC, Generic[Numbers]):
    """Numbers of some samples of a batch, and what is done with them."""

    @abstractmethod
    def rows(self, rows: Rows) -> Numbers:
        """Return numbers of every class that were made elsewhere; they may be the caller's, and are not changed."""

    @abstractmethod
    def column(self, rows: Rows) -> Numbers:
        """Return one number of every sample, made elsewhere as ``(n, 1)``."""

    @abstractmethod
    def without(self, a: Numbers) -> Numbers:
        """Return a copy with the lowest number there is at every sample's class.

        Nobody is left where it is alone, or all others are ruled out.
        """

    @abstractmethod
    def softmax(self, z: Numbers) -> Softmax[Numbers]:
        """Return new numbers."""

    @abstractmethod
    def sum(self, a: Numbers) -> Numbers:
        """Return ``Σ_k a_k`` of every sample."""

    @abstractmethod
    def dot(self, a: Numbers, b: Numbers) -> Numbers:
        """Return ``Σ_k a_k·b_k`` of every sample."""

    @abstractmethod
    def at(self, a: Numbers) -> Numbers:
        """Return what every sample has at its class; a label that is no class is an IndexError or a RuntimeError."""

    @abstractmethod
    def put_(self, a: Numbers, value: Numbers | float) -> Numbers:
        """Write what every sample has at its class."""

    @abstractmethod
    def add_at_(self, a: Numbers, value: Numbers | float) -> Numbers:
        """Add to what every sample has at its class."""

    @abstractmethod
    def add_(self, a: Numbers, b: Numbers, times: float) -> Numbers:
        """Add ``times·b``."""

    @abstractmethod
    def add_product_(self, a: Numbers, b: Numbers, c: Numbers, times: float = 1.0) -> Numbers:
        """Add ``times·b·c``."""

    @abstractmethod
    def exp(self, a: Numbers) -> Numbers:
        """Return exponentials."""

    @abstractmethod
    def log(self, a: Numbers) -> Numbers:
        """Return logarithms."""

    @abstractmethod
    def sigmoid(self, a: Numbers) -> Numbers:
        """Return ``1 / (1 + e^{−a})`` of numbers of a sample."""

    @abstractmethod
    def log_sigmoid(self, a: Numbers) -> Numbers:
        """Return ``−log(1 + e^{−a})`` of numbers of a sample."""


@final
class Wide(Maths[Tensor]):
    """Torch's, with classes last.

    Args:
        part: which samples of the batch these are.
        y: classes of the batch, where they are asked for.
    """

    places: Tensor  # (n, 1)

    def __init__(self, part: slice, y: Tensor | None) -> None:
        """Keep what is said of the samples."""
        self.part = part
        if y is not None:
            self.places = y[part].unsqueeze(1)

    def rows(self, rows: Rows) -> Tensor:
        """Return those of the part."""
        return rows(self.part)

    def column(self, rows: Rows) -> Tensor:
        """Return those of the part."""
        return rows(self.part)

    def without(self, a: Tensor) -> Tensor:
        """Return it in one pass."""
        return a.scatter(1, self.places, torch.finfo(a.dtype).min)

    def softmax(self, z: Tensor) -> Softmax[Tensor]:
        """Return it by its pieces, which together take less than torch's own."""
        top = z.amax(dim=1, keepdim=True)
        shifted = z - top
        e = shifted.exp()
        return Softmax(shifted, e, e.sum(dim=1, keepdim=True), top)

    def sum(self, a: Tensor) -> Tensor:
        """Return sums of rows."""
        return a.sum(dim=1, keepdim=True)

    def dot(self, a: Tensor, b: Tensor) -> Tensor:
        """Return it by numpy, whose products of rows need no room."""
        return torch.from_numpy(np.vecdot(a.detach().numpy(), b.detach().numpy())).unsqueeze(1)

    def at(self, a: Tensor) -> Tensor:
        """Return one entry of each row."""
        return a.gather(1, self.places)

    def put_(self, a: Tensor, value: Tensor | float) -> Tensor:
        """Write one entry of each row."""
        return a.scatter_(1, self.places, value)

    def add_at_(self, a: Tensor, value: Tensor | float) -> Tensor:
        """Add to one entry of each row."""
        added = value if isinstance(value, Tensor) else a.new_full((len(a), 1), value)
        return a.scatter_add_(1, self.places, added)

    def add_(self, a: Tensor, b: Tensor, times: float) -> Tensor:
        """Add in one pass."""
        return a.add_(b, alpha=times)

    def add_product_(self, a: Tensor, b: Tensor, c: Tensor, times: float = 1.0) -> Tensor:
        """Add in one pass."""
        return a.addcmul_(b, c, value=times)

    def exp(self, a: Tensor) -> Tensor:
        """Return exponentials."""
        return a.exp()

    def log(self, a: Tensor) -> Tensor:
        """Return logarithms."""
        return a.log()

    def sigmoid(self, a: Tensor) -> Tensor:
        """Return torch's own."""
        return torch.sigmoid(a)

    def log_sigmoid(self, a: Tensor) -> Tensor:
        """Return torch's own."""
        return torch.nn.functional.logsigmoid(a)


@final
class Narrow(Maths[Array]):
    """Numpy's, with classes first.

    Args:
        y: classes of the samples, where they are asked for.
    """

    places: Array  # (n,)

    def __init__(self, y: Tensor | None) -> None:
        """Find out where classes are among all numbers of the batch."""
        if y is None:
            return
        labels = y.numpy()
        if labels.min() < 0:
            raise IndexError("a label that is no class")  # where numpy would count from the end
        self.places = labels * len(labels) + np.arange(len(labels))

    def rows(self, rows: Rows) -> Array:
        """Return all of them."""
        return np.ascontiguousarray(rows(slice(None)).numpy().T)

    def column(self, rows: Rows) -> Array:
        """Return all of them."""
        return rows(slice(None)).numpy()[:, 0]

    def without(self, a: Array) -> Array:
        """Return it in two passes."""
        return self.put_(a.copy(), np.finfo(a.dtype).min)

    def softmax(self, z: Array) -> Softmax[Array]:
        """Return it by its pieces."""
        top = np.maximum.reduce(z, axis=0)
        shifted = z - top
        e = np.exp(shifted)
        return Softmax(shifted, e, np.add.reduce(e, axis=0), top)

    def sum(self, a: Array) -> Array:
        """Return sums of columns."""
        return np.add.reduce(a, axis=0)  # type: ignore[no-any-return]

    def dot(self, a: Array, b: Array) -> Array:
        """Return sums of products of columns."""
        return np.add.reduce(a * b, axis=0)  # type: ignore[no-any-return]

    def at(self, a: Array) -> Array:
        """Return one entry of each column."""
        return a.reshape(-1)[self.places]

    def put_(self, a: Array, value: Array | float) -> Array:
        """Write one entry of each column."""
        a.reshape(-1)[self.places] = value
        return a

    def add_at_(self, a: Array, value: Array | float) -> Array:
        """Add to one entry of each column."""
        a.reshape(-1)[self.places] += value
        return a

    def add_(self, a: Array, b: Array, times: float) -> Array:
        """Add a product."""
        a += b if times == 1 else b * times
        return a

    def add_product_(self, a: Array, b: Array, c: Array, times: float = 1.0) -> Array:
        """Add a product."""
        product = b * c
        if times != 1:
            product *= times
        a += product
        return a

    def exp(self, a: Array) -> Array:
        """Return exponentials."""
        return np.exp(a)

    def log(self, a: Array) -> Array:
        """Return logarithms."""
        return np.log(a)

    def sigmoid(self, a: Array) -> Array:
        """Return it; where the exponential is infinite it is 0."""
        return 1 / (1 + np.exp(-a))

    def log_sigmoid(self, a: Array) -> Array:
        """Return it without losing digits on either side."""
        return -np.logaddexp(0, -a)

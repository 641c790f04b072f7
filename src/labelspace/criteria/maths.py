"""What kernels compute with: one notation, of which there are two on a CPU, ``narrow`` and ``wide``.

A few thousand numbers cost what is said about them, not what is done with them: numpy says it in a third of torch's
time. More numbers are torch's, which has threads. Of a few classes a sum runs along memory only where classes are
first. A kernel is written once, for all of it.

Numbers of a sample, one each, are a column: always numpy's, in the shape in which they meet those of every class,
``(n, 1)`` beside ``(n, K)`` and ``(1, n)`` beside ``(K, n)``. Functions that end in ``_`` change their first argument
and return it. Whether something holds is multiplied by, never converted: numpy would make it double precision.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Array = NDArray[Any]
Numbers = TypeVar("Numbers", Tensor, Array)
FAR = 64.0  # from zero: differences of logits that nobody has shifted would lose digits
TINY = 1e-30  # a probability below has lost digits, or is about to
RowMaker = Callable[[slice], Tensor]  # ``(n, K)`` numbers of some of a batch's samples, which nothing learns


@lru_cache(maxsize=4)
def ones(classes: int, kind: "np.dtype[Any]") -> Array:
    """Return a one for each class, which a sum is a product with."""
    return np.ones(classes, kind)


@lru_cache(maxsize=4)
def diagonal(classes: int, number: float, kind: torch.dtype) -> Tensor:
    """Return a number for each class in its row; nobody may write to it."""
    return torch.eye(classes, dtype=kind, device="cpu") * number


@lru_cache(maxsize=4)
def starts(count: int, step: int) -> Array:
    """Return where the numbers of each sample start."""
    return np.arange(0, count * step, step)


def classes_of(y: Tensor, classes: int) -> Array:
    """Return labels as numpy has them; one that is no class is an error.

    Negative ones are large numbers without their sign, else numpy would count from the end.
    """
    labels: Array = y.numpy()
    if len(labels) and np.maximum.reduce(labels.view(np.uint64)) >= classes:
        raise IndexError("a label that is no class")
    return labels


class Softmax(NamedTuple, Generic[Numbers]):
    """What losses need of logits z with the largest m of each sample, from one pass of exponentials."""

    shifted: Numbers  # z − m, of every class
    e: Numbers  # e^{z−m}, of every class: p = e / total
    total: Array  # Σ e^{z−m}, of every sample: log p = shifted − log total
    top: Array  # m


class Maths(ABC, Generic[Numbers]):
    """Numbers of some samples of a batch, and what is done with them."""

    share: Array | float  # what each sample's value counts in the loss: a gradient has it as a factor

    @abstractmethod
    def gradient(self, place: int) -> Numbers:
        """Return where the gradient by an input is to be written: numbers of every class that nobody has set."""

    @abstractmethod
    def rows(self, made: RowMaker) -> Numbers:
        """Return numbers of every class that were made elsewhere; they may be the caller's, and are not changed."""

    @abstractmethod
    def column(self, made: RowMaker) -> Array:
        """Return one number of every sample, made elsewhere as ``(n, 1)``."""

    @abstractmethod
    def without(self, a: Numbers) -> Numbers:
        """Return a copy with the lowest number there is at every sample's class.

        Nobody is left where it is alone, or all others are ruled out.
        """

    @abstractmethod
    def softmax(self, z: Numbers, shifted: Numbers | None = None, e: Numbers | None = None) -> Softmax[Numbers]:
        """Return it; what is to be kept is written where it is told to, the rest lasts as long as the kernel."""

    @abstractmethod
    def probabilities(self, z: Numbers, into: Numbers | None = None) -> Numbers:
        """Return softmax(z), where it lasts as long as the kernel if not into some memory.

        Where its logarithms are asked for see ``softmax``.
        """

    @abstractmethod
    def difference(self, a: Numbers, b: Numbers, times: float = 1.0) -> Numbers:
        """Return ``a − times·b``, which lasts as long as the kernel."""

    @abstractmethod
    def positive(self, a: Numbers) -> Numbers:
        """Return what is above zero and else 0, which lasts as long as the kernel."""

    @abstractmethod
    def cut_(self, a: Numbers, b: Numbers) -> Numbers:
        """Set to 0 where b is not above zero."""

    @abstractmethod
    def sum(self, a: Numbers) -> Array:
        """Return ``Σ_k a_k`` of every sample."""

    @abstractmethod
    def dot(self, a: Numbers, b: Numbers) -> Array:
        """Return ``Σ_k a_k·b_k`` of every sample."""

    @abstractmethod
    def at(self, a: Numbers) -> Array:
        """Return what every sample has at its class; a label that is no class is an IndexError or a RuntimeError."""

    @abstractmethod
    def put_(self, a: Numbers, value: Array | float) -> Numbers:
        """Write what every sample has at its class."""

    @abstractmethod
    def add_at_(self, a: Numbers, value: Array | float) -> Numbers:
        """Add to what every sample has at its class."""

    @abstractmethod
    def plus_(self, a: Numbers, b: Array | float) -> Numbers:
        """Add one number to all, or one to those of each sample."""

    @abstractmethod
    def times_(self, a: Numbers, b: Numbers | Array | float, into: Numbers | None = None) -> Numbers:
        """Multiply by numbers of every class, or by one for each sample or for all, in place or into other memory."""

    @abstractmethod
    def add_(self, a: Numbers, b: Numbers, times: Array | float = 1.0) -> Numbers:
        """Add ``times·b``, one factor for all or one for each sample."""


def log_of(p: Array) -> Array:
    """Return the logarithm of a column of probabilities; it is −∞ where they have lost digits."""
    return np.log(p * (p > TINY))  # type: ignore[no-any-return]


def sigmoid(a: Array) -> Array:
    """Return ``1 / (1 + e^{−a})`` of a column; where the exponential is infinite it is 0."""
    return 1 / (1 + np.exp(-a))


def log_sigmoid(a: Array) -> Array:
    """Return ``−log(1 + e^{−a})`` of a column without losing digits on either side."""
    return -np.logaddexp(0, -a)

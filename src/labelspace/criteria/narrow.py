"""The notation of kernels for some thousand numbers: numpy's, a few classes first and more of them last."""

from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from labelspace.criteria.maths import Array, Maths, RowMaker, Softmax, classes_of, ones, starts
from labelspace.criteria.scratch import KINDS

FIRST = 16  # classes up to which they come first


@final
class Narrow(Maths[Array]):
    """Numpy's, with a few classes first and more of them last.

    Args:
        like: ``(n, K)``.
        y: classes of the samples, where they are asked for.
        share: of each sample.
    """

    places: Array  # (n,), where classes are among all numbers

    def __init__(self, like: Tensor, y: Tensor | None, share: Tensor | float = 1.0) -> None:
        """Find out which way numbers lie, and where classes are."""
        count, classes = like.shape
        self.first = classes <= FIRST
        self.each = (1, -1) if self.first else (-1, 1)  # the shape of what is of samples
        self._shape = (classes, count) if self.first else (count, classes)
        self._kind: np.dtype[Any] = KINDS[like.dtype]
        self._gradients: dict[int, Array] = {}
        self.share = share.numpy().reshape(self.each) if isinstance(share, Tensor) else share
        if y is None:
            return
        labels = classes_of(y, classes)
        first = starts(count, 1 if self.first else classes)
        self.places = labels * count + first if self.first else labels + first

    def given(self, numbers: Tensor) -> Array:
        """Return numbers of every class, which may be the caller's."""
        array = numbers.resolve_neg().numpy()
        return np.ascontiguousarray(array.T if self.first else array)

    def gradient(self, place: int) -> Array:
        """Return new memory."""
        self._gradients[place] = np.empty(self._shape, self._kind)
        return self._gradients[place]

    def taken(self, place: int) -> Tensor:
        """Return the gradient by an input, ``(n, K)``."""
        found = self._gradients.pop(place)
        return torch.from_numpy(np.ascontiguousarray(found.T) if self.first else found)

    def rows(self, made: RowMaker) -> Array:
        """Return all of them."""
        return self.given(made(slice(None)))

    def column(self, made: RowMaker) -> Array:
        """Return all of them."""
        return made(slice(None)).numpy().reshape(self.each)

    def without(self, a: Array) -> Array:
        """Return it in two passes."""
        return self.put_(a.copy(), np.finfo(a.dtype).min)

    def softmax(self, z: Array, shifted: Array | None = None, e: Array | None = None) -> Softmax[Array]:
        """Return it by its pieces; of the largest, numpy is slow to find one at a time."""
        top = np.maximum.reduce(z, axis=0, keepdims=True) if self.first else torch.from_numpy(z).amax(1, True).numpy()
        shifted = np.subtract(z, top, out=shifted)
        e = np.exp(shifted, out=e)
        return Softmax(shifted, e, self.sum(e), top)

    def probabilities(self, z: Array, into: Array | None = None) -> Array:
        """Return it by its pieces of a few classes, else torch's."""
        if not self.first:
            given = torch.from_numpy(z)
            return torch.softmax(given, 1, out=None if into is None else torch.from_numpy(into)).numpy()
        e = np.subtract(z, np.maximum.reduce(z, axis=0, keepdims=True), out=into)
        np.exp(e, out=e)
        e /= np.add.reduce(e, axis=0, keepdims=True)
        return e

    def difference(self, a: Array, b: Array, times: float = 1.0) -> Array:
        """Return it; of itself it is a product."""
        if a is b:
            return a * (1 - times)
        return a - (b if times == 1 else b * times)

    def positive(self, a: Array) -> Array:
        """Return it in one pass."""
        return np.maximum(a, 0)

    def cut_(self, a: Array, b: Array) -> Array:
        """Set it in two passes."""
        a *= b > 0
        return a

    def sum(self, a: Array) -> Array:
        """Return sums of columns, or of rows as products with ones, which are faster."""
        if self.first:
            return np.add.reduce(a, axis=0, keepdims=True)
        return np.vecdot(a, ones(a.shape[1], a.dtype))[:, None]  # type: ignore[no-any-return]

    def dot(self, a: Array, b: Array) -> Array:
        """Return sums of products of columns or rows."""
        if self.first:
            return np.add.reduce(a * b, axis=0, keepdims=True)
        return np.vecdot(a, b)[:, None]  # type: ignore[no-any-return]

    def at(self, a: Array) -> Array:
        """Return one entry of each sample."""
        return a.reshape(-1)[self.places].reshape(self.each)

    def put_(self, a: Array, value: Array | float) -> Array:
        """Write one entry of each sample."""
        a.reshape(-1)[self.places] = value.reshape(-1) if isinstance(value, np.ndarray) else value
        return a

    def add_at_(self, a: Array, value: Array | float) -> Array:
        """Add to one entry of each sample."""
        a.reshape(-1)[self.places] += value.reshape(-1) if isinstance(value, np.ndarray) else value
        return a

    def plus_(self, a: Array, b: Array | float) -> Array:
        """Add in one pass."""
        a += b
        return a

    def times_(self, a: Array, b: Array | float, into: Array | None = None) -> Array:
        """Multiply in one pass."""
        return np.multiply(a, b, out=a if into is None else into)

    def add_(self, a: Array, b: Array, times: Array | float = 1.0) -> Array:
        """Add a product, or what is taken away as it is."""
        if isinstance(times, float) and times == -1:
            a -= b
            return a
        a += b if isinstance(times, float) and times == 1 else b * times
        return a

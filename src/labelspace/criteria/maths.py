"""What kernels compute with: one notation, two ways to do it on a CPU.

A few thousand numbers cost what is said about them, not what is done with them: numpy says it in a third of torch's
time. More numbers are torch's, which has threads. Of a few classes a sum runs along memory only where classes are
first. A kernel is written once, for all of it.

Numbers of a sample, one each, are a column: always numpy's, in the shape in which they meet those of every class,
``(n, 1)`` beside ``(n, K)`` and ``(1, n)`` beside ``(K, n)``. Functions that end in ``_`` change their first argument
and return it. Whether something holds is multiplied by, never converted: numpy would make it double precision.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, Generic, NamedTuple, TypeVar, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labelspace.criteria.scratch import KINDS, SCRATCH

Array = NDArray[Any]
Numbers = TypeVar("Numbers", Tensor, Array)
FIRST = 16  # classes up to which numpy has them first
FAR = 64.0  # from zero: differences of logits that nobody has shifted would lose digits
TINY = 1e-30  # a probability below has lost digits, or is about to
LONG = 4096  # classes from which a sum is not taken one number after the other
WITH_VECTORS = ("AVX2", "AVX512", "X86_V3", "X86_V4")  # as numpy calls them
RowMaker = Callable[[slice], Tensor]  # ``(n, K)`` numbers of some of a batch's samples, which nothing learns


@lru_cache(maxsize=4)
def _ones(classes: int, kind: "np.dtype[Any]") -> Array:
    """Return a one for each class, which a sum is a product with."""
    return np.ones(classes, kind)


@lru_cache(maxsize=4)
def diagonal(classes: int, number: float, kind: torch.dtype) -> Tensor:
    """Return a number for each class in its row; nobody may write to it."""
    return torch.eye(classes, dtype=kind, device="cpu") * number


@lru_cache(maxsize=4)
def _starts(count: int, step: int) -> Array:
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


@cache
def _vectors(kind: torch.dtype) -> bool:
    """Return whether numpy computes exponentials on this machine with vectors as long as torch's."""
    if kind != torch.float32:
        return False
    found = np.lib.introspect.opt_func_info(func_name="^exp$", signature="float32")
    return any(word in str(each.get("current")) for each in found.get("exp", {}).values() for word in WITH_VECTORS)


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


@final
class Wide(Maths[Tensor]):
    """Torch's, with classes last. What lies between two passes is borrowed: ``done`` gives it back.

    Args:
        part: which samples of the batch these are.
        y: classes of the batch, where they are asked for; all of them are classes.
        share: of each sample of the batch.
        gradients: where those of these samples are written, for each input.
    """

    def __init__(
        self, part: slice, y: Tensor | None, share: Tensor | float = 1.0, gradients: Sequence[Tensor] = ()
    ) -> None:
        """Keep what is said of the samples."""
        self.part, self._gradients = part, gradients
        self.share = share[part].numpy()[:, None] if isinstance(share, Tensor) else share
        self._borrowed: list[Tensor] = []
        self._width = -1  # for which it was looked up where classes are
        if y is not None:
            self.y = y[part]

    def _at(self, a: Tensor) -> tuple[Array, Array]:
        """Return all numbers in a row, and where those of the samples' classes are among them."""
        if self._width != a.shape[1]:
            self._width = a.shape[1]
            self._places = self.y.numpy() + _starts(*a.shape)
        return a.numpy().reshape(-1), self._places

    def gradient(self, place: int) -> Tensor:
        """Return memory of the whole batch's gradient."""
        return self._gradients[place]

    def new(self, like: Tensor) -> Tensor:
        """Return numbers that nobody has set, until all is done."""
        self._borrowed.append(SCRATCH.take(like.shape, like.dtype))
        return self._borrowed[-1]

    def done(self) -> None:
        """Give back what was borrowed."""
        SCRATCH.give(self._borrowed)
        self._borrowed = []

    def rows(self, made: RowMaker) -> Tensor:
        """Return those of the part."""
        return made(self.part)

    def column(self, made: RowMaker) -> Array:
        """Return those of the part."""
        return made(self.part).numpy()

    def without(self, a: Tensor) -> Tensor:
        """Return it in two passes."""
        return self.put_(self.new(a).copy_(a), torch.finfo(a.dtype).min)

    def softmax(self, z: Tensor, shifted: Tensor | None = None, e: Tensor | None = None) -> Softmax[Tensor]:
        """Return it by its pieces, which together take less than torch's own."""
        top = z.amax(dim=1, keepdim=True)
        shifted = torch.sub(z, top, out=self.new(z) if shifted is None else shifted)
        e = self.exp(shifted, e)
        return Softmax(shifted, e, self.sum(e), top.numpy())

    def probabilities(self, z: Tensor, into: Tensor | None = None) -> Tensor:
        """Return torch's own: less than by its pieces, where these are not asked for."""
        return torch.softmax(z, 1, out=self.new(z) if into is None else into)

    def difference(self, a: Tensor, b: Tensor, times: float = 1.0, into: Tensor | None = None) -> Tensor:
        """Return it in one pass; it may be written into one of both."""
        return torch.sub(a, b, alpha=times, out=self.new(a) if into is None else into)

    def positive(self, a: Tensor) -> Tensor:
        """Return it in one pass."""
        return torch.clamp_min(a, 0, out=self.new(a))

    def cut_(self, a: Tensor, b: Tensor) -> Tensor:
        """Set it in one pass."""
        return torch.ops.aten.threshold_backward.grad_input(a, b, 0, grad_input=a)  # type: ignore[no-any-return]

    def blend(self, base: Tensor, weight: float, a: Tensor, b: Tensor, times: float, into: Tensor) -> Tensor:
        """Write it in one pass, two where the base is to be weighed; it may be written into any of them."""
        if weight == 0:
            return self.times_(torch.mul(a, b, out=into), times)
        weighed = base if weight == 1 else torch.mul(base, weight, out=self.new(base))
        return torch.addcmul(weighed, a, b, value=times, out=into)

    def sum(self, a: Tensor) -> Array:
        """Return sums of rows, as products with ones; these lose digits where they are long."""
        if a.shape[1] > LONG:
            return a.sum(dim=1, keepdim=True).numpy()
        return np.vecdot(a.numpy(), _ones(a.shape[1], KINDS[a.dtype]))[:, None]  # type: ignore[no-any-return]

    def dot(self, a: Tensor, b: Tensor) -> Array:
        """Return it by numpy, whose products of rows need no room."""
        return np.vecdot(a.numpy(), b.numpy())[:, None]  # type: ignore[no-any-return]

    def at(self, a: Tensor) -> Array:
        """Return one entry of each row."""
        numbers, places = self._at(a)
        return numbers[places][:, None]

    def put_(self, a: Tensor, value: Array | float) -> Tensor:
        """Write one entry of each row."""
        numbers, places = self._at(a)
        numbers[places] = value[:, 0] if isinstance(value, np.ndarray) else value
        return a

    def add_at_(self, a: Tensor, value: Array | float) -> Tensor:
        """Add to one entry of each row."""
        numbers, places = self._at(a)
        numbers[places] += value[:, 0] if isinstance(value, np.ndarray) else value
        return a

    def plus_(self, a: Tensor, b: Array | float) -> Tensor:
        """Add in one pass."""
        return a.add_(_tensor(b))

    def times_(self, a: Tensor, b: Tensor | Array | float, into: Tensor | None = None) -> Tensor:
        """Multiply in one pass, where the numbers are or into other memory."""
        return torch.mul(a, b if isinstance(b, Tensor) else _tensor(b), out=a if into is None else into)

    def add_(self, a: Tensor, b: Tensor, times: Array | float = 1.0) -> Tensor:
        """Add in one pass."""
        return a.addcmul_(b, torch.from_numpy(times)) if isinstance(times, np.ndarray) else a.add_(b, alpha=times)

    def exp(self, a: Tensor, into: Tensor | None = None) -> Tensor:
        """Return exponentials, by numpy where it has vectors for them: half of torch's time."""
        into = self.new(a) if into is None else into
        if not _vectors(a.dtype):
            return torch.exp(a, out=into)
        np.exp(a.numpy(), out=into.numpy())
        return into


def _tensor(b: Array | float) -> Tensor | float:
    return torch.from_numpy(b) if isinstance(b, np.ndarray) else b


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
        starts = _starts(count, 1 if self.first else classes)
        self.places = labels * count + starts if self.first else labels + starts

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
        return np.vecdot(a, _ones(a.shape[1], a.dtype))[:, None]  # type: ignore[no-any-return]

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

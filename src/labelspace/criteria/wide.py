"""The notation of kernels for many numbers: torch's, classes last, what is one number a sample by numpy."""

from collections.abc import Sequence
from functools import cache
from typing import final

import numpy as np
import torch
from torch import Tensor

from labelspace.criteria.maths import Array, Maths, RowMaker, Softmax, ones, starts
from labelspace.criteria.scratch import KINDS, SCRATCH

LONG = 4096  # classes from which a sum is not taken one number after the other
WITH_VECTORS = ("AVX2", "AVX512", "X86_V3", "X86_V4")  # as numpy calls them


@cache
def _vectors(kind: torch.dtype) -> bool:
    """Return whether numpy computes exponentials on this machine with vectors as long as torch's."""
    if kind != torch.float32:
        return False
    found = np.lib.introspect.opt_func_info(func_name="^exp$", signature="float32")
    return any(word in str(each.get("current")) for each in found.get("exp", {}).values() for word in WITH_VECTORS)


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
            self._places = self.y.numpy() + starts(*a.shape)
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
        return np.vecdot(a.numpy(), ones(a.shape[1], KINDS[a.dtype]))[:, None]  # type: ignore[no-any-return]

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

"""Memory of kernels, used again and again: what lies between two passes, and gradients that nobody holds any more.

New memory of a megabyte costs more than a pass over it: an allocator gives large pieces back to the system as soon as
they are free, and the next batch waits for every page of them anew.
"""

import sys
import threading
from collections.abc import Sequence
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

KINDS: dict[torch.dtype, "np.dtype[Any]"] = {torch.float32: np.dtype(np.float32), torch.float64: np.dtype(np.float64)}
KEPT = 2**21  # numbers that a thread keeps: eight times what kernels take at a time
LEAST = 2**14  # numbers from which a piece of memory is worth looking for
MOST = 16  # arrays that are remembered of those that were lent: more are held for good by somebody


@final
class Scratch(threading.local):
    """What is free, of each thread by itself."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._free: dict[tuple[torch.Size, torch.dtype], list[Tensor]] = {}
        self._numbers = 0

    def take(self, shape: torch.Size, dtype: torch.dtype) -> Tensor:
        """Return a tensor on the CPU with any values, which is the caller's until it is given back."""
        free = self._free.get((shape, dtype))
        if not free:
            return torch.empty(shape, dtype=dtype, device="cpu")
        self._numbers -= free[-1].numel()
        return free.pop()

    def give(self, tensors: Sequence[Tensor]) -> None:
        """Take back what nobody uses any more; a batch of another size drives out those before it."""
        for each in tensors:
            count = each.numel()
            if each.is_inference() or count > KEPT:
                continue  # outside inference mode nothing could be written into such a tensor
            if self._numbers + count > KEPT:
                self._free, self._numbers = {}, 0
            self._free.setdefault((each.shape, each.dtype), []).append(each)
            self._numbers += count


def _references(arrays: Sequence[NDArray[Any]]) -> list[int]:
    """Return how many references there are to each array, counted in one way, whatever that adds of its own."""
    return [sys.getrefcount(each) for each in arrays]


def _when_free() -> int:
    """Return how many there are to an array that a list alone holds; none is that many where they are not counted."""
    arrays = [np.empty(1, np.float32)]
    (free,) = _references(arrays)
    tensor = torch.from_numpy(arrays[0])
    (held,) = _references(arrays)
    del tensor
    return free if held > free and _references(arrays) == [free] else -1


@final
class Lent(threading.local):
    """What is given away for good, until its last owner has let go of it; of each thread by itself.

    A tensor made from a numpy array holds the array as long as anybody holds the tensor's memory: a gradient, a view of
    it, what was exported. So the number of references to the array tells whether it is free.
    """

    FREE = _when_free()

    def __init__(self) -> None:
        """Start with nothing."""
        self._arrays: list[NDArray[Any]] = []

    def take(self, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        """Return a tensor on the CPU with any values, which is the caller's to keep or to give away."""
        wanted, kind = tuple(shape), KINDS[dtype]
        for place, count in enumerate(_references(self._arrays)):
            if count == self.FREE and self._arrays[place].shape == wanted and self._arrays[place].dtype == kind:
                return torch.from_numpy(self._arrays[place])
        new = np.empty(wanted, kind)
        if new.size <= KEPT:
            self._arrays = [new, *self._arrays]
            while len(self._arrays) > MOST or sum(each.size for each in self._arrays) > 2 * KEPT:
                self._arrays.pop()  # the oldest: whoever holds it keeps it
        return torch.from_numpy(new)


SCRATCH, LENT = Scratch(), Lent()

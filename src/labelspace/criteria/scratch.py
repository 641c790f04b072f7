"""Memory for what lies between two passes of a kernel, used again and again.

New memory of a megabyte costs more than a pass over it: an allocator gives large pieces back to the system as soon as
they are free, and the next batch waits for every page of them anew.
"""

import threading
from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor

KEPT = 2**21  # numbers that a thread keeps: eight times what kernels take at a time


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


SCRATCH = Scratch()

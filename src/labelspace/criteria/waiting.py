"""Small batches that wait to be looked at together: what is said of one batch is said of many in the same time."""

import threading
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labelspace.criteria.scratch import KINDS

MOST = 2**17  # numbers of outputs that wait, half a megabyte in single precision
SMALL = MOST // 8  # numbers of a batch from which waiting gains nothing
BATCHES = 32  # of the first one's size that wait at the most


@final
class Waiting:
    """Outputs and class indices on the CPU, copied, of one width and dtype."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.count = 0  # samples that wait
        self.lock = threading.RLock()
        self._outputs: NDArray[Any] = np.empty((0, 0), np.float32)
        self._labels: NDArray[np.int64] = np.empty(0, np.int64)

    def __reduce__(self) -> tuple[type["Waiting"], tuple[()]]:
        """Leave everything out of copies: whoever copies has looked at it before."""
        return Waiting, ()

    def fits(self, output: Tensor) -> bool:
        """Return whether there is room for a batch beside those that wait."""
        kept, (count, width) = self._outputs, output.shape
        return self.count + count <= len(kept) and width == kept.shape[1] and KINDS[output.dtype] == kept.dtype

    def room(self, output: Tensor) -> bool:
        """Make room for batches like this one, where nothing waits; False: it is too large to wait."""
        count, width = output.shape
        if not 0 < count * width <= SMALL:
            return False
        if not self.fits(output):
            samples = min(BATCHES * count, MOST // width)
            self._outputs, self._labels = np.empty((samples, width), KINDS[output.dtype]), np.empty(samples, np.int64)
        return True

    def put(self, output: Tensor, y: Tensor) -> None:
        """Copy a batch that fits."""
        start, self.count = self.count, self.count + len(y)
        self._outputs[start : self.count] = output.detach().resolve_neg().numpy()
        self._labels[start : self.count] = y.numpy()

    def taken(self) -> tuple[Tensor, Tensor]:
        """Return all of it, which lasts until the next batch comes, and start with nothing."""
        count, self.count = self.count, 0
        return torch.from_numpy(self._outputs[:count]), torch.from_numpy(self._labels[:count])

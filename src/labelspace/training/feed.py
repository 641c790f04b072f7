"""Batches by indexing tensors: no workers, no collation."""

from collections.abc import Iterator

import torch
from torch import Tensor

from labelspace import _devices
from labelspace.data.dataset import Dataset, Split
from labelspace.training.config import Config

IN_MEMORY = 2**30  # bytes; above that, samples are normalised batch by batch
ON_DEVICE = 0.25  # of what a device has left: samples that take no more go there whole


class Feed:
    """One part of a dataset, ready to be indexed.

    Args:
        split: the samples.
        dataset: whose normalisation applies.
        config: precision, memory format, and the device that batches come to; labels stay on the CPU.
    """

    def __init__(self, split: Split, dataset: Dataset, config: Config) -> None:
        """Normalise everything at once where it fits into memory."""
        self.split, self.dataset = split, dataset
        self.dtype = torch.float64 if config.precision == "float64" else torch.float32
        self.channels_last = config.channels_last and split.x.ndim == 4
        self.device = _devices.placed(config.device)
        self.y = split.y
        small = split.x.numel() * 4 <= IN_MEMORY
        self.ready = self._normalised(split.x) if small else None
        if self.ready is not None and self.ready.nbytes <= ON_DEVICE * _devices.free_memory(self.device):
            self.ready = self.ready.to(self.device)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.y)

    def take(self, rows: Tensor) -> Tensor:
        """Return a batch as the model reads it, on the device."""
        if self.ready is None:
            return _devices.moved(self._normalised(self.split.x[rows]), self.device)
        return _devices.moved(self.ready[_devices.moved(rows, self.ready.device)], self.device)

    def batches(self, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield all samples in order."""
        for rows in torch.split(torch.arange(len(self)), size):
            yield self.take(rows), self.y[rows]

    def _normalised(self, x: Tensor) -> Tensor:
        batch = self.dataset.normalize(x)
        if not batch.is_floating_point():
            return batch
        batch = batch.to(self.dtype)
        return batch.contiguous(memory_format=torch.channels_last) if self.channels_last else batch

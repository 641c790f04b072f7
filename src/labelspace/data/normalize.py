"""What a batch goes through before a model sees it, with statistics of the training part only."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import torch
from torch import Tensor

from labelspace.data.source import Kind

# numbers looked at in one piece: few enough for any memory, many enough to be fast
PIECE = 1 << 22
# columns whose spread is below this share of their size are constant but for rounding: they become zeros
CONSTANT = 1e-6
# kinds whose samples are token ids, which stay as they are
TOKENS = ("text", "sequences")


class Scales(TypedDict):
    """What a record holds of it."""

    kind: Kind
    mean: list[float]
    std: list[float]


@dataclass(frozen=True, eq=False)
class Normalize:
    """Turn a batch of stored samples into what a model reads.

    Images (uint8) become float32 ``(x/255 − mean)/std`` per channel; tables and features ``(x − mean)/std`` per
    column (per channel where samples have several axes); token ids are left as they are.

    Args:
        kind: the kind of the dataset.
        mean: one number per channel or column, of the training part.
        std: the same; 1 where a column is constant, which therefore becomes zero.

    Example:
        >>> normalize = statistics(torch.tensor([[1.0, 5.0], [3.0, 5.0]]), "table")
        >>> normalize(torch.tensor([[1.0, 5.0]]))
        tensor([[-1.,  0.]])
    """

    kind: Kind
    mean: Tensor
    std: Tensor

    def __call__(self, batch: Tensor) -> Tensor:
        """Return the batch as a model reads it, on the batch's device."""
        if self.kind in TOKENS:
            return batch
        shape = (1, -1) + (1,) * (batch.ndim - 2)
        mean, std = (value.to(batch.device).reshape(shape) for value in (self.mean, self.std))
        x = batch.to(torch.float32)
        return (x / 255 - mean) / std if self.kind == "images" else (x - mean) / std

    def plain(self) -> Scales:
        """Return it as plain JSON data, for a run's record."""
        return {"kind": self.kind, "mean": self.mean.tolist(), "std": self.std.tolist()}

    @classmethod
    def stored(cls, facts: Scales) -> "Normalize":
        """Return what ``plain`` wrote down; other entries of the record are passed over.

        Args:
            facts: with ``kind``, ``mean`` and ``std``.

        Example:
            >>> Normalize.stored({"kind": "table", "mean": [2.0], "std": [0.5]})(torch.tensor([[3.0]]))
            tensor([[2.]])
        """
        mean, std = (torch.tensor([float(value) for value in facts[name]]) for name in ("mean", "std"))
        return cls(facts["kind"], mean, std)


def statistics(x: Tensor, kind: Kind) -> Normalize:
    """Return the normalisation of a training part.

    Args:
        x: the samples, ``(N, …)``; read in pieces, so that they may lie in a memory-mapped file.
        kind: the kind of the dataset.

    Example:
        >>> images = torch.tensor([0, 255], dtype=torch.uint8).reshape(2, 1, 1, 1)
        >>> statistics(images, "images").mean
        tensor([0.5000])
    """
    if kind in TOKENS:
        return Normalize(kind, torch.zeros(0), torch.ones(0))
    mean, variance = _of_images(x) if kind == "images" else _of_columns(x)
    std = variance.clamp(min=0).sqrt()
    std = torch.where(std > CONSTANT * mean.abs().clamp(min=1e-12), std, torch.ones_like(std))
    return Normalize(kind, mean.to(torch.float32), std.to(torch.float32))


def _of_images(x: Tensor) -> tuple[Tensor, Tensor]:
    # counts of the 256 values are whole numbers: the same result for any chunk size and number of threads
    counts = np.zeros((x.shape[1], 256), dtype=np.int64)
    for piece in _pieces(x):
        chunk = piece.numpy()
        for channel in range(x.shape[1]):
            counts[channel] += np.bincount(chunk[:, channel].ravel(), minlength=256)
    values = np.arange(256) / 255
    share = counts / counts.sum(axis=1, keepdims=True)
    mean = share @ values
    variance = (share * (values - mean[:, None]) ** 2).sum(axis=1)
    return torch.from_numpy(mean), torch.from_numpy(variance)


def _of_columns(x: Tensor) -> tuple[Tensor, Tensor]:
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    per_column = x.numel() / x.shape[1]
    mean = torch.zeros(x.shape[1], dtype=torch.float64)
    for piece in _pieces(x):
        mean += piece.double().sum(axes) / per_column
    shape = (1, -1) + (1,) * (x.ndim - 2)
    variance = torch.zeros_like(mean)
    for piece in _pieces(x):
        variance += (piece.double() - mean.reshape(shape)).square().sum(axes) / per_column
    return mean, variance


def _pieces(x: Tensor) -> Iterator[Tensor]:
    rows = max(1, PIECE // max(1, x[0].numel()))
    for start in range(0, len(x), rows):
        yield x[start : start + rows]

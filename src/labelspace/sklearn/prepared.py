"""Samples of an estimator as training wants them: standardised in double precision, in the parts of a dataset."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labelspace.data import digests, splits
from labelspace.data.dataset import Dataset, Split
from labelspace.data.normalize import Normalize
from labelspace.data.source import Kind

Numbers = NDArray[np.float64]
CONSTANT = 1e-12  # a column whose spread is below this share of its size is constant but for rounding


@dataclass(frozen=True, eq=False)
class Scales:
    """How columns are standardised, those of pictures per channel; a column that is constant becomes zero.

    Args:
        mean: of each column or channel.
        std: of each, 1 where it is constant.
        shape: of one sample.

    Example:
        >>> scales = Scales.of(np.array([[1.0, 5.0], [3.0, 5.0]]), (2,), weights=np.array([1.0, 3.0]))
        >>> scales.mean, scales(np.array([[2.5, 5.0]]))
        (array([2.5, 5. ]), array([[0., 0.]]))
    """

    mean: Numbers
    std: Numbers
    shape: tuple[int, ...]

    @classmethod
    def of(cls, x: Numbers, shape: tuple[int, ...], weights: Numbers | None) -> "Scales":
        """Return those of training samples, which count by their weights."""
        # the mean over the inside of a sample, then over samples
        samples = x.reshape(len(x), shape[0], -1)
        mean = np.average(samples.mean(axis=2), axis=0, weights=weights)
        spread = np.square(samples - mean[:, None]).mean(axis=2)
        std = np.sqrt(np.average(spread, axis=0, weights=weights))
        varied = std > CONSTANT * np.maximum(np.abs(mean), 1e-12)
        return cls(mean, np.where(varied, std, 1.0), shape)

    def __call__(self, x: Numbers) -> Numbers:
        """Return samples in their shape, standardised."""
        axes = (-1,) + (1,) * (len(self.shape) - 1)
        return (x.reshape(len(x), *self.shape) - self.mean.reshape(axes)) / self.std.reshape(axes)

    def noted(self, dataset: Dataset) -> Dataset:
        """Return a dataset of standardised samples that says how they were, for a teacher that read them raw."""
        mean, std = (torch.from_numpy(part).float() for part in (self.mean, self.std))
        return replace(dataset, normalize=Normalize(dataset.kind, mean, std))


class Prepared(NamedTuple):
    """Training samples: standardised, with places of their classes, and weights where they do not count alike."""

    x: Numbers
    codes: NDArray[np.int64]
    weights: Numbers | None


def dataset_of(prepared: Prepared, names: Sequence[str], fraction: float, seed: int) -> tuple[Dataset, Tensor | None]:
    """Return a dataset without a test part, and the weights of its training samples.

    Args:
        prepared: all samples.
        names: of the classes.
        fraction: of the samples that goes to the validation part.
        seed: which ones.

    Example:
        >>> prepared = Prepared(np.zeros((8, 2)), np.array([0, 1] * 4), None)
        >>> dataset_of(prepared, ["no", "yes"], 0.25, seed=0)[0]
        Dataset(table 2, 2 classes: 6 train, 2 validation, 0 test)
    """
    x, y = torch.from_numpy(prepared.x).float(), torch.from_numpy(prepared.codes.astype(np.int64))
    rows, held = np.arange(len(y)), np.arange(0)
    if fraction:
        rows, held = splits.hold_out(prepared.codes, fraction, seed)
    kind: Kind = "table" if x.ndim == 2 else "features"
    done = Normalize(kind, torch.zeros(x.shape[1]), torch.ones(x.shape[1]))
    train, validation = (Split(x[part], y[part]) for part in (rows, held))
    weights = None if prepared.weights is None else torch.from_numpy(prepared.weights[rows])
    found = Dataset(
        train=train,
        validation=validation,
        test=Split(x[:0], y[:0]),
        names=tuple(names),
        kind=kind,
        source={"path": "given in Python"},
        normalize=done,
        key=digests.of_values(list(names), rows, *(part for part in prepared if part is not None)),
    )
    return found, weights

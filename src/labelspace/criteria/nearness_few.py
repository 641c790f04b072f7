"""The loss of adaptive labels where classes are few: all is written down, and said in numpy.

A step on a small network costs what is said, not what is computed: here everything is said once. Samples come first in
whatever has dimensions and last in what has classes, in which sums run along memory. What a batch has of its classes is
kept for the next labels.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from labelspace._devices import IN_CACHE
from labelspace.criteria import divergences, known
from labelspace.criteria.maths import Array, Narrow
from labelspace.criteria.nearness_kernel import ClassMeans

MOST = 2**18  # numbers of a product of matrices up to which numpy takes one thread for it, and less time than torch
DIFFERENCES = 2**17  # numbers up to which they are written down, of every sample and class
ONE_BY_ONE = "donot_use_mm_for_euclid_dist"
NEAREST = 1e-6  # distances are no smaller, and have no gradient there


def fits(output: Tensor, labels: Tensor) -> bool:
    """Return whether numpy is the faster one for points and labels, and can have them."""
    few = output.numel() <= known.FEW and max(output.shape) * len(labels) <= IN_CACHE
    return few and labels.is_cpu and labels.dtype is output.dtype


def nearness_to_few(
    output: Tensor, y: Tensor, labels: Tensor, update: bool, through: bool, share: float, careful: Callable[..., Tensor]
) -> tuple[Tensor, ClassMeans]:
    """Return the loss as ``nearness_kernel.nearness`` has it, and the means of the classes in the batch.

    Args:
        output: ``(n, D)``.
        y: class indices, which nobody writes to any more.
        labels: ``(K, D)``, those before this batch.
        update: whether classes of the batch get new ones.
        through: whether gradients go through the means.
        share: of each sample.
        careful: gives the values, differentiable.
    """
    before, classes = labels.numpy(), y.numpy()
    found: list[ClassMeans] = []

    def quick(do: Narrow, output: Array) -> Array:
        batch = _Batch.of(output.T if do.first else output, classes, len(before))
        found[:] = [batch.seen()]
        rows = batch.labels(before, update)
        values, slope = _values_and_slope(_distances(rows, batch.points), classes, share)
        gradient = do.gradient(0).T if do.first else do.gradient(0)
        np.multiply(batch.points, np.add.reduce(slope, axis=0)[:, None], out=gradient)
        gradient -= _product(slope.T, rows)
        if update and through:
            gradient += batch.through_means(slope)
        return values

    loss = known.known(quick, careful, None, share, output)
    return loss, found.pop()


class _Batch(NamedTuple):
    """Points about their middle: far from zero the two parts of a gradient would lose digits to each other."""

    middle: Array  # (D,)
    points: Array  # (n, D)
    classes: Array  # (n,)
    places: Array | None  # (p,), the classes that are there; None where all are
    counts: Array  # (K, 1), at least 1
    means: Array  # (K, D), 0 of classes that are not there

    @classmethod
    def of(cls, output: Array, classes: Array, count: int) -> "_Batch":
        """Return it; a label that is no class is an IndexError."""
        middle = np.add.reduce(output, axis=0)
        middle /= len(output)
        points = output - middle
        means, numbers = _class_sums(points, classes, count)
        places = numbers.nonzero()[0]
        counts = numbers.astype(points.dtype)[:, None]
        if len(places) < count:
            np.maximum(counts, 1, out=counts)
        means /= counts
        return cls(middle, points, classes, places if len(places) < count else None, counts, means)

    def seen(self) -> ClassMeans:
        """Return the means where they are."""
        if self.places is None:
            return ClassMeans(None, self.means + self.middle, self.counts)
        return ClassMeans(self.places, self.means[self.places] + self.middle, self.counts[self.places])

    def labels(self, before: Array, update: bool) -> Array:
        """Return labels about the middle, ``(K, D)``."""
        if update and self.places is None:
            return self.means
        rows: Array = before - self.middle
        if update:
            rows[self.places] = self.means[self.places]
        return rows

    def through_means(self, slope: Array) -> Array:
        """Return what a gradient has from its means: in equal parts to the samples of a class."""
        to_means = self.means * np.add.reduce(slope, axis=1)[:, None]
        to_means -= _product(slope, self.points)
        to_means /= self.counts
        return to_means.take(self.classes, axis=0)  # type: ignore[no-any-return]


def _class_sums(points: Array, classes: Array, count: int) -> tuple[Array, Array]:
    """Return the sum of each class and the number of its samples; a label that is no class is an IndexError."""
    member = _identity(count, points.dtype).take(classes, axis=0)
    try:
        numbers = np.bincount(classes, minlength=count)
    except ValueError as error:  # of those that numpy counts from the end
        raise IndexError(str(error)) from error
    if count * points.size <= MOST:
        return member.T @ points, numbers
    samples = torch.from_numpy(points)
    sums = samples.new_zeros(count, points.shape[1]).index_add_(0, torch.from_numpy(classes), samples)
    return sums.numpy(), numbers


@lru_cache(maxsize=4)
def _identity(classes: int, kind: "np.dtype[Any]") -> Array:
    return np.eye(classes, dtype=kind)


def _values_and_slope(distances: Array, classes: Array, share: float) -> tuple[Array, Array]:
    """Return ``d_y + log Σ_k e^{−d_k}`` of every sample, and ``share·(δ_y − p)/d``, ``(K, n)``."""
    count = len(classes)
    places = classes * count
    places += np.arange(count)
    nearest = np.minimum.reduce(distances, axis=0)
    slope = nearest - distances
    np.exp(slope, out=slope)
    total = np.add.reduce(slope, axis=0)
    values = np.log(total)
    values += distances.take(places)
    values -= nearest
    slope *= -share / total
    slope.reshape(-1)[places] += share
    slope /= distances
    if nearest[nearest.argmin()] <= NEAREST:
        slope[distances <= NEAREST] = 0
    return values, slope


def _distances(rows: Array, points: Array) -> Array:
    """Return ``‖z − ŷ_k‖``, ``(K, n)``, as ``divergences.distances`` has them."""
    if rows.shape[1] >= divergences.WIDE:
        found = _by_product(rows, points)
    elif rows.size * len(points) <= DIFFERENCES:
        differences = np.subtract(rows.T[:, :, None], points.T[:, None], order="C")
        differences *= differences
        found = np.sqrt(np.add.reduce(differences, axis=0))
    else:
        found = torch.cdist(torch.from_numpy(rows), torch.from_numpy(points), compute_mode=ONE_BY_ONE).numpy()
    return np.maximum(found, NEAREST, out=found)


def _by_product(rows: Array, points: Array) -> Array:
    """Return distances by one matrix product; where it would lose digits, one by one."""
    sizes = np.vecdot(rows, rows)[:, None] + np.vecdot(points, points)
    given = torch.from_numpy(sizes), torch.from_numpy(rows), torch.from_numpy(points).T
    squared: Array = torch.addmm(*given, alpha=-2).numpy()
    sizes *= 0.1
    k, n = (squared < sizes).nonzero()
    between = rows[k] - points[n]
    squared[k, n] = np.vecdot(between, between)
    return np.sqrt(squared, out=squared)


def _product(a: Array, b: Array) -> Array:
    """Return a product of matrices, by numpy where that has one thread like its caller."""
    if len(a) * b.size <= MOST:
        return a @ b
    return torch.mm(torch.from_numpy(a), torch.from_numpy(b)).numpy()

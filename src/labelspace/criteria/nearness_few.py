"""The loss of adaptive labels where classes are few: all is written down, and said in numpy.

A step on a small network costs what is said, not what is computed: here everything is said once. Samples come first in
whatever has dimensions and last in what has classes, in which sums run along memory. What a batch has of its classes is
kept for the next labels.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from labelspace._devices import IN_CACHE
from labelspace.criteria import divergences, known
from labelspace.criteria.maths import Array
from labelspace.criteria.narrow import Narrow
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
        values, slope = _values_and_slope(_distances(rows, batch.points), batch.member)
        gradient = do.gradient(0).T if do.first else do.gradient(0)
        np.multiply(batch.points, np.add.reduce(slope, axis=0)[:, None], out=gradient)
        gradient -= _product(slope.T, rows)
        if update and through:
            gradient += batch.through_means(slope)
        gradient *= share
        return values

    loss = known.known(quick, careful, None, share, output)
    return loss, found.pop()


class _Batch(NamedTuple):
    """Points about their middle: far from zero the two parts of a gradient would lose digits to each other."""

    middle: Array  # (D,)
    points: Array  # (n, D)
    classes: Array  # (n,)
    member: Array  # (K, n), 1 for the class of a sample
    places: Array | None  # (p,), the classes that are there; None where all are
    counts: Array  # (K, 1), at least 1
    means: Array  # (K, D), 0 of classes that are not there

    @classmethod
    def of(cls, output: Array, classes: Array, count: int) -> "_Batch":
        """Return it; a label that is no class is an IndexError."""
        middle = np.add.reduce(output, axis=0)
        middle /= len(output)
        points = output - middle
        member = np.equal(_numbers(count), classes).astype(points.dtype)
        counts = np.add.reduce(member, axis=1, keepdims=True)
        if np.add.reduce(counts, axis=None) < len(classes):
            raise IndexError("a label that is no class")
        means = _class_sums(points, classes, member)
        places = None if counts[counts.argmin()] else counts.nonzero()[0]
        if places is not None:
            np.maximum(counts, 1, out=counts)
        means /= counts
        return cls(middle, points, classes, member, places, counts, means)

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


def _class_sums(points: Array, classes: Array, member: Array) -> Array:
    if points.size * len(member) <= MOST:
        return member @ points
    samples = torch.from_numpy(points)
    sums = samples.new_zeros(len(member), points.shape[1])
    return sums.index_add_(0, torch.from_numpy(classes), samples).numpy()


@lru_cache(maxsize=4)
def _numbers(classes: int) -> Array:
    return np.arange(classes)[:, None]


def _values_and_slope(distances: Array, member: Array) -> tuple[Array, Array]:
    """Return ``d_y + log Σ_k e^{−d_k}`` of every sample, and ``(δ_y − p)/d``, ``(K, n)``."""
    nearest = np.minimum.reduce(distances, axis=0)
    slope = nearest - distances
    np.exp(slope, out=slope)
    total = np.add.reduce(slope, axis=0)
    values = np.log(total)
    values += np.add.reduce(member * distances, axis=0)
    values -= nearest
    slope /= total
    np.subtract(member, slope, out=slope)
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

"""The loss of adaptive labels with its gradient, for whole batches: two matrix products, no copy of the labels."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from labelspace._devices import IN_CACHE
from labelspace.criteria import divergences
from labelspace.criteria.known import known
from labelspace.criteria.maths import Array
from labelspace.criteria.products import product
from labelspace.criteria.wide import Wide


class ClassMeans(NamedTuple):
    """What a batch has of its classes."""

    places: Array | None  # (p,), which classes these are; None where they are all
    means: Array  # (p, D)
    counts: Array  # (p, 1), none of them 0


def nearness(
    output: Tensor, y: Tensor, labels: Tensor, update: bool, through: bool, share: float, careful: Callable[..., Tensor]
) -> tuple[Tensor, ClassMeans]:
    """Return ``Σ share·(d_y + log Σ_k e^{−d_k})``, ``d_k = ‖z − ŷ_k‖``, and the means ŷ of the classes in the batch.

    With ``w = (δ_y − p)/d`` the gradient by z is ``(Σ_k w_k)·z − Σ_k w_k·ŷ_k``, by ŷ_k
    ``(Σ_n w_nk)·ŷ_k − Σ_n w_nk·z_n``,
    which reaches the samples of class k in equal parts. Only classes of the batch are touched by it.

    Args:
        output: ``(n, D)``.
        y: class indices.
        labels: ``(K, D)``, those before this batch.
        update: whether classes of the batch get new ones.
        through: whether gradients go through the means.
        share: of each sample.
        careful: gives the values, differentiable.
    """
    found: list[ClassMeans] = []
    present, member, counts = y.unique(return_inverse=True, return_counts=True)  # type: ignore[no-untyped-call]

    def quick(do: Wide, output: Tensor) -> Array:
        # about the middle of the batch: far from zero the two parts of a gradient would lose digits to each other
        middle = output.mean(dim=0)
        output = output - middle
        times = counts.to(output.dtype).unsqueeze(1)
        means = output.new_zeros(len(present), output.shape[1]).index_add_(0, member, output) / times
        found[:] = [ClassMeans(present.numpy(), (means + middle).numpy(), times.numpy())]
        places, new = (present, means) if update else (present[:0], means[:0])
        centres = about(labels.to(output.dtype), middle, places, new)
        distances = centres.distances(output)
        soft = do.softmax(-distances)
        values = np.log(soft.total) - do.at(soft.shifted)
        slope = do.add_at_(do.times_(soft.e, -do.share / soft.total), do.share)
        slope.div_(distances)
        if distances.amin().item() <= 1e-6:
            slope.masked_fill_(distances <= 1e-6, 0)
        mine = slope.index_select(1, present)
        gradient = torch.mul(slope.sum(dim=1, keepdim=True), output, out=do.gradient(0)).sub_(centres.mixed(slope))
        if update and through:
            to_means = mine.sum(dim=0).unsqueeze(1) * means - product(mine.T, output)
            gradient += (to_means / times).index_select(0, member)
        return values

    loss = known(quick, careful, y, share, output, whole=True)
    return loss, found.pop()


class Written(NamedTuple):
    """Rows about the middle."""

    rows: Tensor  # (K, D)

    def distances(self, points: Tensor) -> Tensor:
        """Return ``‖z − ŷ_k‖`` of points about the middle."""
        return divergences.distances(points, self.rows)

    def mixed(self, weights: Tensor) -> Tensor:
        """Return ``weights @ rows``."""
        return weights @ self.rows


class Centres(NamedTuple):
    """Rows ``labels − middle`` of which some are new ones, never written down: they may be many times the batch."""

    labels: Tensor  # (K, D)
    middle: Tensor  # (D,)
    places: Tensor  # (p,), of the new ones
    new: Tensor  # (p, D), about the middle
    sizes: Tensor  # (K,), squared lengths

    def distances(self, points: Tensor) -> Tensor:
        """Return ``‖z − ŷ_k‖`` of points about the middle, as ``divergences.distances`` has them.

        ``‖z‖² + ‖ŷ‖² − 2·z·ŷ``; pairs so near each other that the difference would lose digits are taken one by one.
        Where many are near, rows are written down.
        """
        both = points.square().sum(dim=1, keepdim=True) + self.sizes
        shifts = 2 * torch.mv(points, self.middle).unsqueeze(1)
        squared = product(points, self.labels.T).mul_(-2).add_(both).add_(shifts)
        near_new = product(points, self.new.T).mul_(-2).add_(both.index_select(1, self.places))
        squared.index_copy_(1, self.places, near_new)
        n, k = (squared < both.mul_(0.1)).nonzero(as_tuple=True)
        if divergences.many(n, squared):
            return divergences.distances(points, self.written())
        squared[n, k] = (points[n] - self.rows(k)).square().sum(dim=1)
        return squared.clamp_min_(1e-12).sqrt_()

    def rows(self, k: Tensor) -> Tensor:
        """Return some of them."""
        place = self.places.new_full((len(self.labels),), -1)
        place[self.places] = torch.arange(len(self.places), device=place.device)
        found, mine = self.labels[k] - self.middle, place[k]
        found[mine >= 0] = self.new[mine[mine >= 0]]
        return found

    def written(self) -> Tensor:
        """Return all of them, ``(K, D)``."""
        return (self.labels - self.middle).index_copy_(0, self.places, self.new)

    def mixed(self, weights: Tensor) -> Tensor:
        """Return ``weights @ rows``; the weights of new ones are lost."""
        of_new = product(weights.index_select(1, self.places), self.new)
        weights.index_fill_(1, self.places, 0)
        of_new.sub_(weights.sum(dim=1, keepdim=True) * self.middle)
        return of_new.add_(product(weights, self.labels))


def about(labels: Tensor, middle: Tensor, places: Tensor, new: Tensor) -> Written | Centres:
    """Return rows about a middle, written down where they are few numbers.

    Where the middle is so far away that products would lose digits, labels are moved there.
    """
    if labels.numel() <= IN_CACHE or labels.shape[1] < divergences.WIDE:
        return Written((labels - middle).index_copy_(0, places, new))
    outer, own = torch.linalg.vector_norm(labels, dim=1).square_(), middle.square().sum()
    sizes = torch.addmv(outer + own, labels, middle, alpha=-2)
    if bool((sizes < 0.1 * (outer + own)).any()):
        labels, middle = labels - middle, torch.zeros_like(middle)
        sizes = torch.linalg.vector_norm(labels, dim=1).square_()
    return Centres(labels, middle, places, new, sizes.index_copy_(0, places, new.square().sum(dim=1)))

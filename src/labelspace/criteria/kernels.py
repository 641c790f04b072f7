"""Losses of whole batches with their gradients, computed together: what a training step on a CPU costs.

Each function returns ``Σ share·values`` of the per-sample losses in ``divergences`` for tensors whose values can be
looked at. The gradient is made along with the loss, where softmax is at hand anyway; ``known`` says how it is used.
Results need not be finite: a caller takes the per-sample form where they are not.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from labelspace.criteria import divergences
from labelspace.criteria.known import known
from labelspace.criteria.maths import Array, Maths, Numbers, RowMaker, Softmax, log_sigmoid, sigmoid
from labelspace.criteria.targets import Share, TargetRows, row_maker

LARGE = 2**19  # entries of an output from which one pass of exponentials less is worth a function in Python
NEVER = torch.iinfo(torch.int64).min  # no label: ignored samples are left out before


def cross_entropy(output: Tensor, y: Tensor, share: Share) -> Tensor:
    """Return ``Σ share·H(y, p)`` as torch computes it.

    Args:
        output: ``(n, K)``.
        y: class indices, of which one that is no class is an IndexError; or targets ``(n, K)`` of any mass.
        share: of each sample.
    """
    if isinstance(share, Tensor):
        return torch.dot(torch.nn.functional.cross_entropy(output, y, ignore_index=NEVER, reduction="none"), share)
    if y.ndim == 2:
        # one product of all numbers: a step less to go back than through torch's own
        return torch.dot(torch.log_softmax(output, 1).reshape(-1), y.reshape(-1)) * -share
    loss, times = torch.nn.functional.cross_entropy(output, y, ignore_index=NEVER), share * len(y)
    return loss if times == 1 else loss * times


def soft_cross_entropy(output: Tensor, target: Tensor, share: Share) -> Tensor:
    """Return ``Σ share·H(t, p)`` for constant targets t of any mass.

    Torch's own takes a second pass of exponentials; but of a small batch it is cheaper than any function in Python.

    Args:
        output: ``(n, K)``.
        target: ``(n, K)``.
        share: of each sample.
    """
    if output.numel() < LARGE:
        return cross_entropy(output, target, share)
    return mixed_cross_entropy(output, None, target.__getitem__, share)


def smoothed_cross_entropy(
    output: Tensor, y: Tensor, own: float, spread: float, relations: Tensor, kept: TargetRows, share: Share
) -> Tensor:
    """Return ``Σ share·H(t, p)`` for constant targets ``t = own·δ_y + spread·A[y]``.

    Args:
        output: ``(n, K)``.
        y: class indices.
        own: what a sample's class gets beside its row.
        spread: factor of rows.
        relations: A.
        kept: makes the targets of a small batch.
        share: of each sample.
    """
    if output.numel() < LARGE:
        return cross_entropy(output, kept(y, own, spread, relations, output), share)
    return mixed_cross_entropy(output, y, row_maker(relations, y, output.dtype), share, own, spread)


def mixed_cross_entropy(
    output: Tensor, y: Tensor | None, rows: RowMaker, share: Share, own: float = 0.0, spread: float = 1.0
) -> Tensor:
    """Return ``Σ share·H(t, p)`` for constant targets ``own·δ_y + spread·rows`` of any mass; by z: ``p·Σt − t``.

    Args:
        output: ``(n, K)``.
        y: class indices; None where a sample's own class gets nothing more.
        rows: makes those of some samples.
        share: of each sample.
        own: what a sample's class gets beside its row.
        spread: factor of rows.
    """

    def quick(do: Maths[Numbers], output: Numbers) -> Array:
        gradient, target = do.gradient(0), do.rows(rows)
        soft, mass = do.softmax(output, e=gradient), do.sum(target) * spread + own
        values = np.log(soft.total) * mass - do.dot(target, soft.shifted) * spread
        do.times_(gradient, mass / soft.total * do.share)
        do.add_(gradient, target, -spread * do.share)
        if y is not None:  # also where the class gets nothing more: rows may be found for what is no class
            values -= do.at(soft.shifted) * own
            do.add_at_(gradient, -own * do.share)
        return values

    def careful(output: Tensor) -> Tensor:
        target = rows(slice(None)) * spread
        if y is not None:
            target = target.scatter_add(1, y.unsqueeze(1), target.new_full((len(y), 1), own))
        return divergences.soft_cross_entropy(output, target)

    return known(quick, careful, y, share, output)


def even_cross_entropy(
    output: Tensor,
    y: Tensor,
    own: float,
    other: float,
    share: Share,
    careful: Callable[[Tensor], Tensor],
    kept: TargetRows,
) -> Tensor:
    """Return ``Σ share·H(t, p)``, t the same for all classes but one; of a large batch it is not made.

    A small batch is torch's own function's, so that numpy never has this one.

    Args:
        output: ``(n, K)``.
        y: class indices.
        own: what t has at the class.
        other: what it has at each other class.
        share: of each sample.
        careful: gives the values, differentiable.
        kept: makes the targets of a small batch.
    """
    if output.numel() < LARGE // 2:  # where there is more to gain: no targets
        return cross_entropy(output, kept(y, own - other, other, None, output), share)
    more, mass = own - other, own + other * (output.shape[1] - 1)

    def quick(do: Maths[Numbers], output: Numbers) -> Array:
        gradient = do.gradient(0)
        soft = do.softmax(output, e=gradient)
        values = np.log(soft.total) * mass
        values -= do.at(soft.shifted) * more
        values -= do.sum(soft.shifted) * other
        do.times_(gradient, mass / soft.total * do.share)
        do.plus_(gradient, -other * do.share)
        do.add_at_(gradient, -more * do.share)
        return values

    return known(quick, careful, y, share, output)


def focal(output: Tensor, y: Tensor, gamma: float, share: Share, careful: Callable[[Tensor], Tensor]) -> Tensor:
    """Return ``−Σ share·(1−p_y)^γ·log p_y``.

    With ``d = z_y − log Σ_{j≠y} e^{z_j}``, ``p_y = σ(d)`` and ``1 − p_y = σ(−d)``, neither of which loses digits. The
    derivative by d is ``(1−p)^γ·(γ·p·log p − (1−p))``, that of d by z is ``δ_y − q``, q the softmax of the others.
    """

    def quick(do: Maths[Numbers], output: Numbers) -> Array:
        gradient = do.gradient(0)
        others, ahead = _others(do, output, gradient)
        rest, log_p = sigmoid(-ahead), log_sigmoid(ahead)
        damping = rest**gamma
        slope = (np.exp(log_p) * log_p * gamma - rest) * damping * do.share
        do.times_(gradient, -slope / others.total)
        do.put_(gradient, slope)
        return -damping * log_p

    return known(quick, careful, y, share, output)


def _others(do: Maths[Numbers], output: Numbers, e: Numbers) -> tuple[Softmax[Numbers], Array]:
    """Return the softmax of the other classes, and how far the class is ahead of all of them together."""
    without = do.without(output)
    others = do.softmax(without, shifted=without, e=e)
    return others, do.at(output) - others.top - np.log(others.total)


def confident(output: Tensor, y: Tensor, strength: float, share: Share, careful: Callable[[Tensor], Tensor]) -> Tensor:
    """Return ``Σ share·(−log p_y + β·Σ_k p_k log p_k)``; by z: ``p − δ_y + β·p·(log p − Σ p log p)``."""
    if strength < torch.finfo(output.dtype).tiny ** 0.5:  # of which the loss has no digit, and 1/β is no number
        return cross_entropy(output, y, share)

    def quick(do: Maths[Numbers], output: Numbers) -> Array:
        log_p = do.gradient(0)
        soft = do.softmax(output, shifted=log_p)
        p, penalty = soft.e, strength / soft.total  # β·p; β·log p would be infinite of the lowest numbers
        do.plus_(log_p, -np.log(soft.total))
        own, entropy = do.at(log_p), do.dot(p, log_p) * penalty
        do.times_(p, penalty * do.share)
        do.times_(do.plus_(log_p, (1 - entropy) / strength), p)
        do.add_at_(log_p, -1.0 * do.share)
        return entropy - own

    return known(quick, careful, y, share, output)


def ranked(
    output: Tensor,
    y: Tensor,
    mass: RowMaker,
    known_sum: RowMaker,
    strength: float,
    share: Share,
    careful: Callable[[Tensor], Tensor],
) -> Tensor:
    """Return ``Σ share·(−log p_y + λ·KL(t ‖ q))``, q the softmax of the other classes and t their mass, made one.

    ``p_j = q_j·(1−p_y)``, so one softmax serves both: by ``z_j`` it is ``q_j·(1−p_y+λ) − λ·t_j``, by ``z_y``
    ``p_y − 1``. With masses m of the others and their sum M, ``Σ t·log t = Σ m·log m / M − log M``.

    Args:
        output: ``(n, K)``; of a score that is not finite the loss is not.
        y: class indices.
        mass: of every class, above 0 and constant; what the class itself has does not count.
        known_sum: ``Σ m·log m`` of all classes, ``(n, 1)``; asked for after their mass.
        strength: λ.
        share: of each sample.
        careful: gives the values, differentiable.
    """

    def quick(do: Maths[Numbers], output: Numbers) -> Array:
        gradient = do.gradient(0)
        others, ahead = _others(do, output, gradient)
        masses = do.rows(mass)
        own = do.at(masses)
        do.put_(others.shifted, 0.0)  # so that what the class has there does not count
        total, rest = do.sum(masses) - own, sigmoid(-ahead)
        entropy = do.column(known_sum) - own * np.log(own)
        across = (entropy - do.dot(others.shifted, masses)) / total - np.log(total) + np.log(others.total)
        do.times_(gradient, (rest + strength) / others.total * do.share)
        do.add_(gradient, masses, -strength / total * do.share)
        do.put_(gradient, -rest * do.share)
        # an infinite score of the class alone would leave no trace
        values: Array = across * strength - log_sigmoid(ahead) + 0 * ahead
        return values

    return known(quick, careful, y, share, output)

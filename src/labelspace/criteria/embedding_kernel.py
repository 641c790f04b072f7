"""The loss of a label embedding network with its gradients, for whole batches: five terms from four softmaxes."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from labelspace.criteria.known import Table, known, likeliest
from labelspace.criteria.maths import Array, Maths, Numbers, Softmax
from labelspace.criteria.scratch import KINDS
from labelspace.criteria.targets import Share

Each = TypeVar("Each", Tensor, Array)


class Weights(NamedTuple):
    """What the terms weigh, and their options, as numbers."""

    own: float  # of H(y, p1)
    spread: float  # of H(ê, p1)
    hinge: float  # of the hinge, each sample's value
    temperature: float
    cap: float
    kind: str  # of the hinge
    stopped: bool  # whether ê in the second term and softmax(z2/τ) in the last are constants
    mean: bool  # whether the last term is a mean of the samples that the second head gets right


def embedded(
    output: Tensor,
    second: Tensor,
    logits: Tensor | Table,
    y: Tensor,
    weights: Weights,
    share: Share,
    careful: Callable[..., Tensor],
) -> Tensor:
    """Return ``Σ share·(a·H(y,p1) + b·H(ê,p1) + H(y,p2) + h·hinge(p2_y) + m·H(q,ê))``, ``q = softmax(z2/τ)``.

    By z1 the first two are ``(a+b)·p1 − a·δ_y − b·ê``. By z2 the next two are ``(1 − h'·p2_y)·(p2 − δ_y)``, h' the
    slope of the hinge, and by e, the logits of ê, the last is ``m·(ê − q)``. Where nothing is stopped, to e comes
    ``b·ê·(g − Σ ê·g)`` with ``g = −log p1``, and to z2 ``m/τ·q·(v − Σ q·v)`` with ``v = −log ê``.

    Args:
        output: z1, ``(n, K)``.
        second: z2.
        logits: e, of each sample's row, or of every class.
        y: class indices.
        weights: a, b, h, τ and the rest.
        share: of each sample.
        careful: gives the values of the same three, differentiable.
    """
    right = (likeliest(second) == y.numpy()).astype(KINDS[output.dtype])
    told = share_of_right(right, share.numpy() if isinstance(share, Tensor) else share, weights.mean)
    counts = torch.from_numpy(told).unsqueeze(1)

    def quick(do: Maths[Numbers], output: Numbers, second: Numbers, logits: Numbers) -> Array:
        to_output, to_second, to_label = (do.gradient(place) for place in range(3))
        first, other = do.softmax(output, e=to_output), do.softmax(second, e=to_second)
        label = do.softmax(logits, e=to_label)
        counted, soft, log_soft = do.column(counts.__getitem__), label.e, label.shifted
        do.times_(soft, 1 / label.total)
        do.plus_(log_soft, -np.log(label.total))
        surprise, cooled = np.log(other.total) - do.at(other.shifted), other.shifted
        q = do.exp(do.times_(cooled, 1 / weights.temperature))
        q_total = do.sum(q)
        hinge, slope = _hinge(np.exp(-surprise), weights)
        last, expected = do.dot(q, log_soft) / q_total, do.dot(soft, first.shifted)
        values: Array = _first(do, first, expected, weights) + surprise + hinge - last * counted
        share, counted = do.share, counted * do.share
        do.times_(to_output, (weights.own + weights.spread) / first.total * share)
        do.add_at_(do.add_(to_output, soft, -weights.spread * share), -weights.own * share)
        do.times_(to_second, (1 - slope) / other.total * share)
        do.add_at_(to_second, (slope - 1) * share)
        change = None if weights.stopped else do.times_(do.plus_(do.times_(first.shifted, -1.0), expected), soft)
        do.times_(to_label, counted)
        do.add_(to_label, do.times_(q, counted / q_total), -1.0)
        if change is not None:
            do.add_(to_label, change, weights.spread * share)
            do.add_product_(to_second, q, do.plus_(do.times_(log_soft, -1.0), last), 1 / weights.temperature)
        return values

    return known(quick, careful, y, share, output, second, logits)


def share_of_right(right: Each, share: Each | float, mean: bool) -> Each:
    """Return what the last term of a sample counts beside its share: a mean is over those that are right alone."""
    total = (right * share).sum() if mean else 0
    return right / total if total > 0 else right


def _first(do: Maths[Numbers], first: Softmax[Numbers], expected: Array, weights: Weights) -> Array:
    """Return ``a·H(y,p1) + b·H(ê,p1)`` of every sample."""
    said = do.at(first.shifted) * weights.own + expected * weights.spread
    return np.log(first.total) * (weights.own + weights.spread) - said


def _hinge(sure: Array, weights: Weights) -> tuple[Array, Array]:
    """Return the weighed hinge and the derivative of it by the surprise, but for its sign."""
    excess, sure = sure - weights.cap, sure * weights.hinge
    if weights.kind == "absolute":
        return abs(excess) * weights.hinge, sure * (excess > 0) - sure * (excess < 0)
    above = excess * (excess > 0)
    if weights.kind == "squared":
        return above * above * weights.hinge, above * sure * 2
    return above * weights.hinge, sure * (excess >= 0)

"""The loss of a label embedding network with its gradients, for whole batches: five terms from three softmaxes."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from labelspace.criteria.inputs import Layer, Product, Table
from labelspace.criteria.known import known, likeliest
from labelspace.criteria.maths import FAR, Array, Maths, Numbers, log_of
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
    positive: bool  # whether what is not above zero of e is 0
    stopped: bool  # whether ê in the second term and softmax(z2/τ) in the last are constants
    mean: bool  # whether the last term is a mean of the samples that the second head gets right


def embedded(
    output: Tensor,
    second: Tensor | Layer,
    logits: Tensor | Table | Product,
    y: Tensor,
    weights: Weights,
    share: Share,
    careful: Callable[..., Tensor],
) -> Tensor:
    """Return ``Σ share·(a·H(y,p1) + b·H(ê,p1) + H(y,p2) + h·hinge(p2_y) + m·H(q,ê))``, ``q = softmax(z2/τ)``.

    Args:
        output: z1, ``(n, K)``.
        second: z2, or what it is made of.
        logits: e, of each sample's row, or what they are made of.
        y: class indices.
        weights: a, b, h, τ and the rest.
        share: of each sample.
        careful: gives the values of the same three, differentiable.
    """
    counts: list[Tensor] = []  # of the batch, what the last term counts of each sample

    def survey(output: Tensor, second: Tensor, logits: Tensor) -> None:
        counts[:] = [_counted(second, y, weights, share)]

    def quick(do: Maths[Numbers], output: Numbers, second: Numbers, logits: Numbers) -> Array:
        return _quick(do, output, second, logits, do.column(counts[0].__getitem__), weights)

    return known(quick, careful, y, share, output, second, logits, survey=survey)


def _counted(second: Tensor, y: Tensor, weights: Weights, share: Share) -> Tensor:
    """Return what the last term of each sample counts beside its share, ``(n, 1)``."""
    right = (likeliest(second) == y.numpy()).astype(KINDS[second.dtype])
    told = share_of_right(right, share.numpy() if isinstance(share, Tensor) else share, weights.mean)
    return torch.from_numpy(told).unsqueeze(1)


def share_of_right(right: Each, share: Each | float, mean: bool) -> Each:
    """Return what the last term of a sample counts beside its share: a mean is over those that are right alone."""
    total = (right * share).sum() if mean else 0
    return right / total if total > 0 else right


def _quick(
    do: Maths[Numbers], output: Numbers, second: Numbers, logits: Numbers, counted: Array, weights: Weights
) -> Array:
    """Return values of samples, and write their gradients.

    By z1 the first two are ``(a+b)·p1 − a·δ_y − b·ê``. By z2 the next two are ``(1 − h'·p2_y)·(p2 − δ_y)``, h' the
    slope of the hinge, and by e, the logits of ê, the last is ``m·(ê − q)``. Where nothing is stopped, to e comes
    ``b·ê·(g − Σ ê·g)`` with ``g = −log p1``, and to z2 ``m/τ·q·(v − Σ q·v)`` with ``v = −log ê``.
    """
    total, cooler, own = weights.own + weights.spread, 1 / weights.temperature, do.at(output)
    to_output, to_second, to_label = (do.gradient(place) for place in range(3))
    logits = do.positive(logits) if weights.positive else logits
    p, soft = do.probabilities(output, to_output), do.probabilities(logits)
    # p2 is q to the power of τ, but for a factor: of τ = 2 one softmax is enough
    q = do.probabilities(do.difference(second, second, 1 - cooler))
    other = do.times_(q, q, to_second) if cooler == 0.5 else do.probabilities(second)
    other_total = do.dot(q, q) if cooler == 0.5 else 1.0
    own_lack, label_lack = own - log_of(do.at(p)), do.at(logits) - log_of(do.at(soft))
    expected, told, sure = do.dot(soft, output), do.dot(q, logits), do.at(other) / other_total
    hinge, slope = _hinge(sure, weights)
    values: Array = own_lack * total - own * weights.own - expected * weights.spread - log_of(sure) + hinge
    values += (label_lack - told) * counted
    values /= abs(own_lack) + abs(label_lack) < FAR
    share, counted = do.share, counted * do.share
    to_targets = None if weights.stopped else do.times_(_less(do, output, expected), soft)
    to_learnt = None if weights.stopped else do.times_(_less(do, logits, told), q)
    do.add_(do.times_(to_output, total * share), soft, -weights.spread * share)
    do.add_at_(to_output, -weights.own * share)
    do.times_(other, (1 - slope) / other_total * share, to_second)
    do.add_at_(to_second, (slope - 1) * share)
    do.add_(do.times_(soft, counted, to_label), q, -counted)
    if to_targets is not None and to_learnt is not None:
        do.add_(to_label, to_targets, weights.spread * share)
        do.add_(to_second, to_learnt, counted * cooler)
    if weights.positive:
        do.cut_(to_label, logits)
    return values


def _less(do: Maths[Numbers], a: Numbers, middle: Array) -> Numbers:
    """Return ``middle − a``."""
    return do.plus_(do.difference(a, a, 2.0), middle)


def _hinge(sure: Array, weights: Weights) -> tuple[Array, Array]:
    """Return the weighed hinge and the derivative of it by the surprise, but for its sign."""
    excess, sure = sure - weights.cap, sure * weights.hinge
    if weights.kind == "absolute":
        return abs(excess) * weights.hinge, sure * (excess > 0) - sure * (excess < 0)
    above = excess * (excess > 0)
    if weights.kind == "squared":
        return above * above * weights.hinge, above * sure * 2
    return above * weights.hinge, sure * (excess >= 0)

"""The loss of a label embedding network with its gradients, for whole batches: five terms from four softmaxes."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace.criteria.known import Softmax, known, likeliest, softmax
from labelspace.criteria.targets import Share


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
    logits: Tensor,
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
        logits: e, of each sample's row.
        y: class indices.
        weights: a, b, h, τ and the rest.
        share: of each sample.
        careful: gives the values of the same three, differentiable.
    """
    column = y.unsqueeze(1)

    def quick(output: Tensor, second: Tensor, logits: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        first, other, label = softmax(output), softmax(second), softmax(logits)
        log_label = label.shifted.sub_(label.log_total)
        right = (likeliest(second) == y).to(output.dtype)
        counted = share_of_right(right, share, weights.mean).unsqueeze(1)
        q = torch.softmax(second / weights.temperature, dim=1)
        surprise = other.log_total - other.shifted.gather(1, column)
        hinge, slope = _hinge(torch.exp(-surprise), weights)
        last = (q * log_label).sum(dim=1, keepdim=True)
        expected = (label.p * first.shifted).sum(dim=1, keepdim=True)
        values = _first(first, expected, column, weights).add_(surprise).add_(hinge).sub_(last * counted)
        to_second = other.p.mul_(1 - slope)
        to_second.scatter_add_(1, column, slope - 1)
        to_label = (label.p - q).mul_(counted)
        if not weights.stopped:
            to_label.addcmul_(label.p, expected - first.shifted, value=weights.spread)
            to_second.addcmul_(q, (last - log_label).mul_(counted), value=1 / weights.temperature)
        to_output = first.p.mul_(weights.own + weights.spread).sub_(label.p, alpha=weights.spread)
        to_output.scatter_add_(1, column, torch.full_like(surprise, -weights.own))
        return values.squeeze(1), [to_output, to_second, to_label]

    return known(quick, careful, share, output, second, logits)


def share_of_right(right: Tensor, share: Share, mean: bool) -> Tensor:
    """Return what the last term of a sample counts beside its share: a mean is over those that are right alone."""
    if not mean:
        return right
    total = (right * share).sum()
    return right / torch.where(total > 0, total, 1)


def _first(first: Softmax, expected: Tensor, column: Tensor, weights: Weights) -> Tensor:
    """Return ``a·H(y,p1) + b·H(ê,p1)``, ``(n, 1)``."""
    own, spread = weights.own, weights.spread
    said = first.shifted.gather(1, column).mul_(own).add_(expected, alpha=spread)
    return (first.log_total * (own + spread)).sub_(said)


def _hinge(sure: Tensor, weights: Weights) -> tuple[Tensor, Tensor]:
    """Return the weighed hinge and the derivative of it by the surprise, but for its sign."""
    excess = sure - weights.cap
    if weights.kind == "absolute":
        value, slope = excess.abs(), excess.sign()
    elif weights.kind == "squared":
        above = excess.clamp_min(0)
        value, slope = above.square(), 2 * above
    else:
        value, slope = excess.clamp_min(0), (excess >= 0).to(sure.dtype)
    return value.mul_(weights.hinge), slope.mul_(sure).mul_(weights.hinge)

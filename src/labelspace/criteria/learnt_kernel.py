"""The loss of learned label smoothing for whole batches: of small ones in few steps, of others with its gradients."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from labelspace.criteria import divergences
from labelspace.criteria.inputs import Product, Table, is_shorter
from labelspace.criteria.known import is_small, known
from labelspace.criteria.maths import FAR, TINY, Array, diagonal, log_of
from labelspace.criteria.targets import Share
from labelspace.criteria.wide import Wide

Logits = Tensor | Table | Product


def learnt_terms(
    output: Tensor, logits: Logits, y: Tensor, smoothing: Tensor, coefficients: Tensor, share: Share
) -> Tensor | None:
    """Return ``Σ share·values`` of ``divergences.learnt_terms``: ``a·t·log t − b·t·log p + c·p·log p − d·p·log t``.

    Args:
        output: z, ``(n, K)``.
        logits: of Q, of each sample's row, or what they are made of.
        y: class indices.
        smoothing: α.
        coefficients: a, b, c and d.
        share: of each sample.
    """
    if not isinstance(logits, Tensor):
        y = y.clone()  # whatever becomes of the labels, gradients go to the rows that were read
    if is_small(output):
        return _composed(output, logits, y, smoothing.item(), coefficients.tolist(), share)

    def careful(output: Tensor, logits: Tensor) -> Tensor:
        return divergences.learnt_terms(output, logits, y, smoothing, coefficients)

    return known(_quick(smoothing.item(), coefficients.tolist()), careful, y, share, output, logits)


def _composed(
    output: Tensor, logits: Logits, y: Tensor, alpha: float, terms: Sequence[float], share: Share
) -> Tensor | None:
    """Return it by steps of torch's own, which autograd goes back through for less than a function in Python takes.

    None where some of t is so small that its slope would be no number.
    """
    if isinstance(logits, Tensor) or not is_shorter(logits, y):
        q = (logits if isinstance(logits, Tensor) else logits.read(y)).softmax(1)
        t = (q * alpha).scatter_add_(1, y.unsqueeze(1), q.new_full((len(y), 1), 1 - alpha))
    else:  # what all classes have, once
        q = logits.whole().softmax(1)
        t = torch.embedding(torch.add(diagonal(q.shape[1], 1 - alpha, q.dtype), q, alpha=alpha), y)
    if alpha * q.detach().amin().item() < TINY:
        return None
    log_p, log_t = torch.log_softmax(output, 1), t.log()
    p, (first, second, third, fourth) = log_p.exp(), terms
    if first == second == third == fourth:
        values, scale = (t - p).mul(log_t - log_p), first
    else:
        values, scale = t * (first * log_t - second * log_p) + p * (third * log_p - fourth * log_t), 1.0
    return torch.dot(values.sum(1), share) * scale if isinstance(share, Tensor) else values.sum() * (scale * share)


def _quick(alpha: float, terms: Sequence[float]) -> Callable[[Wide, Tensor, Tensor], Array]:
    """Return what makes the gradients of a large batch with the loss.

    With ``A = a·log t − b·log p`` and ``C = c·log p − d·log t`` the value is ``Σ t·A + Σ p·C``. By z the gradient is
    ``p·(C − Σ p·C) + b·(p − t)``. By Q it is ``α·q·(A − Σ q·A) − d·s·p + d·q·Σ s·p``, s being ``α·q/t``: 1 but at the
    class, where ``1 − s = (1−α)/t``. What A and C have in common in a row cancels in both: they are made of z and Q as
    they are, not of logarithms, so that one softmax of each is enough.
    """
    scale = terms[0] or 1.0  # a factor of all of it, so that A need not be multiplied by its own
    first, second, third, fourth = (each / scale for each in terms)
    alike = first == fourth and second == third  # C is −A
    sign = -1.0 if alike else 1.0

    def quick(do: Wide, output: Tensor, logits: Tensor) -> Array:
        p, q = do.probabilities(output), do.probabilities(logits)
        p_own, q_own = do.at(p), do.at(q)
        t_own = q_own * alpha + (1 - alpha)
        gained = np.log(t_own / alpha) - log_of(q_own)  # what log t has at the class beyond log α·q
        c: Tensor | None = None
        lack: Array | float = 0.0
        if not alike:  # else what logits have beyond logarithms cancels
            c = do.add_at_(_weighed(do, output, logits, third, fourth, do.new(p)), -fourth * gained)
            lack = (do.at(logits) - np.log(q_own) - math.log(alpha)) * (fourth - first)
            lack = lack + (do.at(output) - log_of(p_own)) * (second - third)
        a = _weighed(do, logits, output, first, second, do.gradient(1))  # logits may have been there
        a_own = do.at(a) + gained * first
        do.put_(a, a_own)
        c = a if c is None else c
        along, across = do.dot(q, a), do.dot(p, c)
        values: Array = along * alpha + a_own * (1 - alpha) + across * sign + lack
        values /= abs(along) + abs(across) < FAR
        missing, share = p_own * ((1 - alpha) * fourth / t_own), scale * do.share
        do.times_(p, -share)
        do.times_(q, -alpha * share)
        do.plus_(c, second * sign - across)
        to_output = do.blend(q, second, p, c, -sign, do.gradient(0))
        do.add_at_(to_output, second * (alpha - 1) * share)
        do.plus_(a, (fourth - missing) / alpha - along + (across - second * sign if alike else 0))
        to_logits = do.blend(p, fourth, q, a, -1.0, a)
        do.add_at_(to_logits, missing * share)
        return values * scale

    return quick


def _weighed(do: Wide, one: Tensor, other: Tensor, times: float, less: float, into: Tensor) -> Tensor:
    """Write ``times·one − less·other``."""
    if times == 0:
        return do.difference(other, other, 1 + less, into)
    found = do.difference(one, other, less / times, into)
    return found if times == 1 else do.times_(found, times)

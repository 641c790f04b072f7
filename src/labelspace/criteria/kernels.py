"""Losses of whole batches with their gradients, computed together: what a training step on a CPU costs.

Each function returns ``Σ share·values`` of the per-sample losses in ``divergences`` for tensors whose values can be
looked at. The gradient is made along with the loss, where softmax is at hand anyway, and kept for ``backward``, which
then is one product. Such a gradient does not know how it depends on the inputs; where somebody asks for second
derivatives (``create_graph=True``) ``backward`` goes through the per-sample form instead, which does. Results need not
be finite: a caller takes the per-sample form where they are not.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from labelspace.criteria import divergences
from labelspace.criteria.known import Softmax, known, softmax
from labelspace.criteria.targets import Share, TargetRows

LARGE = 2**16  # entries of an output
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
    loss = torch.nn.functional.cross_entropy(output, y, ignore_index=NEVER)
    return loss if share * y.shape[0] == 1 else loss * (share * y.shape[0])


def soft_cross_entropy(output: Tensor, target: Tensor, share: Share) -> Tensor:
    """Return ``Σ share·H(t, p)`` for constant targets ``(n, K)``; by z: ``p·Σt − t``, p from one pass of ``exp``.

    Torch's own takes a second one; but of a small batch it is cheaper than any function in Python.
    """
    if output.numel() < LARGE:
        return cross_entropy(output, target, share)

    def quick(output: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        shifted, p, log_total, _ = softmax(output)
        mass = target.sum(dim=1, keepdim=True)
        values = (mass * log_total).squeeze(1).sub_(shifted.mul_(target).sum(dim=1))
        return values, [p.mul_(mass).sub_(target)]

    return known(quick, lambda output: divergences.soft_cross_entropy(output, target), share, output)


def even_cross_entropy(
    output: Tensor,
    y: Tensor,
    own: float,
    other: float,
    rows: TargetRows,
    share: Share,
    careful: Callable[[Tensor], Tensor],
) -> Tensor:
    """Return ``Σ share·H(t, p)``, t the same for all classes but one; of a large batch it is not made.

    Args:
        output: ``(n, K)``.
        y: class indices.
        own: what t has at the class.
        other: what it has at each other class.
        rows: makes t, of a small batch.
        share: of each sample.
        careful: gives the values, differentiable.
    """
    column, more = y.unsqueeze(1), own - other
    if output.numel() < LARGE:
        return cross_entropy(output, rows(y, more, other, output.shape[1], output), share)
    mass = more + other * output.shape[1]

    def quick(output: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        shifted, p, log_total, _ = softmax(output)
        said = torch.add(shifted.sum(dim=1, keepdim=True).mul_(other), shifted.gather(1, column), alpha=more)
        gradient = (p if abs(mass - 1) < 1e-12 else p.mul_(mass)).sub_(other)
        gradient.scatter_add_(1, column, torch.full_like(said, -more))
        return log_total.mul_(mass).sub_(said).squeeze(1), [gradient]

    return known(quick, careful, share, output)


def learnt_terms(
    output: Tensor, logits: Tensor, y: Tensor, smoothing: Tensor, coefficients: Tensor, share: Share
) -> Tensor:
    """Return ``Σ share·values`` of ``divergences.learnt_terms``, whose letters and derivation are these too."""
    alpha, (first, second, third, fourth), column = smoothing.item(), coefficients.tolist(), y.unsqueeze(1)

    def quick(output: Tensor, logits: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        of_p, of_q = softmax(output), softmax(logits)
        p, log_p = of_p.p, of_p.shifted.sub_(of_p.log_total)
        q, log_t = of_q.p, of_q.shifted.sub_(of_q.log_total)
        mine = q.gather(1, column).mul_(alpha)
        own = mine + (1 - alpha)
        log_t.add_(math.log(alpha)).scatter_(1, column, own.log())
        target = (q * alpha).scatter_(1, column, own)
        inner = (log_p * third).sub_(log_t, alpha=fourth).mul_(p)
        mean = inner.sum(dim=1, keepdim=True)
        outer = log_t.mul_(first).sub_(log_p, alpha=second).mul_(target)
        values = outer.sum(dim=1) + mean.squeeze(1)
        to_output = inner.addcmul_(p, mean - second, value=-1).sub_(target, alpha=second)
        by_log_t = outer.add_(target, alpha=first).sub_(p, alpha=fourth)
        by_log_t.scatter_(1, column, by_log_t.gather(1, column) * mine / own)
        return values, [to_output, by_log_t.addcmul_(q, by_log_t.sum(dim=1, keepdim=True), value=-1)]

    def careful(output: Tensor, logits: Tensor) -> Tensor:
        return divergences.learnt_terms(output, logits, y, smoothing, coefficients)

    return known(quick, careful, share, output, logits)


def focal(output: Tensor, y: Tensor, gamma: float, share: Share, careful: Callable[[Tensor], Tensor]) -> Tensor:
    """Return ``−Σ share·(1−p_y)^γ·log p_y``.

    With ``d = z_y − log Σ_{j≠y} e^{z_j}``, ``p_y = σ(d)`` and ``1 − p_y = σ(−d)``, neither of which loses digits. The
    derivative by d is ``(1−p)^γ·(γ·p·log p − (1−p))``, that of d by z is ``δ_y − q``, q the softmax of the others.
    """
    column = y.unsqueeze(1)

    def quick(output: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        others, margin = _margin(output, column)
        rest, log_p = torch.sigmoid(-margin), torch.nn.functional.logsigmoid(margin)
        damping = rest.pow(gamma)
        slope = torch.sigmoid(margin).mul_(log_p).mul_(gamma).sub_(rest).mul_(damping)
        gradient = others.p.mul_(-slope).scatter_(1, column, slope)
        return damping.mul_(log_p).neg_().squeeze(1), [gradient]

    return known(quick, careful, share, output)


def _margin(output: Tensor, column: Tensor) -> tuple[Softmax, Tensor]:
    """Return the softmax of the other classes, and how far the class is ahead of all of them together, ``(n, 1)``."""
    # the lowest number there is for the class: nobody is left where it is alone, or all others are ruled out
    others = softmax(output.scatter(1, column, torch.finfo(output.dtype).min))
    return others, output.gather(1, column) - others.top - others.log_total


def confident(output: Tensor, y: Tensor, strength: float, share: Share, careful: Callable[[Tensor], Tensor]) -> Tensor:
    """Return ``Σ share·(−log p_y + β·Σ_k p_k log p_k)``; by z: ``p − δ_y + β·p·(log p − Σ p log p)``."""
    column = y.unsqueeze(1)

    def quick(output: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        shifted, p, log_total, _ = softmax(output)
        log_p = shifted.sub_(log_total)
        own = log_p.gather(1, column)
        mass = log_p.mul_(p)
        entropy = mass.sum(dim=1, keepdim=True)
        gradient = torch.addcmul(mass.mul_(strength), p, 1 - strength * entropy, out=mass)
        return (strength * entropy - own).squeeze(1), [gradient.scatter_add_(1, column, torch.full_like(own, -1.0))]

    return known(quick, careful, share, output)


def ranked(
    output: Tensor,
    y: Tensor,
    mass: Tensor,
    known_sum: Tensor | float,
    strength: float,
    share: Share,
    careful: Callable[[Tensor], Tensor],
) -> Tensor:
    """Return ``Σ share·(−log p_y + λ·KL(t ‖ q))``, q the softmax of the other classes and t their mass, made one.

    ``p_j = q_j·(1−p_y)``, so one softmax serves both: by ``z_j`` it is ``q_j·(1−p_y+λ) − λ·t_j``, by ``z_y``
    ``p_y − 1``. With masses m of the others and their sum M, ``Σ t·log t = Σ m·log m / M − log M``.

    Args:
        output: ``(n, K)``, all finite.
        y: class indices.
        mass: of every class, constant; what the class itself has does not count.
        known_sum: ``Σ m·log m`` of all classes, one or ``(n, 1)``.
        strength: λ.
        share: of each sample.
        careful: gives the values, differentiable.
    """
    column = y.unsqueeze(1)

    def quick(output: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        others, margin = _margin(output, column)
        own, of_others = mass.gather(1, column), mass.scatter(1, column, 0)
        total, rest = of_others.sum(dim=1, keepdim=True), torch.sigmoid(-margin)
        said = others.shifted.mul_(of_others).sum(dim=1, keepdim=True)
        across = (known_sum - torch.xlogy(own, own) - said) / total - total.log() + others.log_total
        gradient = others.p.mul_(rest + strength).addcmul_(of_others, -strength / total)
        values = across.mul_(strength).sub_(torch.nn.functional.logsigmoid(margin))
        return values.squeeze(1), [gradient.scatter_(1, column, -rest)]

    return known(quick, careful, share, output)

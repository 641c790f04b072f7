"""Losses per sample with analytic gradients, computed in log space.

Each Function saves its inputs and recomputes in ``backward`` with ordinary torch operations. Keeping softmax from the
forward pass would save one pass, but then the graph of the gradient would not know that it depends on the inputs, and
second derivatives would be silently wrong. Forward takes ``(n, K)``, returns ``(n,)``. On a CPU rows are taken a few at
a time (``_by_rows``), so that what lies between one pass and the next stays in the cache.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import torch
from jaxtyping import Float, Int
from torch import Tensor

from labelspace._devices import IN_CACHE, may_look_at

Rows = Float[Tensor, "n k"]
Values = Float[Tensor, " n"]
Places = Int[Tensor, " n"]
WIDE = 32  # dimensions from which a matrix product is the faster way to distances


if TYPE_CHECKING:

    class Context(Protocol):
        """What autograd hands from ``forward`` to ``backward``."""

        saved_tensors: tuple[Tensor, ...]
        needs_input_grad: tuple[bool, ...]

        def save_for_backward(self, *tensors: Tensor) -> None:
            """Keep tensors for ``backward``."""

        def save_for_forward(self, *tensors: Tensor) -> None:
            """Keep tensors for ``jvp``."""

else:  # transforms wrap it in classes of their own, which no check at run time knows
    Context = object


def soft_cross_entropy(output: Rows, target: Rows) -> Values:
    """Return ``H(t, p) = −Σ_j t_j log p_j`` with ``p = softmax(output)``, per sample.

    The target needs no unit mass: ``H(a, p) + H(b, p) = H(a + b, p)``. Where it has none, ``output`` may be ``−inf``.
    """
    return _applied(_SoftCrossEntropy, _SoftCrossEntropyTwice, output, target)


def entropy_terms(output: Rows, log_target: Rows, coefficients: Float[Tensor, " 4"]) -> Values:
    """Return ``a·(−H(t)) + b·H(t, p) + c·(−H(p)) + d·H(p, t)`` per sample.

    With all four at 1 this is the symmetric divergence ``KL(t‖p) + KL(p‖t)``.
    """
    return _applied(_EntropyTerms, _EntropyTermsTwice, output, log_target, coefficients)


def learnt_terms(output: Rows, logits: Rows, y: Places, smoothing: Tensor, coefficients: Float[Tensor, " 4"]) -> Values:
    """Return ``entropy_terms`` for ``t = (1−α)·δ_y + α·softmax(logits)``, in one pass forth and one back.

    Args:
        output: logits of the model.
        logits: of each sample's learned distribution.
        y: class indices; a negative one is taken for class 0.
        smoothing: α.
        coefficients: of the four entropies.
    """
    return _applied(_LearntTerms, _LearntTermsTwice, output, logits, y, smoothing, coefficients)


def negative_entropy(target: Rows) -> Values:
    """Return ``−H(t) = Σ_j t_j log t_j`` per sample, with a gradient of zero where there is no mass."""
    return (target * torch.where(target > 0, target, 1).log()).sum(dim=-1)


def divergence(fixed: Rows, target: Rows) -> Values:
    """Return ``KL(f‖t) = Σ_j f_j log(f_j/t_j)`` per sample for probabilities."""
    mass = torch.where(fixed > 0, target, 1).clamp_min(torch.finfo(target.dtype).tiny)
    return negative_entropy(fixed) - (fixed * mass.log()).sum(dim=-1)


def euclidean(points: Float[Tensor, "n d"], centres: Float[Tensor, "k d"]) -> Float[Tensor, "n k"]:
    """Return distances ``‖z_n − ŷ_k‖``, squared distances floored at 1e-12 (where the gradient is zero)."""
    return _applied(_Euclidean, _EuclideanTwice, points, centres)


def distances(points: Float[Tensor, "n d"], centres: Float[Tensor, "k d"]) -> Float[Tensor, "n k"]:
    """Return ``euclidean`` without gradients.

    On a CPU ``‖z‖² + ‖ŷ‖² − 2·z·ŷ`` by one matrix product, about the mean of the centres; pairs so near each other that
    the difference would lose digits are taken one by one, as all are elsewhere.
    """
    if points.shape[-1] < WIDE or points.ndim != 2 or not may_look_at(points):
        return torch.cdist(points, centres, compute_mode="donot_use_mm_for_euclid_dist").clamp_min(1e-6)
    shift = centres.mean(dim=0)
    left, right = points - shift, centres - shift
    sizes = left.square().sum(dim=1, keepdim=True) + right.square().sum(dim=1)
    squared = torch.addmm(sizes, left, right.T, alpha=-2)
    n, k = (squared < 0.1 * sizes).nonzero(as_tuple=True)
    if many(n, squared):
        return torch.cdist(points, centres, compute_mode="donot_use_mm_for_euclid_dist").clamp_min(1e-6)
    squared[n, k] = (points[n] - centres[k]).square().sum(dim=1)
    return squared.clamp_min_(1e-12).sqrt_()


def many(near: Int[Tensor, " pairs"], squared: Float[Tensor, "n k"]) -> bool:
    """Return whether so many pairs are near each other that all are better taken one by one."""
    return len(near) > max(squared.numel() // 8, 4 * len(squared))


def _applied(once: type[torch.autograd.Function], twice: type[torch.autograd.Function], *inputs: Tensor) -> Tensor:
    """Return a function of inputs: of both modes of differentiation, but a compiler knows none with a ``jvp``."""
    return _as_tensor((once if torch.compiler.is_compiling() else twice).apply(*inputs))  # type: ignore[no-untyped-call]


def _as_tensor(result: object) -> Tensor:
    assert isinstance(result, Tensor)
    return result


def _finite(logarithms: Tensor) -> Tensor:
    """Return logarithms with ``−inf`` as the lowest number there is, so that no mass times it is no loss."""
    return logarithms.clamp_min(torch.finfo(logarithms.dtype).min)


def _infinite(values: Tensor, mass: Tensor, logarithms: Tensor) -> Tensor:
    """Return ``−Σ mass·log`` again, infinite where some mass lies on ``−inf``, which ``_finite`` made a number."""
    lost = (mass * torch.isneginf(logarithms)).sum(dim=-1)
    return torch.where(lost == 0, values, lost.sign() * torch.inf)


def _by_rows(function: Callable[..., Sequence[Tensor | None]], *tensors: Tensor) -> list[Tensor | None]:
    """Return what a function of rows gives for all of them, which it is handed a few at a time.

    A compiler fuses passes by itself, and other devices are fast at long ones.
    """
    first = tensors[0]
    step = max(1, IN_CACHE // max(1, first.shape[-1]))
    if len(first) <= step or first.device.type != "cpu" or torch.compiler.is_compiling():
        return list(function(*tensors))
    parts = [function(*rows) for rows in zip(*(torch.split(tensor, step) for tensor in tensors), strict=True)]
    return [None if of[0] is None else torch.cat(of) for of in zip(*parts, strict=True)]


def _keep(ctx: Context, *tensors: Tensor) -> None:
    """Keep tensors for both modes of differentiation: ``torch.func.hessian`` takes one after the other."""
    ctx.save_for_backward(*tensors)
    if not torch.compiler.is_compiling():
        ctx.save_for_forward(*tensors)


def _along(
    gradients: Callable[[Sequence[Tensor], Tensor, Sequence[bool]], Sequence[Tensor | None]],
    saved: Sequence[Tensor],
    tangents: Sequence[Tensor | None],
) -> Tensor:
    """Return the change of losses along tangents: rows know nothing of each other, so gradients of each say it."""
    learning = [tangent is not None for tangent in tangents[:2]]
    found = gradients(saved, saved[0].new_ones(saved[0].shape[:-1]), learning)
    parts = [
        (own * t).sum(dim=-1) for own, t in zip(found, tangents, strict=False) if own is not None and t is not None
    ]
    return _as_tensor(sum(parts, start=saved[0].new_zeros(saved[0].shape[:-1])))


class _SoftCrossEntropy(torch.autograd.Function):
    # L = −Σ_j t_j log p_j.   ∂ log p_j/∂z_i = δ_ij − p_i, so ∂L/∂z_i = p_i Σ_j t_j − t_i.   ∂L/∂t_j = −log p_j.
    generate_vmap_rule = True

    @staticmethod
    def forward(output: Tensor, target: Tensor) -> Tensor:
        def values(output: Tensor, target: Tensor) -> list[Tensor]:
            log_p = torch.log_softmax(output, dim=-1)
            return [_infinite(-(target * _finite(log_p)).sum(dim=-1), target, log_p)]

        return _as_tensor(_by_rows(values, output, target)[0])

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        _keep(ctx, *inputs)

    @staticmethod
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor | None, Tensor | None]:
        to_output, to_target = _soft_gradients(ctx.saved_tensors, gradient, ctx.needs_input_grad)
        return to_output, to_target


class _SoftCrossEntropyTwice(_SoftCrossEntropy):
    @staticmethod
    def jvp(ctx: Context, *tangents: Tensor | None) -> Tensor:
        return _along(_soft_gradients, ctx.saved_tensors, tangents)


def _soft_gradients(saved: Sequence[Tensor], gradient: Tensor, learning: Sequence[bool]) -> list[Tensor | None]:
    def gradients(output: Tensor, target: Tensor, gradient: Tensor) -> list[Tensor | None]:
        gradient = gradient.unsqueeze(-1)
        to_output = to_target = None
        if learning[0]:
            mass = target.sum(dim=-1, keepdim=True)
            to_output = gradient * (torch.softmax(output, dim=-1) * mass - target)
        if learning[1]:
            log_p = torch.log_softmax(output, dim=-1)
            # a class ruled out by −inf that has no mass: no finite change of the mass is asked for
            to_target = -gradient * torch.where((target == 0) & torch.isinf(log_p), 0, log_p)
        return [to_output, to_target]

    return _by_rows(gradients, *saved, gradient)


class _EntropyTerms(torch.autograd.Function):
    # With ℓ = log t as the variable (t = e^ℓ) and λ = log p:
    #   L = Σ a·tℓ − b·tλ + c·pλ − d·pℓ.
    # ∂/∂ℓ_j:  a·t_j(ℓ_j + 1) − b·t_j λ_j − d·p_j.
    # ∂/∂z_j, from ∂λ_i/∂z_j = δ_ij − p_j and ∂p_i/∂z_j = p_i(δ_ij − p_j):
    #   b:  p_j Σt − t_j      c:  p_j(λ_j − Σ pλ)      d:  −p_j(ℓ_j − Σ pℓ).
    # For Σt = 1, c and d at 1 give p_j(log(p_j/t_j) − KL(p‖t)), which the paper's appendix leaves out.
    generate_vmap_rule = True

    @staticmethod
    def forward(output: Tensor, log_target: Tensor, coefficients: Tensor) -> Tensor:
        weights = coefficients.to(output.dtype).unbind(-1)

        def values(output: Tensor, log_target: Tensor) -> list[Tensor]:
            return [_entropies(torch.log_softmax(output, dim=-1), log_target, weights)]

        return _as_tensor(_by_rows(values, output, log_target)[0])

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
        _keep(ctx, *inputs)

    @staticmethod
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        to_output, to_log_target = _known_gradients(ctx.saved_tensors, gradient, ctx.needs_input_grad)
        return to_output, to_log_target, None


class _EntropyTermsTwice(_EntropyTerms):
    @staticmethod
    def jvp(ctx: Context, *tangents: Tensor | None) -> Tensor:
        return _along(_known_gradients, ctx.saved_tensors, tangents)


def _known_gradients(saved: Sequence[Tensor], gradient: Tensor, learning: Sequence[bool]) -> list[Tensor | None]:
    output, log_target, coefficients = saved
    weights = coefficients.to(output.dtype).unbind(-1)

    def gradients(output: Tensor, log_target: Tensor, gradient: Tensor) -> list[Tensor | None]:
        return _entropy_gradients(output, log_target, weights, gradient.unsqueeze(-1), learning)

    return _by_rows(gradients, output, log_target, gradient)


def _entropies(log_p: Tensor, log_target: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """Return the weighted entropies of each row."""
    first, second, third, fourth = weights
    target, p = log_target.exp(), log_p.exp()
    known, said = _finite(log_target), _finite(log_p)
    values = (target * (first * known - second * said) + p * (third * said - fourth * known)).sum(dim=-1)
    return _infinite(_infinite(values, second * target, log_p), fourth * p, log_target)


def _entropy_gradients(
    output: Tensor, log_target: Tensor, weights: Sequence[Tensor], gradient: Tensor, learning: Sequence[bool]
) -> list[Tensor | None]:
    """Return the gradients by output and by ℓ where they are needed."""
    first, second, third, fourth = weights
    log_p = torch.log_softmax(output, dim=-1)
    target, p = log_target.exp(), log_p.exp()
    log_target, log_p = _finite(log_target), _finite(log_p)
    to_output = to_log_target = None
    if learning[0]:
        inner = third * log_p - fourth * log_target
        mean = (p * inner).sum(dim=-1, keepdim=True)
        mass = target.sum(dim=-1, keepdim=True)
        to_output = gradient * (p * (second * mass + inner - mean) - second * target)
    if learning[1]:
        own = target * (first * (log_target + 1) - second * log_p)
        to_log_target = gradient * (own - fourth * p)
    return [to_output, to_log_target]


class _LearntTerms(torch.autograd.Function):
    # ℓ_j = log α + m_j with m = log softmax(Q), but ℓ_y = log((1−α) + α·e^{m_y}), whose slope is α·e^{m_y}/t_y.
    # With G = ∂L/∂ℓ times that slope at y:  ∂L/∂Q_j = G_j − e^{m_j} Σ_i G_i.
    generate_vmap_rule = True

    @staticmethod
    def forward(output: Tensor, logits: Tensor, y: Tensor, smoothing: Tensor, coefficients: Tensor) -> Tensor:
        weights = coefficients.to(output.dtype).unbind(-1)

        def values(output: Tensor, logits: Tensor, y: Tensor) -> list[Tensor]:
            log_target = _log_smoothed(torch.log_softmax(logits, dim=-1), y, smoothing)
            return [_entropies(torch.log_softmax(output, dim=-1), log_target, weights)]

        return _as_tensor(_by_rows(values, output, logits, _column(y))[0])

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        _keep(ctx, *inputs)

    @staticmethod
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return *_learnt_gradients(ctx.saved_tensors, gradient, ctx.needs_input_grad), None, None, None


class _LearntTermsTwice(_LearntTerms):
    @staticmethod
    def jvp(ctx: Context, *tangents: Tensor | None) -> Tensor:
        return _along(_learnt_gradients, ctx.saved_tensors, tangents)


def _learnt_gradients(saved: Sequence[Tensor], gradient: Tensor, learning: Sequence[bool]) -> list[Tensor | None]:
    output, logits, y, smoothing, coefficients = saved
    weights = coefficients.to(output.dtype).unbind(-1)

    def gradients(output: Tensor, logits: Tensor, y: Tensor, gradient: Tensor) -> list[Tensor | None]:
        log_q = torch.log_softmax(logits, dim=-1)
        log_target = _log_smoothed(log_q, y, smoothing)
        found = _entropy_gradients(output, log_target, weights, gradient.unsqueeze(-1), learning)
        to_output, to_log_target = found
        if to_log_target is None:
            return found
        spread = smoothing.log().to(log_q.dtype)
        slope = (spread + log_q.gather(-1, y) - log_target.gather(-1, y)).exp()
        to_log_q = to_log_target.scatter(-1, y, slope * to_log_target.gather(-1, y))
        return [to_output, to_log_q - log_q.exp() * to_log_q.sum(dim=-1, keepdim=True)]

    return _by_rows(gradients, output, logits, _column(y), gradient)


def _column(y: Tensor) -> Tensor:
    return y.clamp_min(0).unsqueeze(-1)


def _log_smoothed(log_q: Tensor, y: Tensor, smoothing: Tensor) -> Tensor:
    """Return ``log((1−α)·δ_y + α·q)`` in log space: ``α·q`` underflows long before its log."""
    own, spread = torch.log1p(-smoothing).to(log_q.dtype), torch.log(smoothing).to(log_q.dtype)
    spreading = spread + log_q
    return spreading.scatter(-1, y, torch.logaddexp(own, spreading.gather(-1, y)))


class _Euclidean(torch.autograd.Function):
    # ∂d_nk/∂z_n = (z_n − ŷ_k)/d_nk = −∂d_nk/∂ŷ_k.  With w = g/d (0 where floored):
    #   ∂/∂z_n = (Σ_k w_nk) z_n − Σ_k w_nk ŷ_k,   ∂/∂ŷ_k = (Σ_n w_nk) ŷ_k − Σ_n w_nk z_n:
    # two matrix products, never an (n, k, d) array. torch's own cdist has no second derivative.
    generate_vmap_rule = True

    @staticmethod
    def forward(points: Tensor, centres: Tensor) -> Tensor:
        return distances(points, centres)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        _keep(ctx, *inputs, output)

    @staticmethod
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor, Tensor]:
        points, centres, distances = ctx.saved_tensors
        weights = torch.where(distances > 1e-6, gradient / distances, 0)
        # both products are invariant to a common shift; near the origin their differences lose fewer digits
        shift = centres.detach().mean(dim=-2, keepdim=True)
        points, centres = points - shift, centres - shift
        to_points = weights.sum(dim=-1, keepdim=True) * points - weights @ centres
        to_centres = weights.sum(dim=-2).unsqueeze(-1) * centres - weights.transpose(-1, -2) @ points
        return to_points, to_centres


class _EuclideanTwice(_Euclidean):
    @staticmethod
    def jvp(ctx: Context, *tangents: Tensor | None) -> Tensor:
        # ∂d_nk = (z_n − ŷ_k)·(∂z_n − ∂ŷ_k)/d_nk
        points, centres, distances = ctx.saved_tensors
        by_point, by_centre = (
            torch.zeros_like(x) if t is None else t for x, t in zip((points, centres), tangents, strict=True)
        )
        shift = centres.detach().mean(dim=-2, keepdim=True)
        points, centres = points - shift, centres - shift
        alone = (points * by_point).sum(dim=-1).unsqueeze(-1) + (centres * by_centre).sum(dim=-1).unsqueeze(-2)
        across = by_point @ centres.transpose(-1, -2) + points @ by_centre.transpose(-1, -2)
        return torch.where(distances > 1e-6, (alone - across) / distances, 0)

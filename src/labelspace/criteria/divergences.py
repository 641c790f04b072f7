"""Losses per sample with analytic gradients, computed in log space.

Each Function saves its inputs and recomputes in ``backward`` with ordinary torch operations. Keeping softmax from the
forward pass would save one pass, but then the graph of the gradient would not know that it depends on the inputs, and
second derivatives would be silently wrong. Forward takes ``(n, K)``, returns ``(n,)``.

At the end the soft constraints of free mixtures: what keeps a learned ε, or a learned matrix of labels, near
distributions.
"""

from typing import TYPE_CHECKING, NamedTuple, Protocol

import torch
from jaxtyping import Float
from torch import Tensor

Rows = Float[Tensor, "n k"]
Values = Float[Tensor, " n"]


if TYPE_CHECKING:

    class Context(Protocol):
        """What autograd hands from ``forward`` to ``backward``."""

        saved_tensors: tuple[Tensor, ...]
        needs_input_grad: tuple[bool, ...]

        def save_for_backward(self, *tensors: Tensor) -> None:
            """Keep tensors for ``backward``."""

else:  # transforms wrap it in classes of their own, which no check at run time knows
    Context = object


def soft_cross_entropy(output: Rows, target: Rows) -> Values:
    """Return ``H(t, p) = −Σ_j t_j log p_j`` with ``p = softmax(output)``, per sample.

    The target needs no unit mass: ``H(a, p) + H(b, p) = H(a + b, p)``. Where it has none, ``output`` may be ``−inf``.
    """
    return _as_tensor(_SoftCrossEntropy.apply(output, target))  # type: ignore[no-untyped-call]


def entropy_terms(output: Rows, log_target: Rows, coefficients: Float[Tensor, " 4"]) -> Values:
    """Return ``a·(−H(t)) + b·H(t, p) + c·(−H(p)) + d·H(p, t)`` per sample.

    With all four at 1 this is the symmetric divergence ``KL(t‖p) + KL(p‖t)``.
    """
    return _as_tensor(_EntropyTerms.apply(output, log_target, coefficients))  # type: ignore[no-untyped-call]


def negative_entropy(target: Rows) -> Values:
    """Return ``−H(t) = Σ_j t_j log t_j`` per sample, with a gradient of zero where there is no mass."""
    return (target * torch.where(target > 0, target, 1).log()).sum(dim=-1)


def divergence(fixed: Rows, target: Rows) -> Values:
    """Return ``KL(f‖t) = Σ_j f_j log(f_j/t_j)`` per sample for probabilities."""
    mass = torch.where(fixed > 0, target, 1).clamp_min(torch.finfo(target.dtype).tiny)
    return negative_entropy(fixed) - (fixed * mass.log()).sum(dim=-1)


def probability_excess(output: Rows, target: Rows, cap: Tensor) -> Values:
    """Return the hinge ``max(0, p_y − cap)`` with ``p_y = Σ_j t_j p_j``, per sample."""
    return _as_tensor(_ProbabilityExcess.apply(output, target, cap))  # type: ignore[no-untyped-call]


def euclidean(points: Float[Tensor, "n d"], centres: Float[Tensor, "k d"]) -> Float[Tensor, "n k"]:
    """Return distances ``‖z_n − ŷ_k‖``, squared distances floored at 1e-12 (where the gradient is zero)."""
    return _as_tensor(_Euclidean.apply(points, centres))  # type: ignore[no-untyped-call]


def _as_tensor(result: object) -> Tensor:
    assert isinstance(result, Tensor)
    return result


def _product(weights: Tensor, logarithms: Tensor) -> Tensor:
    """Return ``w·log`` with ``0·(−inf) = 0``."""
    return torch.where(weights == 0, 0, weights * torch.where(weights == 0, 0, logarithms))


class _SoftCrossEntropy(torch.autograd.Function):
    # L = −Σ_j t_j log p_j.   ∂ log p_j/∂z_i = δ_ij − p_i, so ∂L/∂z_i = p_i Σ_j t_j − t_i.   ∂L/∂t_j = −log p_j.
    generate_vmap_rule = True

    @staticmethod
    def forward(output: Tensor, target: Tensor) -> Tensor:
        # nothing differentiates through this line, so one guard against 0·(−inf) is enough
        return -torch.where(target == 0, 0, target * torch.log_softmax(output, dim=-1)).sum(dim=-1)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor | None, Tensor | None]:
        output, target = ctx.saved_tensors
        gradient = gradient.unsqueeze(-1)
        to_output = to_target = None
        if ctx.needs_input_grad[0]:
            mass = target.sum(dim=-1, keepdim=True)
            to_output = gradient * (torch.softmax(output, dim=-1) * mass - target)
        if ctx.needs_input_grad[1]:
            log_p = torch.log_softmax(output, dim=-1)
            # a class ruled out by −inf that has no mass: no finite change of the mass is asked for
            to_target = -gradient * torch.where((target == 0) & torch.isinf(log_p), 0, log_p)
        return to_output, to_target


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
        first, second, third, fourth = coefficients.to(output.dtype).unbind(-1)
        log_p = torch.log_softmax(output, dim=-1)
        target, p = log_target.exp(), log_p.exp()
        # one factor per weight, so that each product needs one guard against 0·(−inf)
        inner = _product(target, _product(first, log_target) - _product(second, log_p))
        return (inner + _product(p, _product(third, log_p) - _product(fourth, log_target))).sum(dim=-1)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        output, log_target, coefficients = ctx.saved_tensors
        first, second, third, fourth = coefficients.to(output.dtype).unbind(-1)
        gradient = gradient.unsqueeze(-1)
        log_p = torch.log_softmax(output, dim=-1)
        target, p = log_target.exp(), log_p.exp()
        to_output = to_log_target = None
        if ctx.needs_input_grad[0]:
            mass = target.sum(dim=-1, keepdim=True)
            inner = _product(third, log_p) - _product(fourth, log_target)
            mean = _product(p, inner).sum(dim=-1, keepdim=True)
            to_output = gradient * (second * (p * mass - target) + _product(p, inner) - p * mean)
        if ctx.needs_input_grad[1]:
            own = _product(target, _product(first, log_target + 1) - _product(second, log_p))
            to_log_target = gradient * (own - fourth * p)
        return to_output, to_log_target, None


class _ProbabilityExcess(torch.autograd.Function):
    # q = Σ_j t_j p_j.   ∂q/∂z_i = p_i (t_i − q).   The hinge passes the gradient where q > cap.
    generate_vmap_rule = True

    @staticmethod
    def forward(output: Tensor, target: Tensor, cap: Tensor) -> Tensor:
        return ((torch.softmax(output, dim=-1) * target).sum(dim=-1) - cap).clamp_min(0)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor, None, None]:
        output, target, cap = ctx.saved_tensors
        p = torch.softmax(output, dim=-1)
        q = (p * target).sum(dim=-1, keepdim=True)
        return gradient.unsqueeze(-1) * (q > cap) * p * (target - q), None, None


class _Euclidean(torch.autograd.Function):
    # ∂d_nk/∂z_n = (z_n − ŷ_k)/d_nk = −∂d_nk/∂ŷ_k.  With w = g/d (0 where floored):
    #   ∂/∂z_n = (Σ_k w_nk) z_n − Σ_k w_nk ŷ_k,   ∂/∂ŷ_k = (Σ_n w_nk) ŷ_k − Σ_n w_nk z_n:
    # two matrix products, never an (n, k, d) array. torch's own cdist has no second derivative.
    generate_vmap_rule = True

    @staticmethod
    def forward(points: Tensor, centres: Tensor) -> Tensor:
        distances = torch.cdist(points, centres, compute_mode="donot_use_mm_for_euclid_dist")
        return distances.clamp_min(1e-6)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor, Tensor]:
        points, centres = ctx.saved_tensors
        distances = euclidean(points, centres)
        weights = torch.where(distances > 1e-6, gradient / distances, 0)
        # both products are invariant to a common shift; near the origin their differences lose fewer digits
        shift = centres.detach().mean(dim=-2, keepdim=True)
        points, centres = points - shift, centres - shift
        to_points = weights.sum(dim=-1, keepdim=True) * points - weights @ centres
        to_centres = weights.sum(dim=-2).unsqueeze(-1) * centres - weights.transpose(-1, -2) @ points
        return to_points, to_centres


class Weights(NamedTuple):
    """α, β, γ, η and p of eq. (10) and (11) of the mixed cross-entropy."""

    row: Tensor | float
    high: Tensor | float
    low: Tensor | float
    margin: Tensor | float
    exponent: Tensor | float


def class_penalty(mixing: Float[Tensor, " k"], relations: Float[Tensor, "k k"], weights: Weights) -> Float[Tensor, ""]:
    """Return the penalty of eq. (10): rows (ε·A with 1−ε on the diagonal) sum to 1, every ε stays in [0, ½]."""
    mass = (1 - mixing).abs() + mixing.abs() * off_diagonal(relations).sum(dim=1)
    return weights.row * (mass - 1).square().sum() + _box(mixing, 0.5, weights)


def entry_penalty(entries: Float[Tensor, "k k"], margin: Float[Tensor, "..."], weights: Weights) -> Float[Tensor, ""]:
    """Return the penalty of eq. (11): rows sum to 1, entries stay in [0, 1], the class stays ahead by ``margin``."""
    rows = (entries.sum(dim=1) - 1).square().sum()
    ahead = (len(entries) - 1) * (entries.diagonal() - margin) - off_diagonal(entries).sum(dim=1)
    return weights.row * rows + _box(entries, 1.0, weights) + weights.margin * ahead.square().sum()


def entry_box(classes: int, exponent: float) -> tuple[float, float]:
    """Return β and γ, which add up to 1, of an ``entry_penalty`` that is smallest where every row sums to 1.

    For p = 2 add up the derivatives by all entries of a row with sum S: margins cancel, and what is left,
    ``β(S−K) + γS + αK(S−1) = 0``, is solved by S = 1 where ``γ = (K−1)·β``, whatever α, η and the margin are. All
    weights at 1 would give ``S = 2K/(K+2)``. For p = 1 and β = γ the box is flat between 0 and 1, so that rows and
    margins hold exactly. ``γ = (K−1)^(p−1)·β`` is both, and for other p exact where margins are 0.

    Example:
        >>> entry_box(4, 2.0)
        (0.25, 0.75)
    """
    ratio = float(classes - 1) ** (exponent - 1)
    return 1 / (1 + ratio), ratio / (1 + ratio)


def off_diagonal(matrix: Float[Tensor, "k k"]) -> Float[Tensor, "k k"]:
    """Return the matrix with zeros on its diagonal."""
    return matrix - matrix.diagonal().diag()


def _box(values: Tensor, high: float, weights: Weights) -> Tensor:
    above, below = (values - high).abs().pow(weights.exponent).sum(), values.abs().pow(weights.exponent).sum()
    return weights.high * above + weights.low * below

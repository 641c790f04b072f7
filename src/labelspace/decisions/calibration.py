"""From scores to honest probabilities: a temperature fitted on held-out data, and a smoothing undone.

Letters: N samples, K classes, τ temperature, T a label matrix, p the probabilities of classes, q those of a model that
was trained on the rows of T.
"""

import math
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.space import LabelSpace

# the fitted τ stays within this factor of the median gap between the true class and its best rival: data that a model
# separates perfectly want τ → 0
RANGE = 100.0
# beyond this condition number T⁻¹ returns noise: a singular matrix rounded to float32 has one near 1e7
WORST_CONDITION = 1e4
HALVINGS, NEWTON = 6, 4  # steps to the best temperature of an epoch; near it each of the latter doubles the digits
RULED_OUT = 1e-12  # an inverted probability of zero, before its logarithm


class Temperature:
    """One number τ that makes confidence honest: probabilities are ``softmax(scores / τ)``.

    ``fit`` minimises the mean of ``−log softmax(scores / τ)[y]`` over log τ (L-BFGS, float64). The order of the
    scores, and so accuracy, is unchanged. The NLL on the fitting data is never worse than at τ = 1. Data that are
    perfectly separated, or always wrong, would drive τ to 0 or ∞: it stays between 1/100 and 100 times the median gap
    between the true class and its best rival. Where all scores of each sample are equal every τ is as good, and it
    is 1.

    Args:
        value: τ > 0, to restore one fitted before.

    Shape:
        ``scores (N, K)``, K ≥ 2, ``y (N,)`` class indices; probabilities are ``(N, K)``.

    Example:
        >>> scores = torch.tensor([[4.0, 0.0], [4.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
        >>> temperature = Temperature().fit(scores, torch.tensor([0, 0, 0, 0]))
        >>> round(temperature.value, 4)  # right in 3 of 4, so 4/τ = log 3
        3.641
        >>> temperature(scores)[0]
        tensor([0.7500, 0.2500])

    Reference:
        Guo and others, "On calibration of modern neural networks", 2017, eq. (9).
    """

    def __init__(self, value: float = 1.0) -> None:
        """Start from a temperature, which leaves scores as they are if it is 1."""
        self.value = _checks.number("Temperature", "value", value, low=0, open_low=True)

    def fit(self, scores: Numbers, y: Numbers) -> Self:
        """Set ``value`` from held-out scores and their labels, and return itself."""
        logits = _inputs.scores("Temperature.fit", "scores", scores)
        samples, classes = logits.shape
        labels = _inputs.class_indices("Temperature.fit", "y", y, samples=samples, classes=classes)
        self.value = _fitted(logits, labels)
        return self

    def apply(self, scores: Numbers) -> Tensor:
        """Return probabilities ``softmax(scores / τ)``, in float32 or, for float64 scores, float64."""
        given = _inputs.tensor("Temperature.apply", "scores", scores)
        found = torch.softmax(_inputs.scores("Temperature.apply", "scores", given) / self.value, dim=1)
        return like(found, given)

    def __call__(self, scores: Numbers) -> Tensor:
        """Return probabilities, as ``apply`` does."""
        return self.apply(scores)

    def __repr__(self) -> str:
        """Return how to make it again."""
        return f"Temperature({self.value!r})"


def invert_smoothing(probabilities: Numbers, targets: Numbers) -> Tensor:
    """Return class probabilities from a model that was trained on soft targets: ``p ∝ T⁻¹ q``, on the simplex.

    A model fitted to the rows of T says ``q = Σ_k p_k T_k``, a mixture of rows, so ``pᵀ = qᵀ T⁻¹``. Noise in q can
    lead out of the simplex: the nearest point of it, by Euclidean distance, is returned.

    Args:
        probabilities: q, what the model says; rows that sum to 1.
        targets: T, the label matrix it was trained on, such as ``space.targets(0.3)``; rows that sum to 1.

    Shape:
        ``probabilities (N, K)``, ``targets (K, K)``; the result is ``(N, K)``, float32 or float64 as q is.

    Example:
        >>> targets = [[0.8, 0.2], [0.4, 0.6]]
        >>> q = [[0.7, 0.3], [0.95, 0.05]]  # ¾ of the first row and ¼ of the second; more extreme than any mixture
        >>> invert_smoothing(q, targets)
        tensor([[0.7500, 0.2500],
                [1.0000, 0.0000]], dtype=torch.float64)
    """
    given = _inputs.tensor("invert_smoothing", "probabilities", probabilities)
    said = _inputs.probabilities("invert_smoothing", "probabilities", given)
    solved = torch.linalg.solve(_invertible(targets, said.shape[1]), said, left=False)
    return like(_on_simplex(solved), given)


def inverted_logits(scores: Numbers, targets: Numbers) -> Tensor:
    """Return logarithms of the class probabilities behind a model's smoothed ones, to be scaled by a temperature.

    Args:
        scores: of a model that was trained on ``targets``.
        targets: T, see ``invert_smoothing``.

    Shape:
        ``scores (N, K)``, ``targets (K, K)``; the result is ``(N, K)``, in float64.

    Example:
        >>> smoothed = torch.tensor([[0.9, 0.1]]).log()
        >>> inverted_logits(smoothed, [[0.9, 0.1], [0.1, 0.9]]).exp().round(decimals=3)
        tensor([[1., 0.]], dtype=torch.float64)
    """
    smoothed = _inputs.scores("inverted_logits", "scores", scores).double().softmax(dim=1)
    return invert_smoothing(smoothed, targets).clamp_min(RULED_OUT).log()


def calibrated_nll(scores: Tensor, y: Tensor) -> Tensor:
    """Return the mean NLL of scores at their best temperature: what a model knows, however boldly it says it.

    With β = 1/τ the NLL ``mean(log Σ_k exp(β z_k) − β z_y)`` is convex: the sign of its slope halves the range of log β
    a few times, then Newton's steps find the rest, for many models at once. Epochs of one training, or trainings with
    more or less smoothing, can be told apart by it before any temperature is fitted for good.

    Args:
        scores: finite, of each sample and class.
        y: class indices.

    Shape:
        ``scores (*, N, K)``, ``y (N,)``; the result is ``(*)``, in float64.

    Example:
        >>> bold = torch.tensor([[8.0, 0.0], [8.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
        >>> calibrated_nll(bold, torch.tensor([0, 0, 0, 0]))  # right in 3 of 4: log 4 − ¾·log 3
        tensor(0.5623, dtype=torch.float64)
    """
    wide = scores.double()
    chosen = y.expand(wide.shape[:-1]).unsqueeze(-1)
    gaps = wide - wide.gather(-1, chosen)  # of the true class 0
    # in units of their own size, so that the search does not depend on the scale of the scores
    unit = gaps.abs().mean(dim=(-2, -1)).clamp_min(torch.finfo(torch.float64).tiny)
    gaps = gaps / unit[..., None, None]
    low, high = torch.full_like(unit, 1 / RANGE), torch.full_like(unit, RANGE)
    inverse = torch.ones_like(unit)
    least = torch.minimum(_gap_nll(gaps, unit.clamp(1 / RANGE, RANGE)), _gap_nll(gaps, inverse))
    for number in range(HALVINGS + NEWTON):
        p = torch.softmax(inverse[..., None, None] * gaps, dim=-1)
        mean = (p * gaps).sum(dim=-1)
        slope, bend = mean.mean(dim=-1), ((p * gaps.square()).sum(dim=-1) - mean.square()).mean(dim=-1)
        low, high = torch.where(slope < 0, inverse, low), torch.where(slope > 0, inverse, high)
        step, middle = inverse - slope / bend, (low * high).sqrt()
        inverse = torch.where((step >= low) & (step <= high), step, middle) if number >= HALVINGS else middle
    return torch.minimum(least, _gap_nll(gaps, inverse))


def _gap_nll(gaps: Tensor, inverse: Tensor) -> Tensor:
    return torch.logsumexp(inverse[..., None, None] * gaps, dim=-1).mean(dim=-1)


def _fitted(logits: Tensor, labels: Tensor) -> float:
    """Return τ of the least NLL within the range, or 1 where that is no better than leaving scores alone."""
    from scipy.optimize import minimize

    logits = logits - logits.amax(dim=1, keepdim=True)
    others = logits.scatter(1, labels[:, None], -torch.inf).amax(dim=1)
    gaps = (logits.gather(1, labels[:, None]).squeeze(1) - others).abs()
    # the median: a masked class (−1e9) or one wild sample must not set the scale
    spread = gaps.median().item() or gaps[gaps.isfinite()].mean().item()
    if not spread > 0:
        return 1.0
    # In units of the spread the search does not depend on the scale of the scores. The NLL is convex in 1/τ, so
    # along log τ it has one valley and the bounded minimiser is the best within bounds.
    scaled = logits / spread

    def objective(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = _nll_and_slope(scaled, labels, float(np.exp(x[0])))
        return value, np.array([slope])

    limit = math.log(RANGE)
    options = {"ftol": 1e-15, "gtol": 1e-10}
    found = minimize(objective, [0.0], jac=True, method="L-BFGS-B", bounds=[(-limit, limit)], options=options)
    tau = spread * float(np.exp(found.x[0]))
    better = _nll_and_slope(logits, labels, tau)[0] < _nll_and_slope(logits, labels, 1.0)[0]
    return tau if better else 1.0


def _nll_and_slope(logits: Tensor, labels: Tensor, tau: float) -> tuple[float, float]:
    """Return the mean NLL of ``softmax(z/τ)`` and its derivative by log τ, ``(z_y − Σ_k p_k z_k)/τ`` on average."""
    log_p = torch.log_softmax(logits / tau, dim=1)
    chosen = labels[:, None]
    gap = logits.gather(1, chosen).squeeze(1) - (log_p.exp() * logits).sum(dim=1)
    return -log_p.gather(1, chosen).mean().item(), gap.mean().item() / tau


def _invertible(targets: LabelSpace | Numbers, classes: int) -> Tensor:
    owner = "invert_smoothing"
    if isinstance(targets, LabelSpace):
        raise _checks.fail_type(owner, "targets", "a (K, K) label matrix", repr(targets), "Give space.targets(σ).")
    matrix = _inputs.probabilities(owner, "targets", targets, "Give space.targets(σ), or divide each row by its sum.")
    if matrix.shape != (classes, classes):
        raise _checks.fail(owner, "targets", f"of shape ({classes}, {classes})", f"shape {tuple(matrix.shape)}")
    condition = torch.linalg.cond(matrix).item()
    if not condition <= WORST_CONDITION:
        expected = f"invertible (a condition number of at most {WORST_CONDITION:g})"
        remedy = "Rows that are alike cannot be told apart afterwards: train with less smoothing."
        raise _checks.fail(owner, "targets", expected, f"{condition:.3g}", remedy)
    return matrix


def _on_simplex(points: Tensor) -> Tensor:
    """Return the nearest points with non-negative entries that sum to 1.

    They are ``max(0, v − θ)`` with θ such that the sum is 1: with entries in falling order u, θ is the mean excess
    ``(Σ_{i≤r} u_i − 1)/r`` over the largest r for which ``u_r`` still exceeds it.
    """
    falling = points.sort(dim=1, descending=True).values
    ranks = torch.arange(1, points.shape[1] + 1, dtype=points.dtype)
    excess = (falling.cumsum(dim=1) - 1) / ranks
    last = (falling > excess).sum(dim=1, keepdim=True) - 1
    return (points - excess.gather(1, last)).clamp_min(0)


def like(result: Tensor, given: Tensor) -> Tensor:
    """Return a result on the device of what was given, in float64 if that was, else in float32."""
    return result.to(given.device, torch.float64 if given.dtype == torch.float64 else torch.float32)

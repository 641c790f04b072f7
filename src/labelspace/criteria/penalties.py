"""Soft constraints of free mixtures: what keeps a learned ε, or a learned matrix of labels, near distributions."""

from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor


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

"""Classes about which nothing is known: every other class is equally near."""

from collections.abc import Sequence

import torch

from labelspace import _checks
from labelspace.space import LabelSpace, kept_mass


def uniform(classes: int | Sequence[str]) -> LabelSpace:
    """Return relations that spread a class's soft mass evenly over the others.

    The diagonal is zero as in every built space, so ``targets(σ)`` leaves exactly ``1−σ`` on the class. Uniform
    smoothing as torch defines it leaves ``1−ε+ε/K``: ``UniformSmoothing(K, smoothing=ε)`` equals this space at
    ``σ = ε·(K−1)/K``.

    Example:
        >>> uniform(3).matrix
        tensor([[0.0000, 0.5000, 0.5000],
                [0.5000, 0.0000, 0.5000],
                [0.5000, 0.5000, 0.0000]])
    """
    names = _checks.class_names("uniform", classes)
    weights = torch.ones(len(names), len(names), dtype=torch.float64).fill_diagonal_(0)
    return LabelSpace(names, kept_mass(weights), "relations", {"builder": "uniform"})

"""Classes about which nothing is known: every other class is equally near."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from labelspace import _checks
from labelspace.compressed import TopRows, fits
from labelspace.space import LabelSpace


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
    return even(_checks.class_names("uniform", classes), {"builder": "uniform"})


def even(names: Sequence[str], source: Mapping[str, Any], own: float = 0.0) -> LabelSpace:
    """Return relations that keep ``own`` on each class and spread the rest evenly; compressed for many classes.

    Args:
        names: of the classes.
        source: where the space comes from.
        own: the entry of a class for itself; 1 where there is no other class.

    Example:
        >>> even(["a", "b", "c"], {"builder": "mine"}, own=0.5).matrix[0]
        tensor([0.5000, 0.2500, 0.2500])
    """
    count = len(names)
    own = own if count > 1 else 1.0
    if fits(count):
        matrix = torch.full((count, count), (1 - own) / max(count - 1, 1), dtype=torch.float64).fill_diagonal_(own)
        return LabelSpace(names, matrix, "relations", source)
    rule = TopRows(torch.arange(count)[:, None], torch.full((count, 1), own), torch.full((count,), 1 - own))
    return LabelSpace(names, rule, "relations", source)

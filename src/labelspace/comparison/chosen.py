"""Which row is taken home: the cheapest on validation data, and of those that it cannot tell apart the surest."""

import math
from collections.abc import Sequence

from torch import Tensor


def cheapest(costs: Sequence[Tensor], nll: Sequence[float], priced: bool) -> int:
    """Return the place of the row to take home.

    A few hundred samples count mistakes in steps, and rows within chance of each other change places with the sample.
    The likelihood of their calibrated probabilities has no steps. Where every mistake costs the same it speaks of the
    same mistakes, and decides between all rows within one standard error of the cheapest; under other prices it speaks
    of others too, and decides between equal costs alone.

    Args:
        costs: of each row, ``(seeds, samples)`` on validation data.
        nll: of each row, the mean negative log-likelihood of its calibrated probabilities there.
        priced: whether mistakes differ in price.

    Example:
        >>> import torch
        >>> one, other = torch.tensor([[0.0, 1.0, 0.0, 0.0]]), torch.tensor([[1.0, 0.0, 1.0, 0.0]])
        >>> cheapest([one, other], [0.7, 0.3], priced=False), cheapest([one, other], [0.7, 0.3], priced=True)
        (1, 0)
    """
    means = [table.double().mean(dim=0) for table in costs]
    best = min(range(len(means)), key=lambda place: float(means[place].mean()))
    near = [place for place, mean in enumerate(means) if _within(mean - means[best], priced)]
    return min(near, key=lambda place: nll[place])


def _within(more: Tensor, priced: bool) -> bool:
    """Return whether what a row costs more than the cheapest, sample by sample, may well be chance."""
    error = 0.0 if priced or len(more) < 2 else float(more.std()) / math.sqrt(len(more))
    return float(more.mean()) <= error + 1e-12

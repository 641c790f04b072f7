"""Which row is taken home: the cheapest on validation data, and of those that it cannot tell apart the surest."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor


class Offer(NamedTuple):
    """What a row is on validation data.

    Args:
        costs: of every sample, ``(seeds, samples)``.
        nll: the mean negative log-likelihood of its calibrated probabilities.
    """

    costs: Tensor
    nll: float


def cheapest(offers: Sequence[Offer], priced: bool) -> int:
    """Return the place of the row to take home.

    A few hundred samples count mistakes in steps, and rows within chance of each other change places with the sample.
    The likelihood of their calibrated probabilities has no steps. Where every mistake costs the same it speaks of the
    same mistakes, and decides between all rows within one standard error of the cheapest; under other prices it speaks
    of others too, and decides between equal costs alone.

    Args:
        offers: of each row.
        priced: whether mistakes differ in price.

    Example:
        >>> import torch
        >>> offers = [Offer(torch.tensor([[0.0, 1.0, 0.0]]), 0.7), Offer(torch.tensor([[1.0, 0.0, 1.0]]), 0.3)]
        >>> cheapest(offers, priced=False), cheapest(offers, priced=True)
        (1, 0)
    """
    means = [offer.costs.double().mean(dim=0) for offer in offers]
    best = min(range(len(means)), key=lambda place: float(means[place].mean()))
    near = [place for place, mean in enumerate(means) if _within(mean - means[best], priced)]
    return min(near, key=lambda place: offers[place].nll)


def is_worth_several(one: Offer, several: Offer) -> bool:
    """Return whether several models as one are worth what they take to run: validation data tell them from one alone.

    Args:
        one: of the best single model.
        several: of the best that is made of several.

    Example:
        >>> import torch
        >>> one, same = (Offer(torch.tensor([costs]), 0.5) for costs in ([1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]))
        >>> is_worth_several(one, Offer(torch.zeros(1, 4), 0.5)), is_worth_several(one, same)
        (True, False)
    """
    less = several.costs.double().mean(dim=0) - one.costs.double().mean(dim=0)
    error = float(less.std()) / math.sqrt(len(less)) if len(less) > 1 else math.inf
    return float(less.mean()) < -error


def _within(more: Tensor, priced: bool) -> bool:
    """Return whether what a row costs more than the cheapest, sample by sample, may well be chance."""
    error = 0.0 if priced or len(more) < 2 else float(more.std()) / math.sqrt(len(more))
    return float(more.mean()) <= error + 1e-12

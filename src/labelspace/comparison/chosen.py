"""Which row is taken home: the cheapest on validation data; where it cannot tell several apart, all of them as one."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace.comparison.change import FEW
from labelspace.metrics import effective_samples

MOST = 5  # rows that are averaged: more of them save little, and each has to be run


class Offer(NamedTuple):
    """What a row is on validation data.

    Args:
        costs: of every sample, ``(seeds, samples)``.
        nll: the mean negative log-likelihood of its calibrated probabilities.
    """

    costs: Tensor
    nll: float


def alike(offers: Sequence[Offer]) -> list[int]:
    """Return the places of the rows that validation data do not tell from the cheapest, the cheapest first.

    A few hundred samples count mistakes in steps: rows within one standard error of the cheapest change places with the
    sample, and the one that happens to be in front was lucky. Of rows that cost the same on every sample the one of
    least negative log-likelihood stands for all. At most ``MOST`` are returned.

    Args:
        offers: of each row.

    Example:
        >>> import torch
        >>> costs = [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [9.0, 9.0, 9.0]]
        >>> alike([Offer(torch.tensor([each]), nll) for each, nll in zip(costs, [0.7, 0.5, 0.3, 0.9])])
        [2, 1]
    """
    means = [offer.costs.double().mean(dim=0) for offer in offers]
    order = sorted(range(len(means)), key=lambda place: (float(means[place].mean()), offers[place].nll))
    kept: list[int] = []
    for place in order:
        same = any(torch.equal(means[place], means[other]) for other in kept)
        if not same and _within(means[place], means[order[0]]):
            kept.append(place)
    return kept[:MOST]


def is_worth_several(one: Offer, several: Offer, groups: Tensor | None = None) -> bool:
    """Return whether several models as one are worth what they take to run: validation data tell them from one alone.

    They do where the difference is more than its standard error and rests on as many samples as a verdict needs: the
    best of many rows is two samples ahead by luck.

    Args:
        one: of what is taken otherwise.
        several: of the best that is made of several.
        groups: of the validation samples.

    Example:
        >>> one = Offer(torch.tensor([[1.0] * 30 + [0.0] * 70]), 0.5)
        >>> few = Offer(torch.tensor([[0.0] * 2 + [1.0] * 28 + [0.0] * 70]), 0.5)
        >>> is_worth_several(one, Offer(torch.zeros(1, 100), 0.5)), is_worth_several(one, few)
        (True, False)
    """
    mine, other = (each.costs.double().mean(dim=0) for each in (one, several))
    if len(mine) < 2 or _within(mine, other):
        return False
    return effective_samples(mine[None], other[None], groups) >= FEW


def told_by(offers: Sequence[Offer], names: Sequence[str], best: int, groups: Tensor | None = None) -> str:
    """Return that few rows chose, where so few tell what is taken from the next best; nothing where there are enough.

    Args:
        offers: of all rows that might have been taken.
        names: of these.
        best: the place of the one that is taken.
        groups: of the validation samples.

    Example:
        >>> import torch
        >>> one, other = (Offer(torch.tensor([costs]), 0.5) for costs in ([0.0, 0.0, 1.0], [0.0, 1.0, 1.0]))
        >>> told_by([one, other], ["lls", "one-hot"], 0)
        'Too few rows chose it: about 1 of 3 validation samples tells it from one-hot.'
    """
    others = [place for place in range(len(offers)) if place != best]
    if not others:
        return ""
    following = min(others, key=lambda place: float(offers[place].costs.double().mean()))
    mine, other = (offers[place].costs.double().mean(dim=0, keepdim=True) for place in (best, following))
    carrying, count = effective_samples(mine, other, groups), mine.shape[1]
    if carrying >= FEW:
        return ""
    unit = "samples" if groups is None else "groups"
    of = count if groups is None else len(torch.unique(groups))
    few = f"about {carrying:.0f}" if carrying else "none"
    verb = "tells" if round(carrying) <= 1 else "tell"
    return f"Too few rows chose it: {few} of {of:,} validation {unit} {verb} it from {names[following]}."


def _within(row: Tensor, cheapest: Tensor) -> bool:
    """Return whether what a row costs more than the cheapest, sample by sample, may well be chance.

    A difference on one sample alone is its own standard error, whichever way it is rounded: it is chance.
    """
    more = row - cheapest
    error = float(more.std()) / math.sqrt(len(more)) if len(more) > 1 else 0.0
    rounding = 1e-12 * float((row.abs() + cheapest.abs()).mean())
    return float(more.mean()) <= error * (1 + 1e-9) + rounding

"""The relative change of a cost, how sure it is, and on how few samples it may rest."""

import math
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import metrics
from labelspace.metrics import Interval

Refits = tuple[Tensor, Tensor]  # ``(parts,)`` each, see ``metrics.paired_interval``
FEW = 20  # samples that carry a difference, below which nothing is decided
FEW_GROUPS, CARRYING = 10, 6  # the same of groups: how many there are, and how many carry it


class Resting(NamedTuple):
    """How few samples, or groups of them, a difference rests on.

    Args:
        carrying: how many carry it, about: ``metrics.effective_samples``.
        units: how many there are.
        needed: how many would be enough.
        what: samples or groups.
    """

    carrying: float
    units: int
    needed: int
    what: str

    @property
    def text(self) -> str:
        """It in words."""
        if not self.carrying:
            return f"no decision differs on {self.units:,} test {self.what}"
        count = max(1, round(self.carrying))
        if self.what == "groups" and self.units < FEW_GROUPS:
            count = self.units
        what = self.what if count > 1 else self.what.removesuffix("s")
        return f"rests on {count} {what}: about {self.needed:,} test {self.what} would decide it"


def resting(costs: Tensor, reference: Tensor, groups: Tensor | None = None) -> Resting | None:
    """Return on how few samples a difference rests; None where they are enough to decide.

    Args:
        costs: ``(seeds, samples)``.
        reference: of the same seeds and samples.
        groups: of the samples.
    """
    carrying = metrics.effective_samples(costs, reference, groups)
    if groups is None:
        units, least, what = costs.shape[1], FEW, "samples"
    else:
        units, least, what = len(torch.unique(groups)), CARRYING, "groups"
    if carrying >= least and (groups is None or units >= FEW_GROUPS):
        return None
    needed = math.ceil(units * max(1.0, least / max(carrying, 1.0)))
    return Resting(carrying, units, needed if groups is None else max(needed, FEW_GROUPS), what)


def change_of(
    costs: Tensor,
    reference: Tensor,
    level: float,
    groups: Tensor | None = None,
    fixed: bool = False,
    refits: Refits | None = None,
) -> Interval | None:
    """Return the relative change of the mean cost; None where the reference makes no costly mistake.

    Where few samples carry it (see ``resting``) the interval leaves room for what so few do not show, and there is none
    where it would still exclude 0.

    Args:
        costs: ``(seeds, samples)``.
        reference: of the same seeds and samples.
        level: of the interval.
        groups: of the samples.
        fixed: whether the question is about these very models. One model each then has an interval, over samples
            alone; it says nothing about what another training would give.
        refits: mean costs of both after what is fitted on validation data was fitted again without some of them.
    """
    found = unguarded_change_of(costs, reference, level, groups, fixed, refits)
    few = None if found is None or found.low is None else resting(costs, reference, groups)
    if found is None or found.low is None or found.high is None or few is None:
        return found
    room = _room(costs, reference, level, few.units)
    low, high = found.low - room, found.high + room
    if float(costs.min()) >= 0:  # without gains nothing costs less than nothing
        low = max(low, -1.0)
    note = "; ".join(part for part in (few.text, found.note) if part)
    if not low <= 0 <= high:
        return replace(found, low=None, high=None, p_value=None, note=note)
    return replace(found, low=low, high=high, p_value=None, note=note)


def unguarded_change_of(
    costs: Tensor,
    reference: Tensor,
    level: float,
    groups: Tensor | None = None,
    fixed: bool = False,
    refits: Refits | None = None,
) -> Interval | None:
    """Return the change as ``change_of`` does, however few samples carry it: nothing may be decided by it alone."""
    if float(reference.mean()) <= 0:
        return None
    single = fixed and len(costs) == 1 and (groups is None or len(torch.unique(groups)) > 1)
    # the one model twice: seeds that do not differ add nothing to the variance, and only samples are left to chance
    times = 2 if single else 1
    tables = costs.repeat(times, 1), reference.repeat(times, 1)
    found = metrics.paired_interval(*tables, groups=groups, level=level, relative=True, refits=refits)
    return replace(found, seeds=1, note="over test samples alone: these models, not others") if single else found


def _room(costs: Tensor, reference: Tensor, level: float, units: int) -> float:
    """Return by how much samples of which none were seen may move a change: what n did not show may happen to 3 in n.

    The 3 is ``−log(1 − level)`` at 95 percent: where p of all samples differ, n of them show none with probability
    ``(1 − p)^n``, about ``e^(−pn)``. Each of them may be as dear as the dearest that was seen.
    """
    dearest = max(float(costs.abs().max()), float(reference.abs().max()))
    return -math.log(1 - level) / units * dearest / float(reference.mean())

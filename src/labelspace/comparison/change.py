"""The change of a cost, how sure it is, and on how few samples it may rest.

It is relative to the reference's mean cost. Where prices are gains too, that mean may be below 0, or its sign may be
uncertain: nothing is a share of it, and the change is the difference per sample.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import metrics
from labelspace.metrics import Interval
from labelspace.results import Unit

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


@dataclass(frozen=True)
class PerSample(Interval):
    """A change that is no share of the reference's mean cost: the difference of the mean costs, below 0 is a gain.

    Args:
        stake: the mean absolute cost per sample of the reference's decisions, which margins are shares of. Where
            nothing is a gain it is the mean cost, so that a margin is what it is of a relative change; unlike the mean
            it is not near 0 where gains and losses cancel.
    """

    stake: float = 1.0


def unit_of(moved: Interval | None) -> Unit:
    """Return what a change is measured in."""
    return "per sample" if isinstance(moved, PerSample) else "relative"


def within(moved: Interval | None, margin: float) -> float:
    """Return a margin in the unit of a change.

    Example:
        >>> within(PerSample(-0.3, -0.4, -0.2, 0.95, 6, 9, stake=2.0), 0.05), within(None, 0.05)
        (0.1, 0.05)
    """
    return margin * moved.stake if isinstance(moved, PerSample) else margin


def unit_for(
    tables: Sequence[Tensor],
    reference: Tensor,
    level: float,
    groups: Tensor | None = None,
    refits: Tensor | None = None,
) -> Unit:
    """Return what changes against a reference are measured in: one unit for all, so that they can be compared.

    Per sample where something is a gain and the reference's mean cost is not above 0 beyond doubt, which is where
    Fieller's interval has no end. Both units have the same test of no change, of ``cost − reference's cost``: to look
    at the reference first does not make a false verdict likelier.

    Args:
        tables: costs of what is compared, ``(seeds, samples)`` each.
        reference: the same of the reference.
        level: of the interval that says whether its mean is above 0.
        groups: of the samples.
        refits: its mean costs after refits.
    """
    if min(float(table.min()) for table in (*tables, reference)) >= 0:
        return "relative"
    # one model twice, as below: samples alone are chance then
    table = reference if len(reference) > 1 else reference.repeat(2, 1)
    apart = None if refits is None else (refits, torch.zeros_like(refits))
    mean = metrics.paired_interval(table, torch.zeros_like(table), groups=groups, level=level, refits=apart)
    return "relative" if mean.low is not None and mean.low > 0 else "per sample"


def change_of(
    costs: Tensor,
    reference: Tensor,
    level: float,
    groups: Tensor | None = None,
    fixed: bool = False,
    refits: Refits | None = None,
    unit: Unit | None = None,
) -> Interval | None:
    """Return the change of the mean cost; None where the reference makes no costly mistake and nothing is a gain.

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
        unit: of the change; what ``unit_for`` says of these two by default.
    """
    found = unguarded_change_of(costs, reference, level, groups, fixed, refits, unit)
    few = None if found is None or found.low is None else resting(costs, reference, groups)
    if found is None or found.low is None or found.high is None or few is None:
        return found
    room = _room(costs, reference, level, few.units, unit_of(found))
    low, high = found.low - room, found.high + room
    if float(costs.min()) >= 0 and not isinstance(found, PerSample):  # without gains nothing costs less than nothing
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
    unit: Unit | None = None,
) -> Interval | None:
    """Return the change as ``change_of`` does, however few samples carry it: nothing may be decided by it alone."""
    unit = unit or unit_for([costs], reference, level, groups, None if refits is None else refits[1])
    relative = unit == "relative"
    stake = float(reference.abs().mean()) or float(costs.abs().mean())
    if (float(reference.mean()) if relative else stake) <= 0:
        return None
    single = fixed and len(costs) == 1 and (groups is None or len(torch.unique(groups)) > 1)
    # the one model twice: seeds that do not differ add nothing to the variance, and only samples are left to chance
    times = 2 if single else 1
    tables = costs.repeat(times, 1), reference.repeat(times, 1)
    found = metrics.paired_interval(*tables, groups=groups, level=level, relative=relative, refits=refits)
    if not relative:
        found = PerSample(**vars(found), stake=stake)
    return replace(found, seeds=1, note="over test samples alone: these models, not others") if single else found


def _room(costs: Tensor, reference: Tensor, level: float, units: int, unit: Unit) -> float:
    """Return by how much samples of which none were seen may move a change: what n did not show may happen to 3 in n.

    The 3 is ``−log(1 − level)`` at 95 percent: where p of all samples differ, n of them show none with probability
    ``(1 − p)^n``, about ``e^(−pn)``. Each of them may be as dear as the dearest that was seen; of gains, differ by as
    much as the dearest and the most gainful.
    """
    seen = -math.log(1 - level) / units
    if unit == "per sample":
        return seen * float(torch.maximum(costs, reference).max() - torch.minimum(costs, reference).min())
    dearest = max(float(costs.abs().max()), float(reference.abs().max()))
    return seen * dearest / float(reference.mean())

"""How much what is fitted on validation data moves test costs: everything fitted again without a tenth of them each.

The delete-a-group jackknife: with m_r the mean test cost after part r of R was left out, the choice of the validation
rows adds ``(R − 1)/R · Σ_r (m_r − m̄)²`` to the variance of the mean cost. Which calibrator it is stays what it was.
"""

from dataclasses import replace

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.comparison.outcome import Judge, Outcome
from labelspace.decisions import Decision
from labelspace.decisions.capacity import check_rows
from labelspace.decisions.choosing import ENTRIES, Chosen, dealt, fitted_again
from labelspace.metrics.crossed import units_of

PARTS = 10


def refitted_costs(outcome: Outcome) -> Tensor | None:
    """Return the mean test cost of decisions that were fitted without each of some parts of the validation data.

    ``(parts,)``, means over seeds; None where nothing fitted there can change a decision, where there is nothing
    to leave out, and where validation rows are so many that leaving out some changes nothing worth its time.

    Args:
        outcome: of a row.
    """
    judge, scores = outcome.judge, outcome.scores[0]
    fits = outcome.calibrated and judge.calibration != "none"
    if judge.capacity is None and not (fits and (judge.rule == "min_cost" or outcome.calibrations is not None)):
        return None
    part = parts_of(scores.validation_y, scores.validation_groups)
    if part is None or scores.validation.numel() > ENTRIES:
        return None
    found = []
    for each, by, how in zip(outcome.scores, outcome.deciders, outcome.calibrators, strict=True):
        validation, test = outcome.logits(each.validation).double(), outcome.logits(each.test).double()
        plain = replace(by, targets=None)  # which were undone just now, once for all parts
        for number in range(int(part.max()) + 1):
            kept = part != number
            decision = _again(plain, how, validation[kept], each.validation_y[kept], fits)
            if judge.capacity is not None:
                stakes = None if each.validation_factors is None else each.validation_factors[kept]
                decision = decision.with_capacity(validation[kept], judge.capacity, weights=stakes)
            found.append(decision.judge(test, each.test_y, judge.cost, each.test_factors).costs.mean())
    return torch.stack(found).reshape(len(outcome.scores), -1).mean(dim=0)


def parts_of(y: Tensor, groups: Tensor | None) -> Tensor | None:
    """Return the part of each validation row, of ten, or fewer where there are fewer rows; None for less than two.

    Rows of a group are in one part; where there are no groups every part has its share of each class.

    Args:
        y: classes of the rows, ``(N,)``.
        groups: what belongs together.

    Example:
        >>> parts_of(torch.tensor([0, 0, 1, 1]), None), parts_of(torch.tensor([0, 0, 1]), torch.tensor([7, 7, 9]))
        (tensor([0, 1, 2, 3]), tensor([0, 0, 1]))
    """
    units = None if groups is None else torch.from_numpy(units_of("compare", groups, len(y)))
    count = min(PARTS, len(y) if units is None else int(units.max()) + 1)
    if count < 2:
        return None
    return dealt(y, count) if units is None else units % count


def check_fits(judge: Judge, y: Tensor, groups: Tensor | None) -> None:
    """Refuse what cannot be fitted to these validation rows, or to those that are left of them, before any training.

    Args:
        judge: the limits of actions and the calibrator that was asked for.
        y: classes of the rows, ``(N,)``.
        groups: what belongs together.
    """
    present = len(torch.unique(y))
    if judge.calibration == "isotonic" and present < len(judge.cost):
        remedy = "A curve needs some of each: say 'temperature', or take other validation samples."
        expected = "another where validation samples are of one class"
        raise _checks.fail("compare", "calibration", expected, repr(judge.calibration), remedy)
    if judge.capacity is None:
        return
    names = judge.actions or judge.names or ()
    check_rows(names, judge.capacity, len(y))
    part = parts_of(y, groups)
    if part is None or len(y) * len(judge.cost) > ENTRIES:
        return
    for left in sorted(set((len(y) - torch.bincount(part)).tolist())):
        check_rows(names, judge.capacity, left, " that are left where intervals leave some out")


def _again(decision: Decision, how: Chosen, logits: Tensor, y: Tensor, fits: bool) -> Decision:
    """Return the same decision, fitted to other rows; what cannot be fitted to them stays as it is."""
    found = fitted_again(how, logits, y) if fits else how
    return replace(decision, temperature=found.temperature, calibration=found.calibrator, added=None)

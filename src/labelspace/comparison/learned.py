"""Whether models learned at all: beside what knows nothing of a sample, and whether training had come to its end.

A verdict between models that did not learn, or had not finished learning, would be one on how long they trained.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from labelspace.comparison.budget import STEPS
from labelspace.comparison.change import unguarded_change_of, within
from labelspace.comparison.outcome import Outcome, Scores
from labelspace.comparison.rows import Judged, make_row
from labelspace.report.words import decimals_for, fixed, percent
from labelspace.results import Options
from labelspace.training.run import Run

LABEL = "constant"
LITTLE = 0.05  # of a constant's cost: what saves less than that is as good as nothing
SMALLEST = 0.02  # nats
FALLING = 0.1  # of the validation loss, which the last quarter of the epochs took away: training had not ended
LONGER = "train longer (--epochs, --budget)"
MEMORISED = 0.5  # of the validation loss: a training loss below it was learned by heart


def constant_row(labels: Tensor, like: Outcome, factors: Tensor | None = None) -> Judged:
    """Return the row of what calls one class whatever it is shown: the most frequent one, and the one of least cost.

    Which ones, labels say that are no part of the test.

    Args:
        labels: of the training samples, as they are trained on; of the validation samples where only scores are known.
        like: of the reference, whose samples it is judged on.
        factors: what the prices of these samples are multiplied by: a sample counts as often.
    """
    judge, known = like.judge, labels >= 0
    counts = torch.bincount(labels[known], None if factors is None else factors[known], len(judge.cost)).double()
    # a class that never comes is as unlikely as can be, and no more: its logarithm must be finite
    chance = (counts / counts.sum().clamp_min(1)).clamp_min(1e-12).log()
    scores = [_same(chance, each) for each in like.scores]
    if judge.capacity is not None and len(judge.capacity) == judge.cost.shape[1]:
        judge = judge._replace(capacity=None)  # the same for all keeps to no limits
    outcome = Outcome(scores, judge, calibrated=False)
    called = {rule: outcome.action_names[int(outcome.actions(rule)[0][0])] for rule in ("argmax", judge.rule)}
    options: Options = {str(rule): name for rule, name in called.items()}
    return make_row(outcome, label=LABEL, role="constant", options=options)


def _same(chance: Tensor, like: Scores) -> Scores:
    """Return the same scores for every sample."""
    validation, test = (chance.expand(len(y), -1) for y in (like.validation_y, like.test_y))
    return like._replace(validation=validation, test=test)


def doubts(
    reference: Judged, constant: Judged, runs: Sequence[Sequence[Run]], steps: int, groups: Tensor | None, level: float
) -> str | None:
    """Return why there is no verdict; None where the reference learned, and all had learned what they would.

    Args:
        reference: its row.
        constant: from ``constant_row``.
        runs: of the reference and of what it is compared with, one per seed each.
        steps: of an epoch.
        groups: of the test samples.
        level: of the interval that says whether it is better than a constant.
    """
    # whether samples are enough to decide is said of the verdict itself
    moved = unguarded_change_of(reference.costs, constant.costs, level, groups, fixed=True)
    if moved is None:
        return None  # a constant that makes no costly mistake: there is nothing to learn, which the rows show
    if moved.high is not None and moved.high < 0:
        return unfinished(runs, steps)
    costs = _costs(reference, constant)
    heart = _by_heart(runs[0]) if runs else ""
    if moved.estimate < -within(moved, LITTLE) and not heart:
        return f"{reference.shown} cost {costs}: these samples cannot tell the one from the other. No verdict."
    remedy = "the labels, or take a smaller network" if heart else f"the data and the learning rate, or {LONGER}"
    return f"{reference.shown} taught nothing{heart}: they cost {costs}. No verdict. Look at {remedy}."


def unhelped(row: Judged, constant: Judged, groups: Tensor | None, level: float) -> list[str]:
    """Return that scores from elsewhere do not help, where decisions by them are no better than the same for all.

    Args:
        row: of the scores.
        constant: from ``constant_row``.
        groups: of the test samples.
        level: of the interval that says whether they are better.
    """
    moved = unguarded_change_of(row.costs, constant.costs, level, groups, fixed=True)
    if moved is None or (moved.high is not None and moved.high < 0):
        return []
    return [f"{row.label} costs {_costs(row, constant)}: these samples do not show that its scores help."]


def _costs(row: Judged, constant: Judged) -> str:
    values = [row.headline.cost, constant.headline.cost]
    ours, same = (fixed(value, decimals_for(values)) for value in values)
    return f"{ours} per sample, the same decision for every sample {same}"


def unfinished(runs: Sequence[Sequence[Run]], steps: int) -> str | None:
    """Return that training was still going on when it ended, where it was.

    Args:
        runs: of each row that matters, one per seed.
        steps: of an epoch.
    """
    return next((text for each in runs for text in [_unfinished(each, steps)] if text), None)


def _by_heart(runs: Sequence[Run]) -> str:
    """Return that models learned their training samples by heart, where they did."""
    last = [run.epochs[-1] for run in runs if run.epochs]
    pairs = [(each["train_loss"], each["validation_nll"]) for each in last if "validation_nll" in each]
    if not pairs or not all(ours < MEMORISED * theirs for ours, theirs in pairs):
        return ""
    train, validation = (sum(each) / len(pairs) for each in zip(*pairs, strict=True))
    return f" but the training samples by heart (loss {train:.2g}, on validation data {validation:.2g})"


def _unfinished(runs: Sequence[Run], steps: int) -> str | None:
    """Return that training was still going on when it ended, where it was."""
    falls = [fall for run in runs for fall in [_fall(run, steps)] if fall is not None]
    if len(falls) < len(runs):
        return f"One short epoch does not show whether training had come to its end. No verdict: {LONGER}."
    fall = sum(falls) / len(falls)
    if fall <= FALLING:
        return None
    name = runs[0].config.method
    return (
        f"Training had not come to its end: over the last quarter of the epochs the validation loss of {name} still"
        f" fell by {percent(fall, sign=False)}. No verdict: {LONGER}."
    )


def _fall(run: Run, steps: int) -> float | None:
    """Return the share of the validation loss that the last quarter of the epochs took away; None for too few."""
    losses = [each.get("validation_nll", math.nan) for each in run.epochs]
    if len(losses) < 2:
        # a single pass over many samples may be training enough, and there is nothing to see
        return 0.0 if steps >= STEPS else None
    before, after = losses[-1 - max(1, len(losses) // 4)], losses[-1]
    # of what is nearly solved, a share of nearly nothing says nothing
    return (before - after) / before if before - after > SMALLEST else 0.0

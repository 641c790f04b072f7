"""What is decided, class by class, and whether one class swallows the others."""

from collections.abc import Sequence

import torch
from torch import Tensor

from labelspace.comparison.outcome import Outcome
from labelspace.report.words import percent
from labelspace.results import Called, Row

MOST = 0.75  # of the samples: a class that is called so often
BEYOND = 0.25  # and as much more often than it comes has swallowed the others


def decided(outcome: Outcome, names: Sequence[str]) -> tuple[Called, ...]:
    """Return how often each class comes, is called and is found on test data, by argmax and by the headline's rule.

    Args:
        outcome: of the row to take home.
        names: of the classes.
    """
    labels, called, found = _counts(outcome, "argmax", len(names))
    rows = {"share": labels / labels.sum(), "argmax": called / called.sum(), "recall_argmax": found / labels}
    if outcome.judge.priced:
        _, called, found = _counts(outcome, "min_cost", len(names))
        rows |= {"min_cost": called / called.sum(), "recall_min_cost": found / labels}
    listed = {key: [None if value != value else value for value in row.tolist()] for key, row in rows.items()}
    return tuple(
        Called.model_validate({"name": name, **{key: values[place] for key, values in listed.items()}})
        for place, name in enumerate(names)
    )


def _counts(outcome: Outcome, rule: str, classes: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return of each class, over all seeds, how often it comes, is called, and is called rightly."""
    y, called = torch.cat([each.test_y for each in outcome.scores]), torch.cat(outcome.decisions(rule))
    parts = (y, called, y[y == called])
    labels, calls, right = (torch.bincount(part, minlength=classes).double() for part in parts)
    return labels, calls, right


def collapses(rows: Sequence[Row], outcomes: Sequence[Outcome], best: int, names: Sequence[str]) -> list[str]:
    """Return a warning where the decisions of the best row, or else of the reference, are nearly always one class.

    Args:
        rows: the reference first.
        outcomes: of the rows.
        best: the place of the row to take home.
        names: of the classes.
    """
    found = (_collapse(rows[place], outcomes[place], names) for place in dict.fromkeys((best, 0)))
    return [text for text in found if text][:1]


def _collapse(row: Row, outcome: Outcome, names: Sequence[str]) -> str:
    rule = outcome.judge.rule
    labels, called, _ = _counts(outcome, rule, len(names))
    shares, calls = labels / labels.sum(), called / called.sum()
    most = int(calls.argmax())
    share, often = float(shares[most]), float(calls[most])
    if often < MOST or often - share < BEYOND:
        return ""
    verb = "decide" if row.method else "decides"
    text = (
        f"{row.shown} nearly always {verb} the same: {percent(often, sign=False)} of the test samples are called"
        f" {names[most]}, which {percent(share, sign=False)} of them are."
    )
    if rule == "argmax":
        return text
    plain = float(_counts(outcome, "argmax", len(names))[1][most] / called.sum())
    return f"{text} By argmax it would be {percent(plain, sign=False)}: see whether the prices are meant so."

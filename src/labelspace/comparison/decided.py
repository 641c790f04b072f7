"""What is decided, class by class and action by action, and whether one of them swallows the others."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace.comparison.outcome import Outcome
from labelspace.report.words import percent
from labelspace.results import Called, Row

MOST = 0.75  # of the samples: a class that is called so often
BEYOND = 0.25  # and as much more often than it comes has swallowed the others
SAID = 6  # actions in a sentence


class Counts(NamedTuple):
    """Of each class, then of each action that is none, over all seeds.

    Args:
        names: of both.
        labels: how often it comes.
        called: how often it is called, or done.
        found: how often it is called rightly.
    """

    names: tuple[str, ...]
    labels: Tensor
    called: Tensor
    found: Tensor


def decided(outcome: Outcome, names: Sequence[str]) -> tuple[Called, ...]:
    """Return how often each class comes, is called and is found on test data, by argmax and by the headline's rule.

    Actions that are no classes come after them: they are called, as often as they are done, and never come.

    Args:
        outcome: of the row to take home.
        names: of the classes.
    """
    every, labels, called, found = _counts(outcome, "argmax", names)
    rows = {"share": labels / labels.sum(), "argmax": called / called.sum(), "recall_argmax": found / labels}
    if outcome.judge.priced:
        _, _, called, found = _counts(outcome, "min_cost", names)
        rows |= {"min_cost": called / called.sum(), "recall_min_cost": found / labels}
    listed = {key: [None if value != value else value for value in row.tolist()] for key, row in rows.items()}
    paid = {each.name: {"expected_cost": each.expected, "realised_cost": each.realised} for each in outcome.realised()}
    return tuple(
        Called.model_validate({"name": name, **{key: row[place] for key, row in listed.items()}, **paid.get(name, {})})
        for place, name in enumerate(every)
    )


def done(outcome: Outcome) -> str:
    """Return how often each action is done, the most frequent first; nothing where classes are called and no more.

    Args:
        outcome: of the row to take home.
    """
    if outcome.judge.actions is None:
        return ""
    names, taken = outcome.action_names, torch.cat(outcome.actions(outcome.judge.rule))
    shares = torch.bincount(taken, minlength=len(names)).double() / len(taken)
    order = [place for place in shares.argsort(descending=True, stable=True).tolist() if shares[place] > 0]
    said = [f"{names[place]} {percent(float(shares[place]), sign=False)}" for place in order[:SAID]]
    rest = float(shares[order[SAID:]].sum())
    more = [f"{len(order) - SAID} others {percent(rest, sign=False)}"] if len(order) > SAID else []
    return f"Done about test samples: {', '.join([*said, *more])}."


def _counts(outcome: Outcome, rule: str, names: Sequence[str]) -> Counts:
    actions = outcome.action_names
    every = (*names, *(name for name in actions if name not in set(names)))
    place = {name: index for index, name in enumerate(every)}
    where = torch.tensor([place[name] for name in actions]) if outcome.judge.actions is not None else None
    y, taken = torch.cat([each.test_y for each in outcome.scores]), torch.cat(outcome.actions(rule))
    called = taken if where is None else where[taken]
    parts = (y, called, y[y == called])
    labels, calls, right = (torch.bincount(part, minlength=len(every)).double() for part in parts)
    return Counts(every, labels, calls, right)


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
    every, labels, called, _ = _counts(outcome, rule, names)
    shares, calls = labels / labels.sum(), called / called.sum()
    most = int(calls.argmax())
    share, often = float(shares[most]), float(calls[most])
    if often < MOST or often - share < BEYOND:
        return ""
    verb = "decide" if row.method else "decides"
    text = f"{row.shown} nearly always {verb} the same: {percent(often, sign=False)} of the test samples "
    if every[most] in names:
        text += f"are called {every[most]}, which {percent(share, sign=False)} of them are."
    else:
        text += f"get {every[most]}."
    if rule == "argmax":
        return text
    plain = float(_counts(outcome, "argmax", names).called[most] / called.sum())
    return f"{text} By argmax it would be {percent(plain, sign=False)}: see whether the prices are meant so."

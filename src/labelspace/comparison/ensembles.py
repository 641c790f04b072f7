"""Several models as one: the mean of their calibrated probabilities, made honest once more.

They are all judged seeds of a row, or of the rows that validation data do not tell apart. One model decides, so what it
costs is left to chance by the samples alone; and it takes as many times as long to run.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from labelspace.comparison.judging import Trained
from labelspace.comparison.outcome import Outcome
from labelspace.comparison.rows import Judged
from labelspace.decisions import Decision
from labelspace.metrics import accuracy, nll
from labelspace.models.fitted import as_one
from labelspace.records import RunResult
from labelspace.training.run import Run


def ensemble(each: Trained) -> Trained:
    """Return the row of all seeds of a row together.

    Args:
        each: a row of several seeds that are not all the same.
    """
    outcome, count = _outcome(each), len(each.runs)
    first = outcome.scores[0]
    shares = [1 / count] * count
    validation, test = _mean(outcome.validation_probabilities, shares), _mean(outcome.probabilities, shares)
    scores = first._replace(validation=validation, test=test)
    entry = each.entry._replace(label=f"{count} × {each.entry.label}", role="ensemble", of=each.entry.label)
    return Trained(entry, [], each.options, each.runs, Outcome([scores], outcome.judge, calibrated=outcome.calibrated))


def mixed(some: Sequence[Trained]) -> Trained:
    """Return the row of several rows together: all models of each, one where its seeds gave the same.

    Rows count alike, however many models they have.

    Args:
        some: rows that cannot be told apart, the cheapest first.
    """
    members = [(each, place) for each in some for place in (range(len(each.runs)) if _differ(each) else range(1))]
    shares = _shares([each.entry.label for each, _ in members])
    validation = _mean([_outcome(each).validation_probabilities[place] for each, place in members], shares)
    test = _mean([_outcome(each).probabilities[place] for each, place in members], shares)
    first, label = some[0].entry, f"average of {len(members)}"
    entry = first._replace(label=label, method="", role="ensemble", space=None, of=None, option=None, options={})
    scores = _outcome(some[0]).scores[0]._replace(validation=validation, test=test)
    runs = [each.runs[place] for each, place in members]
    return Trained(entry, [], some[0].options, runs, Outcome([scores], _outcome(some[0]).judge))


def averaged(rows: Sequence[Judged], trained: Sequence[Trained], cheapest: int) -> list[Trained]:
    """Return the rows of several seeds that are worth it: reference, winner, best rival that draws, and the cheapest.

    Args:
        rows: the reference first.
        trained: what they are of.
        cheapest: the place of the row that costs least on validation data.
    """
    drawn = [place for place, each in enumerate(trained) if _differ(each)]
    rivals = [place for place in drawn if rows[place].role == "rival"]
    best = sorted(rivals, key=lambda place: -rows[place].merit)[:1]
    chosen = [place for place in drawn if rows[place].role == "reference" or rows[place].winner]
    chosen += [*best, *(place for place in drawn if place == cheapest)]
    return [ensemble(trained[place]) for place in dict.fromkeys(chosen)]


def together(each: Trained, trained: Sequence[Trained]) -> Run:
    """Return the run of an ensemble: the first of its members, with what all of them say together.

    Args:
        each: from ``ensemble`` or ``mixed``.
        trained: the rows, among them those whose runs are its members.
    """
    outcome, first = _outcome(each), each.runs[0]
    said = outcome.scores[0]
    pairs = {"validation": (said.validation, said.validation_y), "test": (said.test, said.test_y)}
    scores: dict[str, Tensor] = {f"{part}_scores": found for part, (found, _) in pairs.items()}
    scores |= {f"{part}_y": y for part, (_, y) in pairs.items()}
    result: RunResult = {**first.result}
    result["validation"], result["test"] = (_numbers(*pairs[part]) for part in ("validation", "test"))
    found = [_place(run, trained) for run in each.runs]
    members = tuple(replace(run, decision=how) for run, (_, how) in zip(each.runs, found, strict=True))
    shares = tuple(_shares([label for label, _ in found]))
    return replace(first, scores=scores, result=result, folder=None, members=members, shares=shares)


def _place(run: Run, trained: Sequence[Trained]) -> tuple[str, Decision]:
    """Return of which row a run is, and how it decides by itself."""
    for each in trained:
        places = [place for place, other in enumerate(each.runs) if other is run]
        if places:
            return each.entry.label, _outcome(each).deciders[places[0]]
    raise AssertionError("every member is a run of some row")


def _shares(labels: Sequence[str]) -> list[float]:
    """Return what each model counts where rows count alike.

    Args:
        labels: of the row of each model.
    """
    count = Counter(labels)
    return [1 / (len(count) * count[label]) for label in labels]


def _outcome(each: Trained) -> Outcome:
    assert isinstance(each.outcome, Outcome)
    return each.outcome


def _differ(each: Trained) -> bool:
    """Return whether the seeds of a row gave different models."""
    first, *others = (scores.validation for scores in _outcome(each).scores)
    return any(not torch.equal(first, other) for other in others)


def _numbers(scores: Tensor, y: Tensor) -> dict[str, float]:
    p = scores.double().softmax(dim=1)
    return {"accuracy": float(accuracy(p.argmax(dim=1), y)), "nll": float(nll(p, y))}


def _mean(probabilities: Sequence[Tensor], shares: Sequence[float]) -> Tensor:
    return as_one([each.double() for each in probabilities], shares).float()

"""Several models as one: the mean of their calibrated probabilities, made honest once more.

They are all judged seeds of a row, or the best seeds of the rows that validation data do not tell apart. One model
decides, so what it costs is left to chance by the samples alone; and it takes as many times as long to run.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from labelspace.comparison.judging import Trained, best_seed
from labelspace.comparison.outcome import Outcome
from labelspace.comparison.rows import Judged
from labelspace.decisions import Decision
from labelspace.metrics import accuracy, nll
from labelspace.models.fitted import FLOOR
from labelspace.records import RunResult
from labelspace.training.run import Run


def ensemble(each: Trained) -> Trained:
    """Return the row of all seeds of a row together.

    Args:
        each: a row of several seeds that are not all the same.
    """
    outcome, count = each.outcome, len(each.runs)
    assert isinstance(outcome, Outcome)
    first = outcome.scores[0]
    validation, test = _mean(outcome.validation_probabilities), _mean(outcome.probabilities)
    scores = first._replace(validation=validation, test=test)
    entry = each.entry._replace(label=f"{count} × {each.entry.label}", role="ensemble", of=each.entry.label)
    return Trained(entry, [], each.options, each.runs, Outcome([scores], outcome.judge, calibrated=outcome.calibrated))


def mixed(some: Sequence[Trained]) -> Trained:
    """Return the row of several rows together, each with its best seed on validation data.

    Args:
        some: rows that cannot be told apart, the cheapest first.
    """
    outcomes = [each.outcome for each in some if isinstance(each.outcome, Outcome)]
    places = [best_seed(each) for each in outcomes]
    pairs = list(zip(outcomes, places, strict=True))
    validation = _mean([outcome.validation_probabilities[place] for outcome, place in pairs])
    test = _mean([outcome.probabilities[place] for outcome, place in pairs])
    scores = outcomes[0].scores[0]._replace(validation=validation, test=test)
    first, label = some[0].entry, f"average of {len(some)}"
    entry = first._replace(label=label, method="", role="ensemble", space=None, of=None, option=None, options={})
    runs = [each.runs[place] for each, place in zip(some, places, strict=True)]
    return Trained(entry, [], some[0].options, runs, Outcome([scores], outcomes[0].judge))


def averaged(rows: Sequence[Judged], trained: Sequence[Trained]) -> list[Trained]:
    """Return the rows of several seeds that are worth it: the reference, the winner, the best rival that draws.

    Args:
        rows: the reference first.
        trained: what they are of.
    """
    drawn = [place for place, each in enumerate(trained) if _differ(each)]
    rivals = [place for place in drawn if rows[place].role == "rival"]
    best = sorted(rivals, key=lambda place: -rows[place].merit)[:1]
    chosen = [place for place in drawn if rows[place].role == "reference" or rows[place].winner] + best
    return [ensemble(trained[place]) for place in chosen]


def together(each: Trained, trained: Sequence[Trained]) -> Run:
    """Return the run of an ensemble: the first of its members, with what all of them say together.

    Args:
        each: from ``ensemble`` or ``mixed``.
        trained: the rows, among them those whose runs are its members.
    """
    outcome, first = each.outcome, each.runs[0]
    assert isinstance(outcome, Outcome)
    said = outcome.scores[0]
    pairs = {"validation": (said.validation, said.validation_y), "test": (said.test, said.test_y)}
    scores: dict[str, Tensor] = {f"{part}_scores": found for part, (found, _) in pairs.items()}
    scores |= {f"{part}_y": y for part, (_, y) in pairs.items()}
    result: RunResult = {**first.result}
    result["validation"], result["test"] = (_numbers(*pairs[part]) for part in ("validation", "test"))
    members = tuple(replace(run, decision=_decision(run, trained)) for run in each.runs)
    return replace(first, scores=scores, result=result, folder=None, members=members)


def _decision(run: Run, trained: Sequence[Trained]) -> Decision:
    """Return how a run decides by itself."""
    for each in trained:
        assert isinstance(each.outcome, Outcome)
        places = [place for place, other in enumerate(each.runs) if other is run]
        if places:
            return each.outcome.deciders[places[0]]
    raise AssertionError("every member is a run of some row")


def _differ(each: Trained) -> bool:
    """Return whether the seeds of a row gave different models."""
    assert isinstance(each.outcome, Outcome)
    first, *others = (scores.validation for scores in each.outcome.scores)
    return any(not torch.equal(first, other) for other in others)


def _numbers(scores: Tensor, y: Tensor) -> dict[str, float]:
    p = scores.double().softmax(dim=1)
    return {"accuracy": float(accuracy(p.argmax(dim=1), y)), "nll": float(nll(p, y))}


def _mean(probabilities: Sequence[Tensor]) -> Tensor:
    return torch.stack([each.double() for each in probabilities]).mean(dim=0).clamp_min(FLOOR).log().float()

"""How the rate, the decay and the epochs of all runs are chosen."""

import math
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from labelspace import Run, compare
from labelspace.comparison.plan import Plan, make_plan
from labelspace.comparison.rehearsal import rehearse
from labelspace.report.words import rehearsed_text
from labelspace.sweeps.executors import InProcess
from labelspace.training.config import Config

STEPS = 10
Y = torch.tensor([0, 1] * 50)


def trained(nll: float) -> Any:
    """Return a run that is right so often that the nll at its best temperature is this: −log p where all say p."""
    wrong = 0.5 * (1 - math.sqrt(1 - min(nll / math.log(2), 1.0) ** 2))  # any monotone function would do
    right = torch.arange(len(Y)) >= round(wrong * len(Y))
    called = torch.where(right, Y, 1 - Y)
    scores = 5.0 * torch.nn.functional.one_hot(called, 2).float()
    return SimpleNamespace(scores={"validation_scores": scores, "validation_y": Y})


class Trainings:
    """Trains nothing: says how good a choice would be."""

    def __init__(self, goodness: Any) -> None:
        self.goodness, self.asked = goodness, []

    def __call__(self, configs: Sequence[Config]) -> list[Any]:
        self.asked += [(each.learning_rate, each.weight_decay, each.epochs) for each in configs]
        assert all(each.seed == 1000 and each.method == "onehot" for each in configs)
        values = [self.goodness(each) for each in configs]
        return [None if value is None else trained(value) for value in values]


def plan(**options: Any) -> Plan:
    usual: dict[str, Any] = {"learning_rate": 1e-2, "epochs": 30, "seeds": [3, 4], "optimizer": "adamw"}
    return make_plan(**{"data": "digits", "methods": ["onehot", "uniform"], "model": "linear", **usual, **options})


def away(value: float, best: float) -> float:
    return abs(math.log(value / best)) / 10


def test_the_rate_is_searched_beyond_its_ends() -> None:
    for best, tried in ((0.01, [0.01, 0.003, 0.03]), (0.1, [0.01, 0.003, 0.03, 0.1, 0.3]), (1e-4, None)):
        trainings = Trainings(lambda config, best=best: 0.1 + away(config.learning_rate, best))
        found = rehearse(plan(), "onehot", {"weight_decay", "epochs"}, STEPS, trainings)
        asked = [rate for rate, _, _ in trainings.asked]
        assert asked == (tried or [0.01, 0.003, 0.03, 0.001, 0.0003])  # no further than two beyond
        assert found.config.learning_rate == max(best, 0.0003)
        assert [each.learning_rate for each in found.rehearsal] == asked


def test_decay_takes_a_stated_share_of_the_weights_and_fewer_epochs_only_where_they_are_better() -> None:
    trainings = Trainings(lambda config: 0.1 if config.weight_decay else 0.2)
    found = rehearse(plan(), "onehot", {"learning_rate"}, STEPS, trainings)
    # a linear schedule: the sum of the rates of all steps is 10 · 0.01 · (30 + 1) / 2 = 1.55
    assert trainings.asked == [(0.01, 0.0, 30), (0.01, 0.6, 30), (0.01, 3.0, 30), (0.01, 0.6, 10)]
    assert (found.config.weight_decay, found.config.epochs) == (0.6, 30)
    fewer = rehearse(plan(), "onehot", {"learning_rate"}, STEPS, Trainings(lambda config: config.epochs / 100))
    assert (fewer.config.weight_decay, fewer.config.epochs) == (0.0, 10)


def test_what_is_asked_for_stays_and_what_fails_is_not_chosen() -> None:
    trainings = Trainings(lambda config: None if config.learning_rate > 0.01 else 0.3)
    found = rehearse(plan(), "onehot", {"weight_decay", "epochs"}, STEPS, trainings)
    assert found.config.learning_rate == 0.01
    assert 0.03 not in [each.learning_rate for each in found.rehearsal]
    untouched = rehearse(
        plan(), "onehot", {"learning_rate", "weight_decay", "epochs"}, STEPS, Trainings(lambda _: None)
    )
    assert untouched == plan()
    assert rehearsed_text(untouched.rehearsal) == ""


def test_a_plan_with_its_rehearsal_is_a_file(tmp_path: Path) -> None:
    found = rehearse(plan(), "onehot", {"epochs"}, STEPS, Trainings(lambda config: 0.1))
    found.save(tmp_path / "plan.toml")
    assert Plan.load(tmp_path / "plan.toml") == found
    assert "rehears" not in plan().text(), "what was not done is not written"


def test_a_comparison_rehearses_once(tmp_path: Path) -> None:
    events: list[str] = []
    asked: dict[str, Any] = {
        "methods": ["uniform"],
        "model": "linear",
        "seeds": 2,
        "epochs": 3,
        "rehearse": True,
        "learning_rate": 0.02,
        "strengths": {"uniform": (0.1,)},
        "out": tmp_path,
        "executor": InProcess(),
        "report": lambda event, told: events.append(told.get("phase", event)),
    }
    found = compare("digits", **asked)
    assert [(each.learning_rate, each.epochs) for each in found.result.rehearsal] == [(0.02, 3)] * 3
    best = min(found.result.rehearsal, key=lambda each: each.nll)
    assert found.folder is not None
    runs = [Run.load(found.folder / "runs" / name) for row in found.result.rows for name in row.runs]
    assert {run.config.weight_decay for run in runs} == {best.weight_decay}
    assert events.count("rehearsal") == 3
    events.clear()
    assert compare("digits", **asked).result == found.result
    assert "rehearsal" not in events
    with pytest.raises(ValueError, match="`rehearse` of compare"):
        compare("digits", **{**asked, "rehearse": "perhaps"})

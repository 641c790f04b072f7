"""No verdict from models that learned nothing, or had not finished; and what a constant decision costs."""

from pathlib import Path

import numpy as np
import pytest
import torch

from labelspace import compare
from labelspace.comparison.learned import constant_row, doubts
from labelspace.comparison.outcome import Judge, Outcome, Scores
from labelspace.comparison.result import Comparison
from labelspace.comparison.rows import Judged, make_row
from labelspace.sweeps.executors import InProcess

SETTINGS = {"methods": ["uniform"], "strengths": {"uniform": [0.1]}, "model": "linear", "seeds": 2, "cost": "squared"}


def asked(out: Path, data: object = "digits", **options: object) -> Comparison:
    return compare(data, out=out, executor=InProcess(), **{**SETTINGS, **options})  # type: ignore[arg-type]


def test_a_constant_is_the_most_frequent_class_and_the_one_of_least_cost() -> None:
    prices = np.array([[0, 1, 9], [1, 0, 4], [30, 2, 0]], dtype=float)
    train, test = np.array([0] * 5 + [1] * 3 + [2] * 2), np.array([0, 0, 1, 2, 2, 2])
    scores = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    like = Outcome(
        [Scores(scores, torch.tensor(test), scores, torch.tensor(test))] * 2, Judge(torch.tensor(prices), True)
    )
    row = constant_row(torch.tensor(train), like)
    cheapest = prices[train].mean(axis=0).argmin()  # 0 costs 6.3 per sample, 1 costs 0.9, 2 costs 5.7
    assert (row.options, cheapest) == ({"argmax": "0", "min_cost": "1"}, 1)
    assert row.argmax.cost == pytest.approx(prices[test, 0].mean())
    assert row.min_cost is not None
    assert row.min_cost.cost == pytest.approx(prices[test, cheapest].mean())
    assert row.min_cost.accuracy == pytest.approx((test == cheapest).mean())
    assert row.costs.shape == (2, 6)


def test_a_class_that_training_never_shows_leaves_it_finite() -> None:
    scores, y = torch.zeros(2, 3), torch.tensor([0, 1])
    like = Outcome([Scores(scores, y, scores, y)], Judge(1 - torch.eye(3, dtype=torch.float64), False))
    row = constant_row(torch.tensor([1, 1, -1]), like)
    assert (row.argmax.cost, row.options) == (0.5, {"argmax": "1"})


def test_the_constant_is_a_line_of_the_table_that_nobody_takes_home(tmp_path: Path) -> None:
    result = asked(tmp_path, epochs=12)
    assert {row.role for row in result.rows} == {"reference", "method", "ensemble"}
    assert result.result.constant is not None
    assert result.result.constant.headline.cost > 2 * result.rows[0].headline.cost
    assert result.recommendation is not None
    assert result.recommendation.label != "constant"
    assert "constant" in result.table()
    assert not result.verdict.sentences[0].startswith(("One-hot labels taught", "Training", "One short"))
    assert asked(tmp_path, epochs=12).result == result.result  # which is found again, not judged anew
    assert "constant" in result.save_html().read_text()


def test_one_epoch_gives_no_verdict(tmp_path: Path) -> None:
    verdict = asked(tmp_path, epochs=1).verdict
    assert verdict.kind == "undecided"
    assert verdict.sentences[0].startswith("One short epoch does not show whether training had come to its end.")


def test_training_that_still_goes_on_gives_no_verdict(tmp_path: Path) -> None:
    verdict = asked(tmp_path, epochs=4, learning_rate=1e-3, schedule="constant").verdict
    assert verdict.kind == "undecided"
    assert "last quarter of the epochs the validation loss of onehot still fell by" in verdict.sentences[0]


def test_a_rate_that_learns_nothing_gives_no_verdict(tmp_path: Path) -> None:
    verdict = asked(tmp_path, epochs=6, learning_rate=1.0, model="mlp-32-2").verdict
    assert verdict.kind == "undecided"
    assert verdict.sentences[0].startswith("One-hot labels taught nothing: they cost")


def test_random_labels_learned_by_heart_give_no_verdict(tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(0)
    samples, labels = torch.randn(400, 30, generator=generator), torch.randint(4, (400,), generator=generator)
    result = asked(tmp_path, (samples, labels), epochs=40, model="mlp-256", learning_rate=0.01)
    assert result.verdict.kind == "undecided"
    assert result.verdict.sentences[0].startswith(
        "One-hot labels taught nothing but the training samples by heart (loss"
    )
    assert result.verdict.cause is None


def test_what_few_samples_cannot_tell_from_a_constant_is_not_called_nothing() -> None:
    def row(cost: list[float], label: str) -> Judged:
        y = torch.zeros(len(cost), dtype=torch.int64)
        scores = torch.tensor([[1.0, 0.0]]).expand(len(cost), -1)
        judge = Judge(1 - torch.eye(2, dtype=torch.float64), False)
        made = make_row(Outcome([Scores(scores, y, scores, y)], judge), label=label, method="onehot", role="reference")
        return made.model_copy(update={"costs": torch.tensor([cost], dtype=torch.float64)})

    few = row([0.0, 1.0, 0.0, 0.0], "one-hot"), row([1.0, 0.0, 1.0, 1.0], "constant")
    said = doubts(*few, [], 100, None, 0.95)
    assert said is not None
    assert "these samples cannot tell the one from the other" in said
    many = row([0.0, 1.0, 0.0, 0.0] * 50, "one-hot"), row([1.0, 0.0, 1.0, 1.0] * 50, "constant")
    assert doubts(*many, [], 100, None, 0.95) is None

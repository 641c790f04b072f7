"""How classifiers are judged: what is known of them, and what is left beside the result."""

from pathlib import Path

import torch

from labelspace import LabelSpace
from labelspace.comparison import Comparison
from labelspace.comparison.classified import Classified, scores_of
from labelspace.comparison.plan import Plan
from labelspace.serving.predictions import ready
from labelspace.training.build import prepare
from labelspace.training.run import Run


def test_what_is_known_is_said_and_kept(finished: Comparison) -> None:
    assert finished.folder is not None
    plan = Plan.load(finished.folder / "plan.toml")
    judging = Classified.of(plan, prepare(plan.config), None, None)
    assert judging.headline == f"cost: {finished.result.cost.words}"
    assert (judging.prices, judging.known, judging.rule) == (
        finished.result.cost,
        finished.result.space,
        finished.result.decision,
    )
    assert judging.space is not None
    kept = LabelSpace.load(finished.folder / "space.safetensors")
    torch.testing.assert_close(kept.matrix, judging.space.matrix)


def test_the_best_model_decides_as_it_was_judged(finished: Comparison) -> None:
    assert finished.folder is not None
    assert finished.recommendation is not None
    run, decision = ready(finished.folder / "best")
    assert decision.rule == finished.recommendation.rule
    row = next(row for row in finished.result.rows if row.label == finished.recommendation.label)
    chosen = [Run.load(Path(finished.folder) / "runs" / name) for name in row.runs]
    assert len(chosen) == 2, "all models of the cheapest row"
    by = [member.deciding for member in run.members]
    said = [how.probabilities(one.scores["test_scores"]) for how, one in zip(by, chosen, strict=True)]
    torch.testing.assert_close(scores_of(run).test.softmax(dim=1), torch.stack(said).mean(dim=0))

"""The curves of a report against plain loops."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

import labelspace
from labelspace.report.confusions import mistakes
from labelspace.report.document import Room
from labelspace.report.measures import decision_of, learning_curves, measured, validation_confusion
from labelspace.report.reading import Drawn, Material, StoredRun, read_runs
from labelspace.report.whatif import what_if
from labelspace.space import LabelSpace
from labelspace.spec.actions import given, limited
from report.folders import write_run
from signing import signed_again

SPACE = labelspace.ordinal(4)
PRICES = torch.tensor([[0.0, 1, 4, 9], [1, 0, 1, 4], [4, 1, 0, 1], [9, 4, 1, 0]])


def material(folder: Path, rule: str) -> Material:
    runs = [StoredRun(write_run(folder / f"a{seed}", "onehot", seed, SPACE, 1.0, 80)) for seed in range(2)]
    row = Drawn("one-hot", "reference", tuple(runs), (2.0, 0.5))
    cost = LabelSpace(SPACE.names, PRICES, "cost") if rule == "min_cost" else None
    return Material(SPACE.names, (row,), rule, cost)


def probabilities(found: Material) -> list[tuple[np.ndarray, np.ndarray]]:
    parts = []
    for run, temperature in zip(found.rows[0].runs, found.rows[0].temperatures, strict=True):
        scores = run.scores()["test_scores"].double().numpy() / temperature
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))
        parts.append((raised / raised.sum(axis=1, keepdims=True), run.scores()["test_y"].numpy()))
    return parts


def test_confusion_and_risk_under_minimum_cost(tmp_path: Path) -> None:
    found = material(tmp_path, "min_cost")
    counts, curves = np.zeros((4, 4)), []
    for shares, y in probabilities(found):
        expected = shares @ PRICES.double().numpy()
        decided = expected.argmin(axis=1)
        np.add.at(counts, (y, decided), 0.5)
        order = np.argsort(expected.min(axis=1), kind="stable")
        paid = PRICES.double().numpy()[y, decided][order]
        curves.append(np.cumsum(paid) / np.arange(1, len(y) + 1))
    part = measured(found, found.rows[0])
    assert part is not None
    torch.testing.assert_close(part.confusion, torch.from_numpy(counts))
    # 80 samples at 60 coverages: every fourth third of them, and all of them at the end
    assert part.risk["coverage"][-1] == 1
    assert part.risk["risk"][-1] == float(f"{np.mean([curve[-1] for curve in curves]):.4g}")
    assert part.risk["risk"][29] == float(f"{np.mean([curve[39] for curve in curves]):.4g}")


def test_reliability_adds_up_over_seeds(tmp_path: Path) -> None:
    found = material(tmp_path, "argmax")
    part = measured(found, found.rows[0])
    assert part is not None
    shares = np.concatenate([shares for shares, _ in probabilities(found)])
    y = np.concatenate([y for _, y in probabilities(found)])
    sure, right = shares.max(axis=1), shares.argmax(axis=1) == y
    place = np.ceil(sure * 15) - 1
    bins = [place == number for number in range(15) if (place == number).any()]
    np.testing.assert_allclose(part.reliability["confidence"], [sure[chosen].mean() for chosen in bins], rtol=1e-3)
    np.testing.assert_allclose(part.reliability["accuracy"], [right[chosen].mean() for chosen in bins], rtol=1e-3)
    np.testing.assert_allclose(sum(part.reliability["share"]), 1, rtol=1e-2)
    assert part.risk["risk"][-1] == float(f"{1 - right.mean():.4g}")


def test_validation_confusion_counts_every_sample(tmp_path: Path) -> None:
    found = material(tmp_path, "min_cost")
    run = found.rows[0].runs[0]
    counts = validation_confusion(run, decision_of(found, found.rows[0], run, None, None))
    assert counts is not None
    y = found.rows[0].runs[0].scores()["validation_y"]
    torch.testing.assert_close(counts.sum(dim=1), torch.bincount(y, minlength=4).double())
    shares = mistakes(counts)
    assert bool(shares.diagonal().isnan().all())


def test_what_is_fitted_at_once_has_no_curve(tmp_path: Path) -> None:
    found = material(tmp_path, "argmax")
    both = replace(found, rows=(found.rows[0], replace(found.rows[0], label="SVC", role="rival")))
    curves = learning_curves(both, Room(0))
    assert curves is not None
    assert [row["label"] for row in curves["rows"]] == ["one-hot"]


def test_seeds_that_stopped_early_leave_the_mean_of_the_others(tmp_path: Path) -> None:
    for seed in range(2):
        write_run(tmp_path / f"a{seed}", "onehot", seed, SPACE, 1.0, 20)
    lines = (tmp_path / "a1" / "epochs.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "a1" / "epochs.jsonl").write_text("".join(lines[:5]))
    signed_again(tmp_path / "a1")
    curves = learning_curves(read_runs([tmp_path]), Room(0))
    assert curves is not None
    row = curves["rows"][0]
    full, short = row["seeds"]["train_loss"]
    assert len(full) == len(row["epochs"]) == 20
    assert short[5:] == [None] * 15
    assert row["mean"]["train_loss"][10] == full[10]
    assert abs(row["mean"]["train_loss"][2] - (full[2] + short[2]) / 2) < 1e-3
    assert [measure["key"] for measure in curves["measures"]] == ["validation_accuracy", "validation_nll", "train_loss"]


def test_samples_about_which_something_else_is_done_are_not_confused(tmp_path: Path) -> None:
    found = material(tmp_path, "min_cost")
    table = torch.cat([PRICES, torch.full((4, 1), 0.2)], dim=1)
    acting = replace(found, cost=limited(given(table, SPACE.names, [*SPACE.names, "ask"]), {"ask": 0.3}))
    part = measured(acting, acting.rows[0])
    plain = measured(found, found.rows[0])
    assert part is not None
    assert plain is not None
    assert 0 < float(part.confusion.sum()) < float(plain.confusion.sum()) == 80
    run, row = acting.rows[0].runs[0], acting.rows[0]
    decision = decision_of(acting, row, run, 2.0, None)
    asked = decision.decide(run.scores()["validation_scores"]).actions == 4
    assert 0 < float(asked.double().mean()) <= 0.3, "as the comparison kept it"
    counts = validation_confusion(run, decision)
    assert counts is not None
    assert float(counts.sum()) == len(asked) - int(asked.sum())
    assert what_if(acting, Room(10**9)) is None

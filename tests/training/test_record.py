"""The test curve: recorded when asked for, used for nothing."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from labelspace import data
from labelspace.decisions.decision import Decision
from labelspace.metrics import accuracy_curve_area
from labelspace.serving.take_home import take_home
from labelspace.sweeps.executors import InProcess
from labelspace.sweeps.grid import grid, sweep
from labelspace.training.run import Run, train

SHORT: dict[str, Any] = {"model": "mlp-16", "epochs": 4, "limit": 200, "batch_size": 64, "learning_rate": 0.02}


def without_test(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in line.items() if not name.startswith("test_")} for line in lines]


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("onehot", {"best_by": "nll", "patience": 2}),
        ("lwal", {}),
        ("ols", {"best_by": "error"}),
        ("disturb", {"augment": ["mixup"]}),
        ("lwr", {}),
    ],
)
def test_recording_changes_nothing_else(method: str, options: dict[str, Any]) -> None:
    plain = train("digits", method=method, **SHORT, **options)
    recorded = train("digits", method=method, record=("test-curve",), **SHORT, **options)
    torch.testing.assert_close(recorded.weights, plain.weights, rtol=0, atol=0)
    torch.testing.assert_close(recorded.scores, plain.scores, rtol=0, atol=0)
    assert without_test(recorded.epochs) == plain.epochs
    assert {**recorded.result, "key": ""} == {**plain.result, "key": ""}
    assert recorded.config.key() != plain.config.key(), "a folder that was read must hold what was asked for"
    assert plain.times == []


def test_the_curve_is_what_shorter_runs_reach() -> None:
    run = train("digits", method="lwal", record="test-curve", **SHORT)
    reached = [train("digits", method="lwal", **{**SHORT, "epochs": epoch}).result["test"] for epoch in range(1, 5)]
    assert run.test_curve == [each["accuracy"] for each in reached]
    assert [line["test_nll"] for line in run.epochs] == [each["nll"] for each in reached]
    assert accuracy_curve_area(run.test_curve) == pytest.approx(sum(run.test_curve) / 4)


@pytest.mark.parametrize("options", [{"best_by": "error"}, {"best_by": "nll", "patience": 1}])
def test_no_choice_looks_at_test_data(options: dict[str, Any]) -> None:
    digits = data.load("digits")
    wrong = dataclasses.replace(digits, test=dataclasses.replace(digits.test, y=9 - digits.test.y))
    rough = {**SHORT, "learning_rate": 0.3, "epochs": 8}
    honest, misled = (train(each, record="test-curve", **rough, **options) for each in (digits, wrong))
    assert honest.test_curve != misled.test_curve
    assert honest.result["best_epoch"] == misled.result["best_epoch"]
    assert without_test(honest.epochs) == without_test(misled.epochs)
    torch.testing.assert_close(honest.weights, misled.weights, rtol=0, atol=0)


def test_times_are_kept_beside_what_is_compared(tmp_path: Path) -> None:
    run = train("digits", record="test-curve", out=tmp_path, **SHORT)
    assert run.folder is not None
    assert [line["epoch"] for line in run.times] == [0, 1, 2, 3]
    assert all(line["train_seconds"] > 0 and line["evaluation_seconds"] > 0 for line in run.times)
    loaded = Run.load(run.folder)
    assert loaded.times == run.times
    assert loaded.test_curve == run.test_curve
    files = json.loads((run.folder / "result.json").read_text())["files"]
    assert "times.jsonl" not in files
    assert "seconds" not in (run.folder / "epochs.jsonl").read_text()
    (run.folder / "times.jsonl").unlink()
    assert Run.load(run.folder).times == [], "a run without its times is still a run"


def test_times_of_a_stopped_run_are_those_of_all_its_epochs(tmp_path: Path) -> None:
    def stop(event: str, numbers: dict[str, Any]) -> None:
        if event == "epoch" and numbers["epoch"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("digits", record="test-curve", out=tmp_path, checkpoint_seconds=0.0, report=stop, **SHORT)
    run = train("digits", record="test-curve", out=tmp_path, **SHORT)
    assert [line["epoch"] for line in run.times] == [0, 1, 2, 3]
    # the third epoch was resumed after its last step, and its steps had taken their time before
    assert all(line["train_seconds"] > 0 for line in run.times)
    assert len(run.test_curve) == 4


def test_a_run_to_take_home_brings_its_times(tmp_path: Path) -> None:
    run = train("digits", record="test-curve", out=tmp_path, **SHORT)
    decision = Decision("argmax", 1.0, None, run.preprocessing["names"])
    assert Run.load(take_home(run, decision, tmp_path / "best")).times == run.times


def test_a_curve_that_was_not_recorded_is_said(tmp_path: Path) -> None:
    run = train("digits", **SHORT)
    with pytest.raises(
        ValueError, match=r"`record` of train must be 'test-curve' for a test curve. Got \[\].*--record"
    ):
        _ = run.test_curve
    with pytest.raises(ValueError, match="`record` of train must be 'test-curve'. Got 'train-curve'"):
        train("digits", record=["train-curve"], **SHORT)


def test_runs_of_a_sweep_record_too(tmp_path: Path) -> None:
    configs = grid({**SHORT, "model": "linear", "data": "digits", "record": ["test-curve"]}, seed=range(5))
    runs = sweep(configs, tmp_path, executor=InProcess())
    assert [run.config.path for run in runs] == ["loop"] * 5, "time belongs to one run"
    assert all(len(run.test_curve) == len(run.times) == 4 for run in runs)

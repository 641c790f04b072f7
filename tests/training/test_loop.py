"""Which epoch is kept, how the rate falls, and SGD without momentum; each alone, together and after a stop."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from labelspace import data
from labelspace.decisions import Temperature
from labelspace.sweeps.members import eligible, train_together
from labelspace.training.build import Job, prepare
from labelspace.training.config import Config, make_config
from labelspace.training.optimizer import learning_rate, make_optimizer
from labelspace.training.run import Run, train, train_job

# found by trying: the least error is in epoch 6, the least nll in epoch 2, and neither is the last
ROUGH: dict[str, Any] = {
    "model": "mlp-16",
    "epochs": 12,
    "limit": 150,
    "batch_size": 32,
    "optimizer": "sgd",
    "learning_rate": 0.3,
}
FILES = ("model.safetensors", "scores.safetensors", "label_space.safetensors", "epochs.jsonl", "result.json")


def first_least(run: Run, best_by: str) -> int:
    errors = [1 - line["validation_accuracy"] for line in run.epochs]
    losses = [line["validation_nll"] for line in run.epochs]
    return int(np.argmin(errors if best_by == "error" else losses))  # numpy takes the first of equals


def assert_same(left: Run, right: Run) -> None:
    torch.testing.assert_close(left.weights, right.weights, rtol=0, atol=0)
    torch.testing.assert_close(left.scores, right.scores, rtol=0, atol=0)


def test_the_last_epoch_is_kept_unless_asked() -> None:
    run = train("digits", **ROUGH)
    assert run.config.best_by == "last"
    assert run.result["best_epoch"] == 11
    assert run.result["validation"]["nll"] == run.epochs[-1]["validation_nll"]


@pytest.mark.parametrize(("best_by", "epoch"), [("error", 6), ("nll", 2)])
def test_the_best_epoch_is_that_of_a_run_that_ended_there(best_by: str, epoch: int) -> None:
    run = train("digits", best_by=best_by, **ROUGH)
    assert len(run.epochs) == 12, "without patience all epochs are trained"
    assert run.result["best_epoch"] == first_least(run, best_by) == epoch
    assert_same(run, train("digits", **{**ROUGH, "epochs": epoch + 1}))


def test_the_best_epoch_at_its_best_temperature_is_kept_alone_and_in_a_group() -> None:
    least = []
    for epochs in range(1, 13):  # the rate is constant, so that a shorter run is the beginning of a longer one
        scores = train("digits", **{**ROUGH, "epochs": epochs}).scores
        tau = Temperature().fit(scores["validation_scores"], scores["validation_y"]).value
        least.append(cross_entropy(scores["validation_scores"].double() / tau, scores["validation_y"]).item())
    run = train("digits", best_by="calibrated", **ROUGH)
    assert run.result["best_epoch"] == int(np.argmin(least)) != first_least(run, "nll")
    assert set(run.result["validation"]) == {"accuracy", "nll"}, "no temperature is fitted to what is reported"
    config = make_config(data="digits", best_by="calibrated", **ROUGH)
    jobs = [prepare(config.model_copy(update={"seed": seed})) for seed in range(4)]
    assert train_together(jobs)[0].result["best_epoch"] == run.result["best_epoch"]  # type: ignore[union-attr]


def test_of_equally_good_epochs_the_first_is_kept() -> None:
    run = train("digits", best_by="error", **{**ROUGH, "optimizer": "adam", "learning_rate": 0.1})
    errors = [1 - line["validation_accuracy"] for line in run.epochs]
    assert errors.count(min(errors)) > 1
    assert run.result["best_epoch"] == errors.index(min(errors))


def test_patience_waits_for_what_is_asked() -> None:
    whole = train("digits", **ROUGH)
    ends = {}
    for best_by in ("nll", "error"):
        run = train("digits", patience=4, best_by=best_by, **ROUGH)
        values = [line["validation_nll"] for line in whole.epochs]
        if best_by == "error":
            values = [1 - line["validation_accuracy"] for line in whole.epochs]
        # four epochs in a row that are no better than the best of those before them
        waited = [all(value >= min(values[: end - 4]) for value in values[end - 4 : end]) for end in range(5, 13)]
        ends[best_by] = 5 + waited.index(True) if any(waited) else 12
        assert len(run.epochs) == ends[best_by]
        assert run.result["best_epoch"] == int(np.argmin(values[: ends[best_by]]))
    assert ends["nll"] != ends["error"]
    default = train("digits", patience=4, **ROUGH)
    assert len(default.epochs) == ends["nll"], "by nll, as it always was"


def test_the_choice_is_part_of_the_key() -> None:
    keys = {make_config(best_by=each).key() for each in ("last", "nll", "error")}
    assert len(keys) == 3
    assert make_config(best_by=None).key() == make_config().key() == make_config(best_by="last").key()
    assert make_config(patience=2).key() == make_config(patience=2, best_by="nll").key()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"best_by": "loss"}, "`best_by` of train must be 'last', 'nll', 'calibrated' or 'error'. Got 'loss'"),
        (
            {"best_by": "last", "patience": 2},
            "`best_by` of train must be 'nll', 'calibrated' or 'error' with patience.*Got 'last'",
        ),
        ({"schedule": "exponential"}, "`gamma` of train must be given for schedule='exponential'.*Got nothing"),
        ({"schedule": "step"}, "`milestones` of train must be given for schedule='step'.*Got nothing"),
        ({"schedule": "exponential", "gamma": 0}, "`gamma` of train must be greater than 0. Got 0"),
        ({"momentum": 1.0}, "`momentum` of train must be less than 1. Got 1.0"),
        ({"milestones": ["a"]}, "`milestones` of train must be a valid integer.*Got 'a'"),
    ],
)
def test_bad_choices(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        make_config(**options)


@pytest.mark.parametrize(("options", "name"), [({"best_by": "error"}, "best_by"), ({"patience": 2}, "patience")])
def test_without_validation_samples_there_is_nothing_to_choose_by(options: dict[str, Any], name: str) -> None:
    digits = data.load("digits")
    nothing = replace(digits.validation, x=digits.validation.x[:0], y=digits.validation.y[:0])
    with pytest.raises(
        ValueError, match=f"`{name}` of train must be given with a validation part. Got .* with no validation samples"
    ):
        train(replace(digits, validation=nothing), **ROUGH, **options)


def test_exponential_decay() -> None:
    config = Config(schedule="exponential", gamma=0.5, learning_rate=0.8, warmup_epochs=2)
    assert [learning_rate(config, epoch) for epoch in range(5)] == pytest.approx([0.4, 0.4, 0.2, 0.1, 0.05])
    again = make_config(**config.model_dump(mode="json"))
    assert again == config
    run = train("digits", schedule="exponential", gamma=0.9, **{**ROUGH, "epochs": 3})
    # torch's own scheduler
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for line in run.epochs:
        assert line["learning_rate"] == pytest.approx(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()


def test_sgd_without_momentum_is_the_plain_rule() -> None:
    value = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    optimizer = make_optimizer(Config(optimizer="sgd", momentum=0, learning_rate=0.1), [{"params": [value]}])
    for gradient in ([1.0, 2.0], [3.0, -1.0]):
        value.grad = torch.tensor(gradient)
        optimizer.step()
    torch.testing.assert_close(value.detach(), torch.tensor([1 - 0.1 * 4.0, -2 - 0.1 * 1.0]))
    assert not any(state.get("momentum_buffer") is not None for state in optimizer.state.values())


OPTIONS: list[dict[str, Any]] = [
    {"best_by": "error"},
    {"best_by": "nll", "schedule": "exponential", "gamma": 0.8},
    {"momentum": 0, "schedule": "exponential", "gamma": 0.9},
    {"augment": ["rotate:15", "resized-crop:0.5", "flip"], "best_by": "error", "patience": 4},
    {"record": "test-curve", "best_by": "nll"},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_stopped_run_ends_bit_identical(options: dict[str, Any], tmp_path: Path) -> None:
    whole = train("digits", out=tmp_path / "whole", **{**ROUGH, **options})
    for stop in (0, 4):  # before, or after the best epoch of one of the choices
        with pytest.raises(KeyboardInterrupt):
            train(
                "digits",
                out=tmp_path / "stopped",
                checkpoint_seconds=0.0,
                report=stopping(stop),
                **{**ROUGH, **options},
            )
    events: list[str] = []
    resumed = train(
        "digits", out=tmp_path / "stopped", report=lambda event, _: events.append(event), **{**ROUGH, **options}
    )
    assert "resumed" in events
    assert resumed.folder is not None
    assert whole.folder is not None
    for name in FILES:
        assert (resumed.folder / name).read_bytes() == (whole.folder / name).read_bytes(), name


def stopping(epoch: int) -> Any:
    def report(event: str, numbers: dict[str, Any]) -> None:
        if event == "epoch" and numbers["epoch"] == epoch:
            raise KeyboardInterrupt

    return report


def make_jobs(**options: Any) -> list[Job]:
    digits = data.load("digits")
    shared = {**ROUGH, "method": "uniform", **options}
    strengths = ({"smoothing": 0.0}, {"smoothing": 0.2})
    return [
        prepare(make_config(**shared, method_options=each, seed=seed), digits)
        for each in strengths
        for seed in range(2)
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"best_by": "error"},
        {"best_by": "nll"},
        {"momentum": 0, "best_by": "error"},
        {"schedule": "exponential", "gamma": 0.8},
    ],
)
def test_training_together_keeps_each_members_own_epoch(options: dict[str, Any]) -> None:
    jobs = make_jobs(precision="float64", **options)
    kept = set()
    for job, run in zip(jobs, train_together(jobs), strict=True):
        assert isinstance(run, Run), run
        alone = train_job(job)
        assert run.result["best_epoch"] == alone.result["best_epoch"]
        assert run.result["validation"] == pytest.approx(alone.result["validation"])
        torch.testing.assert_close(run.weights, alone.weights, rtol=1e-8, atol=1e-8)
        torch.testing.assert_close(run.scores, alone.scores, rtol=1e-8, atol=1e-8)
        kept.add(run.result["best_epoch"])
    assert ("best_by" in options) == (len(kept) > 1)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"record": "test-curve"}, "record: an epoch of one member has no time of its own"),
        ({"patience": 2}, "patience: members would end at different epochs"),
        ({"augment": ["rotate"]}, "augment: every member has its own draws"),
        ({"clip": 1.0}, "clip: every member has its own gradient norm"),
    ],
)
def test_what_cannot_train_together_is_said(options: dict[str, Any], reason: str) -> None:
    jobs = make_jobs(**options)
    assert not eligible(jobs[0].config)
    with pytest.raises(ValueError, match=f"`jobs` of train_together must be eligible, all of them. Got {reason}"):
        train_together(jobs)

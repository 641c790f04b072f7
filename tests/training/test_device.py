"""The device of a run: part of its key, checked before anything is written, and of no matter to what it leaves."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from labelspace import Run, _devices, compare, train
from labelspace.serving import predictions
from labelspace.sweeps.executors import InProcess
from labelspace.sweeps.grid import Failure, grid, outcomes
from labelspace.sweeps.members import obstacle, partition
from labelspace.training import loop
from labelspace.training.config import FORMAT, Config, make_config

SMALL: dict[str, Any] = {"model": "mlp-8", "epochs": 2, "limit": 80}
NOT_HERE = r"`device` of \w+ must be one of the devices of this machine: cpu\. Got 'cuda(:\d)?'"
here = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")


def test_the_key_of_a_cpu_is_what_it_was_before_there_were_others() -> None:
    content = Config().model_dump(mode="json", exclude={"seed", "option_keys", "code_key", "device", "beam"})
    content["optimiser"] = content.pop("optimizer")  # as it was spelt
    text = json.dumps({"format": FORMAT, "torch": torch.__version__, **content}, sort_keys=True)
    assert Config().key() == hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    keys = {device: Config(device=device).key() for device in ("cpu", "cuda", "cuda:1", "mps")}
    assert len(set(keys.values())) == 4
    assert keys["cpu"] == Config().key()


def test_auto_is_resolved_before_the_key(tmp_path: Path) -> None:
    run = train("digits", **SMALL, device="auto", out=tmp_path)
    assert run.config.device == _devices.resolved("train", "auto")
    if run.config.device == "cpu":
        assert train("digits", **SMALL).config.run_name() == run.config.run_name()


def test_a_torch_device_is_a_name() -> None:
    assert make_config(device=torch.device("cuda", 1)).device == "cuda:1"
    with pytest.raises(ValueError, match="`device` of train must be auto, cpu, cuda, cuda:1 or mps. Got 'gpu'"):
        make_config(device="gpu")


@here
def test_a_device_that_is_not_there_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=NOT_HERE):
        train("digits", **SMALL, device="cuda", out=tmp_path / "runs")
    with pytest.raises(ValueError, match=NOT_HERE):
        compare("digits", methods=["uniform"], epochs=1, device="cuda:1", out=tmp_path / "runs")
    assert list(tmp_path.iterdir()) == []


@here
def test_a_sweep_says_what_is_not_there(tmp_path: Path) -> None:
    configs = grid({"data": "digits", **SMALL, "device": "cuda"}, seed=range(4))
    found = outcomes(configs, tmp_path, executor=InProcess())
    assert all(isinstance(each, Failure) and "devices of this machine: cpu" in each.reason for each in found)
    assert not list(tmp_path.glob("*/config.json"))


def test_a_sweep_on_auto_is_one_of_the_device(tmp_path: Path) -> None:
    configs = grid({"data": "digits", **SMALL, "device": "auto"}, seed=range(4))
    runs = [each for each in outcomes(configs, tmp_path, executor=InProcess()) if isinstance(each, Run)]
    assert {run.config.device for run in runs} == {_devices.resolved("train", "auto")}
    assert len(runs) == 4


def test_float16_needs_cuda() -> None:
    with pytest.raises(ValueError, match="`precision` of train must be 'float32' or 'bfloat16' on cpu. Got 'float16'"):
        train("digits", **SMALL, precision="float16")


def test_members_are_stacked_on_the_cpu_only() -> None:
    configs = [Config(model="linear", device="cuda", seed=seed) for seed in range(8)]
    assert obstacle(configs[0]) == "device: members are stacked on the CPU only"
    assert partition(configs) == [[number] for number in range(8)]


def test_a_run_of_a_gpu_is_read_and_asked_where_there_is_none(tmp_path: Path) -> None:
    run = train("digits", **SMALL, out=tmp_path)
    elsewhere = replace(run, config=run.config.model_copy(update={"device": "cuda:3", "precision": "float16"}))
    x = torch.zeros(2, 1, 8, 8, dtype=torch.uint8)
    assert_close(elsewhere.scores_of(x), run.scores_of(x))
    assert_close(elsewhere.predict(x, device="auto"), run.predict(x))


@here
def test_asking_on_a_device_that_is_not_there(tmp_path: Path) -> None:
    run = train("digits", **SMALL, out=tmp_path)
    x = torch.zeros(2, 1, 8, 8, dtype=torch.uint8)
    for ask in (run.predict, run.scores_of, run.features):
        with pytest.raises(ValueError, match=NOT_HERE):
            ask(x, device="cuda")
    assert run.folder is not None
    with pytest.raises(ValueError, match=NOT_HERE):
        next(predictions.predictions(predictions.ready(run.folder), ["a.png"], predictions.Tally(), device="cuda"))


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw"])
def test_scaled_gradients_take_the_same_steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, optimizer: str) -> None:
    # scaling is by powers of two; a CPU scales too if nobody refuses it, and computes in float32
    options = {**SMALL, "optimizer": optimizer, "clip": 0.5, "head_l2": 0.01, "learning_rate": 0.01, "epochs": 3}
    expected = train("digits", **options)
    monkeypatch.setattr(_devices, "check_precision", lambda *arguments: None)
    scaled = train("digits", **options, precision="float16")
    assert_close(scaled.scores["test_scores"], expected.scores["test_scores"], rtol=1e-3, atol=1e-4)

    step, steps = loop.Loop._step, iter(range(100))

    def stopped(self: loop.Loop, *arguments: Any) -> None:
        if next(steps) == 2:
            raise KeyboardInterrupt
        assert self.scaler.is_enabled()
        step(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(loop.Loop, "_step", stopped)
        with pytest.raises(KeyboardInterrupt):
            train("digits", **options, precision="float16", out=tmp_path, checkpoint_seconds=0)
    resumed = train("digits", **options, precision="float16", out=tmp_path)
    assert_close(resumed.scores["test_scores"], scaled.scores["test_scores"], rtol=0, atol=0)

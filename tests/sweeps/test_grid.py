"""Sweeps: each run once, through every executor, and past the death of a worker."""

import os
import signal
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from labelspace.sweeps.executors import InProcess, Processes, RayTasks, Slurm
from labelspace.sweeps.grid import SweepError, grid, sweep
from labelspace.training.build import prepare
from labelspace.training.run import Run

BASE: dict[str, Any] = {"data": "digits", "model": "mlp-16", "epochs": 2, "limit": 200, "augment": ["crop:1"]}


def weights(runs: list[Run]) -> list[torch.Tensor]:
    return [run.weights["model.head.weight"] for run in runs]


def same(left: list[Run], right: list[Run]) -> bool:
    return all(torch.equal(one, two) for one, two in zip(weights(left), weights(right), strict=True))


def test_processes_give_what_this_process_gives(tmp_path: Path) -> None:
    configs = grid(BASE, method=["onehot", "lls"], seed=[0, 1])
    here = sweep(configs, tmp_path / "here", executor=InProcess())
    there = sweep(configs, tmp_path / "there", executor=Processes(workers=2))
    assert same(here, there)
    assert [(run.config.method, run.config.seed) for run in there] == [
        ("onehot", 0),
        ("onehot", 1),
        ("lls", 0),
        ("lls", 1),
    ]
    assert {path.name for path in (tmp_path / "there").iterdir()} == {run.folder.name for run in there if run.folder}


def test_what_is_finished_is_not_computed_again(tmp_path: Path) -> None:
    configs = grid(BASE, seed=[0, 1])
    first = sweep(configs[:1], tmp_path, executor=InProcess())
    assert first[0].folder is not None
    stamp = (first[0].folder / "result.json").stat().st_mtime_ns
    sweep(configs, tmp_path, executor=InProcess())
    assert (first[0].folder / "result.json").stat().st_mtime_ns == stamp


@pytest.mark.filterwarnings("default")
def test_what_workers_are_warned_of_is_said_once_here(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    configs = grid({**BASE, "method": "lwal", "batch_size": 16, "epochs": 1}, seed=[0, 1])
    with pytest.warns(UserWarning, match="AdaptiveLabels sees fewer than 2 samples") as caught:
        sweep(configs, tmp_path, executor=Processes(workers=1))
    assert len(caught) == 1
    assert "UserWarning" not in capfd.readouterr().err


def test_what_was_said_of_the_data_is_not_said_by_workers_again(tmp_path: Path) -> None:
    rows = [(n % 7, n % 3, "ab"[n % 2]) for n in range(40)]
    for part in ("train", "test"):
        lines = [",".join(map(str, (a + 0.5 + n, b, c))) for n, (a, b, c) in enumerate(rows)]
        (tmp_path / f"{part}.csv").write_text("\n".join(["size,count,label", *lines]))
    configs = grid({"data": str(tmp_path), "model": "linear", "epochs": 1}, seed=[0, 1])
    with pytest.warns(UserWarning, match="40 of the 40 test samples have the same content"):
        job = prepare(configs[0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sweep(configs, tmp_path / "runs", executor=InProcess(), job=job, vectorise=False)
    assert not caught


def test_one_failed_run_does_not_end_the_others(tmp_path: Path) -> None:
    configs = grid({**BASE, "optimizer": "sgd"}, learning_rate=[1e30, 0.1])
    with pytest.raises(SweepError, match=r"1 runs failed; the finished ones are kept\.[\s\S]*The loss became"):
        sweep(configs, tmp_path, executor=InProcess())
    assert len(list(tmp_path.glob("*/result.json"))) == 1


def killing_work(task: tuple[str, int]) -> int:
    """Kill this worker the first time that the third task is met."""
    marker, number = Path(task[0]), task[1]
    if number == 2 and not marker.exists():
        marker.write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def test_a_killed_worker_is_replaced_and_its_task_done_again(tmp_path: Path) -> None:
    tasks = [(str(tmp_path / "killed"), number) for number in range(6)]
    results = dict(Processes(workers=2).run(killing_work, tasks))
    assert results == {number: number * number for number in range(6)}
    assert (tmp_path / "killed").exists()


def always_dying(task: int) -> int:
    if task == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def test_a_task_that_always_kills_its_worker_is_given_up_and_the_others_finish() -> None:
    results = dict(Processes(workers=2, retries=1).run(always_dying, list(range(6))))
    assert "its worker died 2 times" in results.pop(3).reason
    assert results == {number: number for number in (0, 1, 2, 4, 5)}


def test_slurm_executor_on_this_machine(tmp_path: Path) -> None:
    pytest.importorskip("submitit")
    configs = grid(BASE, seed=[0, 1])
    executor = Slurm(str(tmp_path / "logs"), {"timeout_min": 2}, cluster="local")
    there = sweep(configs, tmp_path / "slurm", executor=executor)
    assert same(there, sweep(configs, tmp_path / "here", executor=InProcess()))


@pytest.mark.slow
def test_ray_in_a_local_cluster(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    configs = grid(BASE, seed=[0, 1])
    try:
        there = sweep(configs, tmp_path / "ray", executor=RayTasks())
    finally:
        ray.shutdown()
    assert same(there, sweep(configs, tmp_path / "here", executor=InProcess()))

"""Runs that are there already are read once, and nothing is started for them."""

import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labelspace import Run, data
from labelspace.sweeps.executors import InProcess, Processes
from labelspace.sweeps.grid import grid, sweep
from labelspace.sweeps.present import Present

BASE: dict[str, Any] = {"data": "digits", "epochs": 1, "limit": 100}


class Counting:
    """Does every task here, from its pickle, as a worker would; and remembers how large those were."""

    workers = 1

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def run(self, work: Any, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for number, task in enumerate(tasks):
            content = pickle.dumps(task)
            self.sizes.append(len(content))
            yield number, work(pickle.loads(content))


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    found: Counter[str] = Counter()
    real = Run.of_folder.__func__  # type: ignore[attr-defined]

    def counted(cls: type[Run], stored: Any) -> Run:
        found[stored.path.name] += 1
        return real(cls, stored)  # type: ignore[no-any-return]

    monkeypatch.setattr(Run, "of_folder", classmethod(counted))
    return found


@pytest.mark.parametrize("model", ["mlp-16", "lenet"])  # together, and one by one
def test_finished_runs_need_no_worker_and_are_read_once(tmp_path: Path, loads: Counter[str], model: str) -> None:
    configs = grid(
        {**BASE, "model": model, "limit": "10%"}, method=["uniform"], seed=range(4 if model == "mlp-16" else 2)
    )
    first = sweep(configs, tmp_path, executor=InProcess())
    loads.clear()
    executor, told = Counting(), []
    again = sweep(configs, tmp_path, executor=executor, report=lambda event, numbers: told.append(numbers))
    assert executor.sizes == []
    assert [run.folder for run in again] == [run.folder for run in first]
    assert [run.result for run in again] == [run.result for run in first]
    assert loads == {run.folder.name: 1 for run in first if run.folder is not None}
    assert [numbers["done"] for numbers in told] == list(range(1, len(configs) + 1))
    assert told[0]["accuracy"] == first[0].result["test"]["accuracy"]


def test_only_what_is_missing_or_damaged_is_computed(tmp_path: Path) -> None:
    configs = grid({**BASE, "model": "lenet"}, method=["onehot"], seed=range(3))
    first = sweep(configs[:2], tmp_path, executor=InProcess())
    assert first[0].folder is not None
    (first[0].folder / "scores.safetensors").write_bytes(b"broken")
    executor = Counting()
    with pytest.warns(UserWarning, match="is damaged; the run is computed again"):
        again = sweep(configs, tmp_path, executor=executor)
    assert len(executor.sizes) == 2
    torch.testing.assert_close(again[0].scores, first[0].scores, rtol=0, atol=0)


def test_new_runs_cost_no_preparation_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep(grid({**BASE, "model": "lenet"}, method=["onehot"], seed=[0]), tmp_path, executor=InProcess())
    monkeypatch.setattr(Present, "_first", lambda *_: pytest.fail("prepared what cannot be there"))
    others = grid({**BASE, "model": "lenet"}, method=["onehot", "uniform"], seed=[1])
    sweep(others, tmp_path, executor=InProcess())


def test_other_data_are_other_runs(tmp_path: Path) -> None:
    x, y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 3
    configs = grid({"data": "given", "model": "linear", "epochs": 1})
    runs = [sweep(configs, tmp_path, dataset=(x + shift, y), executor=InProcess())[0] for shift in (0, 1, 0)]
    assert runs[0].folder == runs[2].folder != runs[1].folder


def test_data_in_memory_reach_workers_once(tmp_path: Path) -> None:
    x, y = np.random.default_rng(0).normal(size=(900, 300)), np.arange(900) % 3
    configs = grid({"data": "given", "model": "mlp-300", "epochs": 1}, method=["onehot", "uniform"], seed=[0, 1])
    dataset = data.load((x, y))
    executor = Counting()
    pickled = sweep(configs, tmp_path / "pickled", dataset=dataset, executor=executor)
    assert max(executor.sizes) < 10_000 < dataset.train.x.nbytes
    there = sweep(configs, tmp_path / "there", dataset=dataset, executor=Processes(workers=2))
    here = sweep(configs, tmp_path / "here", dataset=dataset, executor=InProcess())
    for one, *others in zip(here, there, pickled, strict=True):
        for other in others:
            assert one.folder is not None
            assert other.folder is not None
            assert one.folder.name == other.folder.name
            torch.testing.assert_close(other.weights, one.weights, rtol=0, atol=0)
            torch.testing.assert_close(other.scores, one.scores, rtol=0, atol=0)
    names = {run.folder.name for run in here if run.folder is not None}
    assert {path.name for path in (tmp_path / "there").iterdir()} == names

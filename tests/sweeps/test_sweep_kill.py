"""A sweep whose workers are killed in the middle of their runs ends with the bytes of a sweep that was left alone."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from labelspace.sweeps.executors import InProcess, Processes
from labelspace.sweeps.grid import Task, sweep
from labelspace.training.run import Run
from training.killable import configuration

METHODS = ("lwal", "ols")
KILLS = 1  # of every run
FILES = ("model.safetensors", "scores.safetensors", "label_space.safetensors", "epochs.jsonl", "result.json")


class KilledProcesses:
    """Worker processes, each killed a moment after the run in it has written some checkpoints."""

    def __init__(self, out: Path, notes: Path) -> None:
        self.out, self.notes = out, notes

    def run(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        yield from Processes(workers=2).run(partial(killed_work, str(self.out), str(self.notes), work), tasks)


def killed_work(out: str, notes: str, work: Callable[[Any], Any], task: Task) -> Any:
    """Do a task in a process that kills itself on the way, as long as the run has not been killed often enough."""
    method = task.configs[0].method
    checkpoints = list(Path(out).glob(f"{method}-*/checkpoint*.pt"))
    note(Path(notes) / f"starts-{method}", "from a checkpoint" if checkpoints else "from nothing")
    kills = Path(notes) / f"kills-{method}"
    number = len(kills.read_text().splitlines()) if kills.exists() else 0
    if number < KILLS:
        wait = random.Random(f"{method} {number}").uniform(0, 0.02)
        threading.Thread(target=kill_this_process, args=(Path(out), method, kills, wait), daemon=True).start()
    return work(task)


def kill_this_process(out: Path, method: str, kills: Path, wait: float) -> None:
    seen: set[int] = set()
    while len(seen) < 4:
        for place in out.glob(f"{method}-*/checkpoint.pt"):
            try:
                seen.add(place.stat().st_mtime_ns)
            except FileNotFoundError:  # it is being replaced
                continue
        time.sleep(0.0005)
    time.sleep(wait)
    if not list(out.glob(f"{method}-*/result.json")):
        note(kills, "killed")
        os.kill(os.getpid(), signal.SIGKILL)


def note(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())


def contents(runs: list[Run]) -> dict[str, bytes]:
    folders = [run.folder for run in runs if run.folder is not None]
    return {f"{folder.name}/{name}": (folder / name).read_bytes() for folder in folders for name in FILES}


@pytest.mark.long
@pytest.mark.timeout(600)
def test_killed_runs_resume_inside_a_sweep(tmp_path: Path) -> None:
    configs = [configuration(method).model_copy(update={"epochs": 20, "patience": None}) for method in METHODS]
    out = tmp_path / "killed"
    executor = KilledProcesses(out, tmp_path)
    killed = sweep(configs, out, executor=executor, checkpoint_seconds=0.0, vectorise=False)
    for method in METHODS:
        assert (tmp_path / f"kills-{method}").read_text().splitlines() == ["killed"] * KILLS
        starts = (tmp_path / f"starts-{method}").read_text().splitlines()
        assert starts[0] == "from nothing"
        assert starts.count("from a checkpoint") >= KILLS
    whole = sweep(configs, tmp_path / "whole", executor=InProcess(), checkpoint_seconds=1e9, vectorise=False)
    assert len(contents(killed)) == len(METHODS) * len(FILES)
    assert contents(killed) == contents(whole)

"""A run killed with SIGKILL at any moment and started again ends bit-identical to one that was left alone."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from labelspace.training.build import prepare
from labelspace.training.run import Run, train_job
from small_corpus import write_corpus
from training.killable import EXTRA, configuration

SCRIPT = Path(__file__).with_name("train_once.py")
# two of each method; ``make fuzz`` kills at every call that changes the disk
KILLS = 8
FILES = ("model.safetensors", "scores.safetensors", "label_space.safetensors", "epochs.jsonl", "result.json")


def start(out: Path, *asked: str) -> subprocess.Popen[str]:
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; sys.argv = {['train_once', str(out), *asked]!r};"
        f"import runpy; runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    )
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def contents(run: Run) -> dict[str, bytes]:
    assert run.folder is not None
    return {name: (run.folder / name).read_bytes() for name in FILES}


def killed_once(out: Path, place: Path, wait: float, *asked: str) -> bool:
    """Start the run, let it get going, kill it after a moment; return whether it was still running."""
    process = start(out, *asked)
    deadline = time.monotonic() + 60
    before = place.stat().st_mtime_ns if place.exists() else 0
    while process.poll() is None and time.monotonic() < deadline:
        if place.exists() and place.stat().st_mtime_ns != before:
            break
        time.sleep(0.001)
    time.sleep(wait)
    alive = process.poll() is None
    os.kill(process.pid, signal.SIGKILL) if alive else None
    process.communicate()
    return alive


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_kills_change_nothing(tmp_path: Path) -> None:
    rng = random.Random(0)
    kills = 0
    methods = sorted(EXTRA)
    for number in range(60):
        if kills >= KILLS:
            break
        method = methods[number % len(methods)]
        out = tmp_path / f"killed-{method}"
        job = prepare(configuration(method))
        folder = out / job.config.run_name()
        if (folder / "result.json").exists():
            continue
        kills += killed_once(out, folder / "checkpoint.pt", rng.uniform(0, 0.05), method)
    assert kills >= KILLS, f"only {kills} processes were killed while they ran"
    for method in methods:
        job = prepare(configuration(method))
        whole = train_job(job, tmp_path / "whole", checkpoint_seconds=1e9)
        resumed = train_job(job, tmp_path / f"killed-{method}", checkpoint_seconds=1e9)
        assert contents(resumed) == contents(whole), method
        assert len(resumed.times) == (len(resumed.epochs) if job.config.record else 0), method


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_kills_of_a_run_on_pairs_of_texts_change_nothing(tmp_path: Path) -> None:
    corpus, out = str(write_corpus(tmp_path / "corpus")), tmp_path / "killed"
    job = prepare(configuration("labelemb", corpus))
    folder = out / job.config.run_name()
    for wait in (0.0, 0.05):
        assert killed_once(out, folder / "checkpoint.pt", wait, "labelemb", corpus), "it ended before it was killed"
        assert not (folder / "result.json").exists()
    told: list[tuple[str, object]] = []
    resumed = train_job(job, out, checkpoint_seconds=1e9, report=lambda event, facts: told.append((event, facts)))
    assert told[0][0] == "resumed"
    whole = train_job(job, tmp_path / "whole", checkpoint_seconds=1e9)
    assert whole.folder is not None
    assert resumed.folder is not None
    assert contents(resumed) == contents(whole)
    for name in ("translations.json", "preprocessing.json"):
        assert (resumed.folder / name).read_bytes() == (whole.folder / name).read_bytes()

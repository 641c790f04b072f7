"""Ctrl-C ends a command and all of its workers within two seconds, in one line, however often it is pressed.

The runs take minutes, so that nothing here ends by itself.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from processes import gone, needs_proc, session

SECONDS = 2.0
PATIENCE = 120  # seconds until training has begun, on a busy machine
STOPPED = "labelspace: stopped; the same command goes on from here."
ANEW = "labelspace: stopped; the same command begins anew: nothing was kept yet."
LONG = ["--model", "mlp-512-4", "--epochs", "5000"]
# OLS keeps statistics, so that its runs train one by one, and each leaves a note of how far it is
COMPARE = ["compare", "digits", "--methods", "ols", *LONG, "--seeds", "2", "--workers", "2"]
SWEEP = """
import os, sys
from labelspace.sweeps.executors import Processes
from labelspace.sweeps.grid import grid, sweep
base = {"data": "digits", "model": "mlp-512-4", "epochs": 5000}
try:
    sweep(grid(base, method=["ols"], seed=range(4)), sys.argv[-1], executor=Processes(2))
except KeyboardInterrupt:
    os._exit(77)  # Python takes its time to let go of modules, which is not what is measured
"""
BUSY = """
import hashlib, pathlib, sys
from labelspace.cli import doctor as health
from labelspace.cli import main

def busy():
    pathlib.Path(sys.argv[-1]).touch()
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)

health.findings = busy
main.app(["doctor"])
"""

pytestmark = [pytest.mark.slow, needs_proc]


def start(*command: str) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, *command], stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def begun(process: "subprocess.Popen[str]", out: Path, pattern: str) -> None:
    """Wait until a file is there that shows how far the work is."""
    deadline = time.monotonic() + PATIENCE
    while not list(out.glob(pattern)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def interrupt(process: "subprocess.Popen[str]", times: int, number: int = signal.SIGINT) -> str:
    """Do as a terminal does: the command and its workers all get the signal; return what the command said."""
    started = time.monotonic()
    for press in range(times):
        time.sleep(0.1 if press else 0)
        os.killpg(process.pid, number)
    _, stderr = process.communicate(timeout=20)
    spent = time.monotonic() - started
    assert gone(process.pid, patience=SECONDS - spent), f"left behind: {session(process.pid)}"
    assert spent < SECONDS
    return stderr


@pytest.fixture
def ended() -> Iterator[list["subprocess.Popen[str]"]]:
    """Take processes, and leave nothing of them behind whatever a test finds."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        for left in session(process.pid):
            os.kill(left, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("times", [1, *(pytest.param(times, marks=pytest.mark.long) for times in (2, 3))])
def test_compare(times: int, tmp_path: Path, ended: list["subprocess.Popen[str]"]) -> None:
    ended.append(start("-m", "labelspace", *COMPARE, "--out", str(tmp_path)))
    begun(ended[0], tmp_path, "*/runs/*/.progress.part")
    stderr = interrupt(ended[0], times)
    assert ended[0].returncode == 130
    assert stderr.splitlines()[-1] == STOPPED
    assert stderr.count("stopped") == 1
    assert "Traceback" not in stderr
    assert "Exception ignored" not in stderr


def test_workers_that_have_only_just_been_started(tmp_path: Path, ended: list["subprocess.Popen[str]"]) -> None:
    ended.append(start("-m", "labelspace", *COMPARE, "--out", str(tmp_path)))
    begun(ended[0], tmp_path, "*/spaces")
    while len(session(ended[0].pid)) < 4:  # two of them look after semaphores
        time.sleep(0.01)
    stderr = interrupt(ended[0], 2)
    assert (ended[0].returncode, stderr.splitlines()[-1]) == (130, STOPPED)
    assert "Traceback" not in stderr


def test_train(tmp_path: Path, ended: list["subprocess.Popen[str]"]) -> None:
    ended.append(start("-m", "labelspace", "train", "digits", *LONG, "--out", str(tmp_path)))
    begun(ended[0], tmp_path, "*/config.json")
    assert interrupt(ended[0], 2) == f"{ANEW}\n"
    assert ended[0].returncode == 130


def test_terminated(tmp_path: Path, ended: list["subprocess.Popen[str]"]) -> None:
    ended.append(start("-m", "labelspace", "train", "digits", *LONG, "--out", str(tmp_path)))
    begun(ended[0], tmp_path, "*/config.json")
    assert interrupt(ended[0], 1, signal.SIGTERM) == f"{ANEW}\n"
    assert ended[0].returncode == 143


def test_sweep(tmp_path: Path, ended: list["subprocess.Popen[str]"]) -> None:
    ended.append(start("-c", SWEEP, str(tmp_path)))
    begun(ended[0], tmp_path, "*/.progress.part")
    stderr = interrupt(ended[0], 2)
    assert "Traceback" not in stderr  # what looks after semaphores may name some: nothing is finalised in os._exit
    assert ended[0].returncode == 77


def test_a_computation_that_python_cannot_interrupt(tmp_path: Path, ended: list["subprocess.Popen[str]"]) -> None:
    ended.append(start("-c", BUSY, str(tmp_path / "begun")))
    begun(ended[0], tmp_path, "begun")
    assert interrupt(ended[0], 2) == f"{STOPPED}\n"
    assert ended[0].returncode == 130

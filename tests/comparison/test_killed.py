"""A comparison that is killed or interrupted half-way goes on where it was and ends as if nothing had happened."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from comparison.small import write_table
from processes import gone, needs_proc, session

# OLS keeps statistics, so that its runs train one by one: there is a half-way
OPTIONS = [
    "--methods",
    "uniform,ols",
    "--model",
    "mlp-16",
    "--epochs",
    "40",
    "--seeds",
    "3",
    "--workers",
    "2",
    "--space",
    "small<medium<large",
    "--rivals",
    "none",
]
PATIENCE = 240  # seconds, on a busy machine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    needs_proc,
]


def start(table: Path, out: Path) -> "subprocess.Popen[str]":
    """Start the command in a session of its own, which all its workers belong to."""
    command = [sys.executable, "-m", "labelspace", "compare", str(table), *OPTIONS, "--out", str(out)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def end(process: "subprocess.Popen[str]", code: int = 0) -> str:
    stdout, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, stdout + stderr
    return stderr


def finished(out: Path) -> dict[str, int]:
    return {path.parent.name: path.stat().st_mtime_ns for path in out.glob("*/runs/*/result.json")}


def half_way(process: "subprocess.Popen[str]", out: Path, runs: int) -> None:
    """Wait until so many runs are finished."""
    deadline = time.monotonic() + PATIENCE
    while len(finished(out)) < runs:
        assert process.poll() is None, "it ended too soon"
        assert time.monotonic() < deadline
        time.sleep(0.01)


def numbers(out: Path) -> dict[str, Any]:
    """Return everything that does not say where it lies."""
    content = json.loads(next(out.glob("*/comparison.json")).read_text(encoding="utf-8"))
    return {name: value for name, value in content.items() if name not in ("next", "command", "digest")}


def test_killed_then_interrupted_then_left_alone(tmp_path: Path) -> None:
    table = write_table(tmp_path / "sizes.csv", ["small", "medium", "large"])
    undisturbed, out = tmp_path / "undisturbed", tmp_path / "out"
    end(start(table, undisturbed))

    process = start(table, out)
    half_way(process, out, 1)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert not list(out.glob("*/comparison.json"))
    assert gone(process.pid), f"left behind: {session(process.pid)}"
    killed = finished(out)

    process = start(table, out)
    half_way(process, out, len(killed) + 2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the command and to its workers
    stderr = end(process, 130)
    assert "stopped; the same command goes on from here" in stderr
    assert "Traceback" not in stderr
    assert gone(process.pid), f"left behind: {session(process.pid)}"
    interrupted = finished(out)

    end(start(table, out))
    after = finished(out)
    assert {name: interrupted[name] for name in killed} == killed
    assert {name: after[name] for name in interrupted} == interrupted
    assert len(after) > len(interrupted) > len(killed)
    assert numbers(out) == numbers(undisturbed)
    assert not list(out.rglob("*.part"))

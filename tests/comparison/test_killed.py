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
    "4",
    "--workers",
    "2",
    "--space",
    "small<medium<large",
]
PATIENCE = 240  # seconds, on a busy machine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    needs_proc,
]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(tmp_path_factory.mktemp("data") / "sizes.csv", ["small", "medium", "large"])


@pytest.fixture(scope="module")
def undisturbed(table: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the numbers of the same comparison, left alone."""
    out = tmp_path_factory.mktemp("undisturbed")
    end(start(table, out))
    return numbers(out)


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


@pytest.mark.parametrize("runs", [1, 8])
def test_killed(runs: int, table: Path, undisturbed: dict[str, Any], tmp_path: Path) -> None:
    process = start(table, tmp_path)
    half_way(process, tmp_path, runs)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert not list(tmp_path.glob("*/comparison.json"))
    assert gone(process.pid), f"left behind: {session(process.pid)}"
    before = finished(tmp_path)
    end(start(table, tmp_path))
    after = finished(tmp_path)
    assert {name: after[name] for name in before} == before
    assert len(after) > len(before)
    assert numbers(tmp_path) == undisturbed
    assert not list(tmp_path.rglob("*.part"))


def test_interrupted(table: Path, undisturbed: dict[str, Any], tmp_path: Path) -> None:
    process = start(table, tmp_path)
    half_way(process, tmp_path, 4)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the command and to its workers
    stderr = end(process, 130)
    assert "stopped; the same command goes on from here" in stderr
    assert "Traceback" not in stderr
    assert gone(process.pid), f"left behind: {session(process.pid)}"
    before = finished(tmp_path)
    end(start(table, tmp_path))
    after = finished(tmp_path)
    assert {name: after[name] for name in before} == before
    assert numbers(tmp_path) == undisturbed

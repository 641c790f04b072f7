"""Builders of many classes take little more than what they build: no tables on the way that are many times as large."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "builder_memory.py"
SLACK = 250 * 2**20  # what there is at any number of classes: parts of rows in double precision, names
pytestmark = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc")


@pytest.mark.parametrize("what", ["tree", "cost", "confusion", "permuted"])
def test_a_builder_takes_about_twice_its_result(what: str) -> None:
    peak, result = measured(what, 5000)
    assert result >= 4 * 5000**2
    assert peak <= 2.2 * result + SLACK, f"{peak / 2**20:.0f} MiB for {result / 2**20:.0f}"


def test_discriminants_of_many_classes_are_a_rule() -> None:
    _, result = measured("lda", 9000)  # threads of linear algebra have memory of their own, now more, now less
    assert result < 2**20


def measured(what: str, count: int) -> tuple[int, int]:
    command = [sys.executable, str(SCRIPT), what, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-800:]
    peak, result = map(int, done.stdout.split())
    return peak, result

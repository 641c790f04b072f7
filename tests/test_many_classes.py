"""Tens of thousands of classes without a matrix of all of them, in processes with little memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("many_classes.py")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited as Linux does it")
@pytest.mark.parametrize(
    ("classes", "what"),
    [
        (50_000, "low_rank"),
        (50_000, "every_method"),
        (50_000, "every_step"),
        pytest.param(50_000, "whole_run", marks=pytest.mark.slow),
        pytest.param(50_000, "nearest_few", marks=pytest.mark.long),
    ],
)
def test_no_matrix_of_all_classes(classes: int, what: str, tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), str(classes), what, str(tmp_path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr

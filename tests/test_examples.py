"""The examples run as they are."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"


@pytest.mark.long
@pytest.mark.parametrize("script", sorted(path.name for path in FOLDER.glob("*.py")))
def test_example_runs(script: str) -> None:
    done = subprocess.run([sys.executable, FOLDER / script], capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    assert "one-hot" in done.stdout

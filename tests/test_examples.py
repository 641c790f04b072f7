"""The examples run as they are."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"
SAYS = {"digits.py": "one-hot", "grid_search.py": "one-hot", "cost_sensitive.py": "cheapest action"}
LONG = {"digits.py"}
SCRIPTS = [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in sorted(SAYS)]


def test_every_example_is_here() -> None:
    assert sorted(path.name for path in FOLDER.glob("*.py")) == sorted(SAYS)


@pytest.mark.parametrize("script", SCRIPTS)
def test_example_runs(script: str) -> None:
    done = subprocess.run([sys.executable, FOLDER / script], capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    assert SAYS[script] in done.stdout

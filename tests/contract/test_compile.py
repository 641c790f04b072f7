"""torch.compile(fullgraph=True) gives what eager gives, value, gradient and state, without compiling every step."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from contract.compile_all import RUNNING, SPOILT
from contract.harness import METHODS


@pytest.fixture(scope="module")
def results() -> dict[str, str]:
    script = Path(__file__).with_name("compile_all.py")
    command = [
        sys.executable,
        "-c",
        f"import sys; sys.path[:0] = {sys.path!r}; import runpy; runpy.run_path({str(script)!r}, run_name='__main__')",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("method", METHODS)
def test_compiles_whole(method: str, results: dict[str, str]) -> None:
    assert results[method] == ""


@pytest.mark.parametrize("method", RUNNING)
def test_a_sample_that_is_not_finite_leaves_no_trace(method: str, results: dict[str, str]) -> None:
    assert results[SPOILT.format(method)] == ""

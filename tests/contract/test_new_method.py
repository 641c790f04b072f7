"""A new file in criteria/ and its reference enter every contract test without another edit, and a flaw is caught."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import labelspace

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[2]
REFERENCE = """
import numpy as np
from reference.case import Case, cross_entropy, log_softmax, weighted_mean


def loss(case: Case, frozen: Case) -> float:
    sigma = case.state["smoothing"]
    matrix = (1 - sigma) * np.eye(case.y.shape[1]) + sigma * case.state["relations"]
    return weighted_mean(cross_entropy(case.y @ matrix, log_softmax(case.output)), case.weight)
"""
HALF_STOPPED = "output = output / 2 + (output / 2).detach()\n        return [Term("
FLAWS = {
    # a gradient that is stopped and not declared
    "return [Term(": HALF_STOPPED,
    # state that class_axes does not mention
    ', "relations": (0, 1)}': "}",
    # a loss that forgets that the target may have no mass
    "divergences.soft_cross_entropy(output, target)": "-(target * output.log_softmax(-1)).sum(-1)",
}
QUICK = ["contract/test_construction.py", "contract/test_reference.py", "contract/test_numerics.py"]
EVERYTHING = [*QUICK, "contract/test_behaviour.py", "contract/test_compile.py", "distributed/test_ranks.py"]


def run_contract(folder: Path, source: str, parts: list[str]) -> subprocess.CompletedProcess[str]:
    """Add the method to a copy of the package and run contract tests on it alone."""
    package = folder / "src" / "labelspace"
    shutil.copytree(Path(labelspace.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "criteria" / "sixth.py").write_text(source)
    (folder / "tests" / "reference").mkdir(parents=True)
    (folder / "tests" / "reference" / "sixth.py").write_text(REFERENCE)
    paths = [str(folder / "src"), str(folder / "tests"), str(ROOT / "tests")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "LABELSPACE_CONTRACT_METHODS": "sixth"}
    files = [str(ROOT / "tests" / part) for part in parts]
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-c", str(ROOT / "pyproject.toml")]
    command = [sys.executable, "-m", "pytest", *options, *files]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)


def sixth() -> str:
    """Return a new method's source: semantic smoothing under another name."""
    source = (Path(labelspace.__file__).parent / "criteria" / "semantic.py").read_text()
    return source.replace('name = "semantic"', 'name = "sixth"').replace("class SemanticSmoothing", "class Sixth")


def test_a_sound_new_method_passes_everything(tmp_path: Path) -> None:
    done = run_contract(tmp_path, sixth(), EVERYTHING)
    assert done.returncode == 0, done.stdout[-3000:]
    passed = int(re.findall(r"(\d+) passed", done.stdout)[-1])
    assert passed > 50, "the new method was not picked up"


@pytest.mark.parametrize("right", FLAWS)
def test_a_flawed_new_method_fails(tmp_path: Path, right: str) -> None:
    source = sixth()
    assert right in source
    done = run_contract(tmp_path, source.replace(right, FLAWS[right]), QUICK)
    assert done.returncode == 1, done.stdout[-3000:]
    assert "FAILED" in done.stdout

"""Devices without hardware: the library on a pretended device, with real numbers, and on a cuda of fake tensors.

Each in a process of its own: torch cannot forget a device that it was told of.
"""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import torch

from contract.harness import METHODS, variants
from labelspace import models
from labelspace.augment.named import ENTRIES

NOTES = ("", " without float64")
CRITERIA = [f"criterion {method} {variant}" for method in METHODS for variant in variants(method)]
AUGMENTATIONS = [f"augmentation {name}" for name in ENTRIES]
TRAINING = ["that resumes", "without end", "images", "mixup", "best epoch", "float64", "channels last"]
# without names of other libraries, and forms of names, in which letters stand for numbers
NETWORKS = [name for name in models.names() if not re.search(":|-H", name) and not name.startswith("efficientnet")]
pytestmark = pytest.mark.skipif(
    not hasattr(torch.utils.backend_registration, "_setup_privateuseone_for_python_backend"),
    reason="this torch cannot pretend a device",
)


@cache
def results(script: str, *words: str) -> dict[str, str]:
    path = Path(__file__).with_name(script)
    code = f"import sys; sys.path[:0] = {sys.path!r}; sys.argv = {[script, *words]!r}; import runpy; "
    command = [sys.executable, "-W", "error", "-c", f"{code}runpy.run_path({str(path)!r}, run_name='__main__')"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    "case", ["pretence itself", *(each + note for each in CRITERIA + AUGMENTATIONS for note in NOTES)]
)
def test_same_numbers_and_nobody_waits(case: str) -> None:
    assert results("on_pretended.py", "pretence", "criterion", "augmentation")[case] == ""


@pytest.mark.slow
@pytest.mark.parametrize("case", [*TRAINING, *(method + note for method in METHODS for note in NOTES)])
def test_same_runs_and_no_step_waits(case: str) -> None:
    assert results("on_pretended.py", "training")[f"training {case}"] == ""


@pytest.mark.parametrize(
    "case",
    [*(f"criterion {method}" for method in METHODS), *AUGMENTATIONS, "evaluation False", "evaluation True"],
)
def test_forward_on_fake_cuda(case: str) -> None:
    assert results("on_fake_cuda.py", "criterion", "augmentation", "evaluation")[case] == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_on_fake_cuda(name: str) -> None:
    assert results("on_fake_cuda.py", "network")[f"network {name}"] == ""

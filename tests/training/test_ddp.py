"""Training on two gloo ranks gives the losses and weights of one process, unequal shares of a batch included."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

METHODS = ["onehot", "lls", "lwal", "ols", "labelemb", "lwr", "lwal-printed", "lls-pruned", "head-l2", "seen-inputs"]
SCRIPT = Path(__file__).with_name("ddp_worker.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ddp")
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; sys.argv = {['worker', str(folder), *METHODS]!r};"
        f"import runpy; runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.parametrize("method", METHODS)
def test_two_ranks_train_as_one(method: str, folder: Path) -> None:
    alone = torch.load(folder / "out-0-of-1.pt", weights_only=True)[method]
    for rank in (0, 1):
        other = torch.load(folder / f"out-{rank}-of-2.pt", weights_only=True)[method]
        torch.testing.assert_close(other["losses"], alone["losses"], rtol=1e-6, atol=1e-9)
        for name, value in alone.items():
            if "statistics" not in name:
                torch.testing.assert_close(other[name], value, rtol=1e-6, atol=1e-8, msg=lambda m, n=name: f"{n}: {m}")

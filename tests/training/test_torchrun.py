"""One model on two processes, started as people start it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_torchrun_on_two_processes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29517"]
    train = ["-m", "labelspace", "train", "digits", "--method", "ols", "--model", "mlp-16", "--epochs", "2", "--json"]
    done = subprocess.run([*command, *train, "--out", str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    result = json.loads(done.stdout)
    config = json.loads((Path(result["folder"]) / "config.json").read_text())
    assert config["world"] == 2

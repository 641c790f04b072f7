"""Two ranks inside DistributedDataParallel train exactly as one process: losses, weights, labels, statistics."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from contract.harness import METHODS

Results = dict[str, dict[str, Tensor]]


def start(rank: int, world: int, folder: Path) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("worker.py")
    arguments = [
        "worker",
        str(rank),
        str(world),
        str(folder / "rendezvous"),
        str(folder / f"{rank}-of-{world}.pt"),
    ]
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; sys.argv = {arguments!r}; import runpy; import torch;"
        f"torch.set_num_threads(1); runpy.run_path({str(script)!r}, run_name='__main__')"
    )
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    """Run one pair of ranks, and one process alone, for all methods."""
    folder = tmp_path_factory.mktemp("ranks")
    running = [start(0, 1, folder), start(0, 2, folder), start(1, 2, folder)]
    for process in running:
        _, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors[-3000:]
    files = {"alone": "0-of-1", "rank 0": "0-of-2", "rank 1": "1-of-2"}
    return {name: torch.load(folder / f"{file}.pt", weights_only=True) for name, file in files.items()}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("resumed", [False, True])
def test_two_ranks_equal_one_process(method: str, resumed: bool, results: dict[str, Results]) -> None:
    key = f"{method}/{resumed}"
    alone = results["alone"][key]
    for name in ("rank 0", "rank 1"):
        for part, value in results[name][key].items():
            torch.testing.assert_close(value, alone[part], rtol=1e-9, atol=1e-9, msg=lambda m, p=part: f"{p}: {m}")

"""Two ranks train as one plain loop does, with labels ignored unevenly between them; resumed in mid-epoch too."""

import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from torch import Tensor

from integrations.plain import MAKE, METHODS, assert_same, batches, network, plain_loop, samples

for library in ("accelerate", "lightning", "transformers"):
    pytest.importorskip(library)
# timm is imported by the ranks alone, beside something that stands in for torchvision
pytestmark = [pytest.mark.slow, pytest.mark.skipif(find_spec("timm") is None, reason="timm is not installed")]
MASKED = [0, 1, 2, 3, 20, 31]
Results = dict[str, dict[str, dict[str, Tensor]]]


def start(rank: int, port: int, folder: Path) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("two_ranks_worker.py")
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; sys.argv = ['worker', '{rank}', '2', {str(folder)!r}]; import runpy;"
        f"runpy.run_path({str(script)!r}, run_name='__main__')"
    )
    place = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    place |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GROUP_RANK": "0", "OMP_NUM_THREADS": "1"}
    # as torchrun describes itself, which Lightning looks for
    place |= {"TORCHELASTIC_RUN_ID": "none"}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | place,
    )


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> list[Results]:
    """Run two ranks for all adapters and methods."""
    folder = tmp_path_factory.mktemp("ranks")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = [start(rank, port, folder) for rank in range(2)]
    try:
        for process in running:
            said, _ = process.communicate(timeout=240)
            assert process.returncode == 0, said[-3000:]
    finally:
        for process in running:
            process.kill()
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(2)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("adapter", ["accelerate", "huggingface", "lightning", "timm"])
def test_two_ranks_are_one_plain_loop(adapter: str, method: str, ranks: list[Results]) -> None:
    x, y = samples()
    y = y.index_fill(0, torch.tensor(MASKED), -100)
    trainer = adapter == "huggingface"
    options = {"clip": 1.0, "biases": False} if trainer else {"biases": False} if adapter == "timm" else {}
    wanted = plain_loop(network(), MAKE[method](), batches(x, y, 12), epochs=3, **options)
    for rank in ranks:
        for found in rank[f"{adapter}/{method}"].values():
            assert_same(found, wanted)

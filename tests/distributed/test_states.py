"""Two ranks with shards, distributed checkpoints and bad batches are one process; constants stay where they are."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from contract.harness import METHODS, plain

Results = dict[str, dict[str, Any]]


def start(rank: int, world: int, folder: Path) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("states_worker.py")
    arguments = ["worker", str(rank), str(world), str(folder / "rendezvous"), str(folder / f"{rank}-of-{world}.pt")]
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; sys.argv = {arguments!r}; import runpy; import torch;"
        f"torch.set_num_threads(1); runpy.run_path({str(script)!r}, run_name='__main__')"
    )
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    """Run one pair of ranks, and one process alone, for all methods."""
    folder = tmp_path_factory.mktemp("states")
    running = [start(0, 1, folder), start(0, 2, folder), start(1, 2, folder)]
    for process in running:
        _, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors[-3000:]
    files = {"alone": "0-of-1", "rank 0": "0-of-2", "rank 1": "1-of-2"}
    return {name: torch.load(folder / f"{file}.pt", weights_only=True) for name, file in files.items()}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("case", "tolerance"),
    [
        ("sharded", {"rtol": 1e-9, "atol": 1e-9}),
        ("bfloat16", {"rtol": 0.02, "atol": 0.02}),  # a network of three digits, its gradients too
        ("skipped", {"rtol": 1e-9, "atol": 1e-9}),
    ],
)
def test_two_ranks_equal_one_process(
    method: str, case: str, tolerance: dict[str, float], results: dict[str, Results]
) -> None:
    alone = results["alone"][f"{method}/{case}"]
    for name in ("rank 0", "rank 1"):
        found = results[name][f"{method}/{case}"]
        assert found.keys() == alone.keys()
        for part, value in found.items():
            if part.startswith("criterion.statistics.") and plain(method).criterion.commit_every is None:
                continue  # pending statistics are a rank's own
            assert bool(torch.isfinite(value).all()), part
            torch.testing.assert_close(value, alone[part], **tolerance, msg=lambda m, p=part: f"{p}: {m}")


@pytest.mark.parametrize("method", METHODS)
def test_nothing_constant_is_sent(method: str, results: dict[str, Results]) -> None:
    for rank in ("rank 0", "rank 1"):
        found = results[rank][f"{method}/sent"]
        inputs = plain(method)
        before = {name: buffer.clone() for name, buffer in inputs.criterion.named_buffers()}
        for _ in range(3):
            inputs.loss(output=inputs.output.clone().requires_grad_())
            inputs.criterion.end_epoch()
        changed = {
            f"criterion.{name}" for name, buffer in inputs.criterion.named_buffers() if not buffer.equal(before[name])
        }
        assert changed <= set(found["names"])  # what ranks must agree on is sent
        kept = {name for name in found["held"] if name not in found["names"]}
        assert {f"criterion.{name}" for name in inputs.criterion.float_options} <= kept
        assert not {f"criterion.{name}" for name in ("relations", "matrix", "coefficients", "fixed", "margin")} & set(
            found["names"]
        )
        assert found["numbers"] == sum(found["held"][name] for name in found["names"])

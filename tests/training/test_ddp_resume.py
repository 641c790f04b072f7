"""A run on two ranks that is killed, whole or one rank of it, and started again ends as if it had been left alone.

The ranks run this very file: ``torchrun --nproc-per-node 2 test_ddp_resume.py OUT``.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

FILES = ("model.safetensors", "scores.safetensors", "label_space.safetensors", "epochs.jsonl", "result.json")
METHODS = ("ols", "lwr")  # one after the other: starting two ranks takes much longer than training them
EPOCHS = 6
PAUSE = 0.3  # seconds after every epoch, in which it can be killed


def main(out: Path) -> None:
    """Train on this rank."""
    import torch

    from labelspace import _distributed
    from labelspace.training.run import train

    _distributed.join(torch.device("cpu"))
    rank = _distributed.rank()
    (out / f"process-{rank}").write_text(str(os.getpid()))
    _distributed.wait()

    for method in METHODS:

        def report(event: str, numbers: dict[str, Any], method: str = method) -> None:
            if event == "resumed" and rank == 0:
                with (out / "resumed").open("a") as file:
                    file.write(f"{method} {numbers['epoch']}\n")
            if event == "epoch":
                time.sleep(PAUSE)

        options: dict[str, Any] = {"model": "mlp-16", "epochs": EPOCHS, "limit": 205, "batch_size": 50}
        options.update(optimizer="sgd", learning_rate=0.1, augment=[] if method == "lwr" else ["mixup:0.4"], seed=3)
        train("digits", method=method, out=out, checkpoint_seconds=0.0, report=report, **options)
    _distributed.leave()


def start(out: Path) -> subprocess.Popen[bytes]:
    out.mkdir(exist_ok=True)
    for left in out.glob("process-*"):
        left.unlink()
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with (out / "errors").open("wb") as errors:
        command = [*launcher, __file__, str(out)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=errors)


def kill(process: subprocess.Popen[bytes], out: Path) -> None:
    """Kill the launcher, so that it cannot tell its ranks, and then the ranks; where it has ended, so have they."""
    if process.poll() is not None:
        return
    process.kill()
    for place in out.glob("process-*"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(place.read_text()), signal.SIGKILL)
    process.wait()


def finish(out: Path) -> dict[str, bytes]:
    """Run to the end, and return what the runs leave."""
    process = start(out)
    try:
        assert process.wait(timeout=240) == 0, (out / "errors").read_text()[-3000:]
    finally:
        kill(process, out)
    folders = {method: list(out.glob(f"{method}-*")) for method in METHODS}
    assert [len(found) for found in folders.values()] == [1, 1]
    return {f"{method}/{name}": (found[0] / name).read_bytes() for method, found in folders.items() for name in FILES}


def checkpoint_time(out: Path, method: str) -> int:
    try:
        return max((path.stat().st_mtime_ns for path in out.glob(f"{method}-*/checkpoint.pt")), default=0)
    except FileNotFoundError:  # it is being replaced
        return 0


def wait_for_checkpoints(process: subprocess.Popen[bytes], out: Path, method: str, count: int) -> None:
    """Return after so many checkpoints of ranks that have just been started."""
    deadline, seen = time.monotonic() + 120, {0, checkpoint_time(out, method)}
    goal = len(seen) + count
    while len(seen) < goal:
        assert process.poll() is None, (out / "errors").read_text()[-3000:]
        assert time.monotonic() < deadline, "no checkpoint was written"
        seen.add(checkpoint_time(out, method))
        time.sleep(0.001)


def killed_once(out: Path, method: str, count: int, wait: float, only_rank: int | None) -> None:
    """Start the run and kill it, or one rank of it, a moment after so many new checkpoints."""
    process = start(out)
    try:
        wait_for_checkpoints(process, out, method, count)
        time.sleep(wait)
        assert process.poll() is None, "it finished before it could be killed"
        if only_rank is not None:
            os.kill(int((out / f"process-{only_rank}").read_text()), signal.SIGKILL)
            assert process.wait(timeout=120) != 0  # where one rank dies, torchrun ends the other and itself
    finally:
        kill(process, out)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_killed_ranks_resume_to_the_same_bytes(tmp_path: Path) -> None:
    whole, killed = finish(tmp_path / "whole"), tmp_path / "killed"
    killed_once(killed, "ols", count=2, wait=0.0, only_rank=None)
    assert not list(killed.glob("*/result.json"))
    # the first run goes on and ends; of the second, one rank dies
    killed_once(killed, "lwr", count=2, wait=0.1, only_rank=1)
    assert not list(killed.glob("lwr-*/result.json"))
    again = finish(killed)
    resumed = [line.split() for line in (killed / "resumed").read_text().splitlines()]
    assert [method for method, _ in resumed] == ["ols", "lwr"]
    assert all(1 < int(epoch) < EPOCHS for _, epoch in resumed)
    assert not (tmp_path / "whole" / "resumed").exists()
    assert again == whole


if __name__ == "__main__":
    main(Path(sys.argv[1]))

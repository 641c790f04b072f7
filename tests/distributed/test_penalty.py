"""A penalty that belongs to no sample counts once, however many ranks there are and however many samples they have."""

import subprocess
import sys
from pathlib import Path

import torch


def start(rank: int, world: int, folder: Path) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("penalty_worker.py")
    arguments = ["worker", str(rank), str(world), str(folder / "rendezvous"), str(folder / f"{rank}-of-{world}.pt")]
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; sys.argv = {arguments!r}; import runpy;"
        f"runpy.run_path({str(script)!r}, run_name='__main__')"
    )
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)


def test_two_ranks_equal_one_process(tmp_path: Path) -> None:
    for process in [start(0, 1, tmp_path), start(0, 2, tmp_path), start(1, 2, tmp_path)]:
        _, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors[-3000:]
    alone, *ranks = [torch.load(tmp_path / f"{name}.pt", weights_only=True) for name in ("0-of-1", "0-of-2", "1-of-2")]
    assert len(alone) == 8
    for rank in ranks:
        for case, values in alone.items():
            assert len(values) == 2  # the loss and the gradient of the labels
            for name, value in values.items():
                torch.testing.assert_close(rank[case][name], value, msg=lambda m, c=case, n=name: f"{c}, {n}: {m}")

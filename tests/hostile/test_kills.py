"""Killed at any call that changes the disk and run again, commands end as if nothing had happened."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("kills.py")
MANY = float(os.environ.get("LABELSPACE_FUZZ", "0"))
SEED = int(os.environ.get("LABELSPACE_FUZZ_SEED", "0"))
# of so many calls one is killed at in the normal tests; with ``make fuzz`` at every one, which are more than 500
SHARE = 30
COUNTED = ("calls", "kills", "identical", "litter", "mixture", "unreadable")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.skipif("LABELSPACE_FUZZ_CASE" in os.environ, reason="one case of another attack is tried alone")
@pytest.mark.timeout(14_400 if MANY else 600)
def test_kills_change_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    share = min(SHARE, round(1 / MANY)) if MANY else SHARE
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; import runpy; runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    )
    command = [sys.executable, "-c", code, str(tmp_path), str(share), str(SEED)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "LABELSPACE_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    total = sum((Counter({name: each[name] for name in COUNTED}) for each in found), Counter())
    with capsys.disabled():
        for each in [*found, {"command": "all commands", **{name: total[name] for name in COUNTED}}]:
            print(f"\n{each['command']}: " + ", ".join(f"{name} {each[name]}" for name in COUNTED), end="")
        print()
    assert total["litter"] == total["mixture"] == total["unreadable"] == 0, done.stderr[-3000:]
    assert total["identical"] >= total["kills"] > 15, done.stderr[-3000:]

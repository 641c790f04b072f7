"""Killed at any call that changes the disk and run again, commands end as if nothing had happened."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("kills.py")
TIMES = int(os.environ.get("LABELSPACE_FUZZ", "1"))
SEED = int(os.environ.get("LABELSPACE_FUZZ_SEED", "0"))
# of so many calls one is killed at in the normal tests; of hundreds, all of them with ``make fuzz``
SHARE = 20
COUNTED = ("calls", "kills", "identical", "litter", "mixture", "unreadable")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.timeout(600 * min(TIMES, SHARE))
def test_kills_change_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    share = max(1, SHARE // TIMES)
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
    assert total["identical"] >= total["kills"] > 20, done.stderr[-3000:]

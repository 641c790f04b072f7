"""Which processes a test has left behind, from /proc."""

import time
from pathlib import Path

import pytest

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


def session(number: int) -> list[int]:
    """Return the processes of a session that are still there, but for those that only wait to be collected."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, leader = path.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has just ended
            continue
        if int(leader) == number and state != "Z":
            found.append(int(path.parent.name))
    return found


def gone(number: int, patience: float = 30) -> bool:
    """Return whether nothing of a session is left, at the latest after so many seconds."""
    deadline = time.monotonic() + patience
    while session(number) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not session(number)

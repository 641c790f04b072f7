"""Rows that take long are kept piece by piece: what is there is read, what is damaged is computed again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from labelspace.data import pieces
from labelspace.data.cache import Entry

ROWS = np.arange(30, dtype=np.float32).reshape(10, 3)


class Work:
    """Gives rows, and remembers which it was asked for; the power may fail."""

    def __init__(self, until: int = 10) -> None:
        self.until, self.asked, self.told = until, [], []

    def __call__(self, start: int, end: int) -> np.ndarray:
        if start >= self.until:
            raise KeyboardInterrupt
        self.asked.append((start, end))
        return ROWS[start:end]

    def fetch(self) -> Entry:
        return pieces.fetch("k", 10, 4, self, self.told.append)


def folder(cache_dir: Path) -> Path:
    return cache_dir / "images" / ".k.pieces"


def test_computed_once(cache_dir: Path) -> None:
    first, second = Work(), Work()
    assert np.array_equal(first.fetch().rows, ROWS)
    assert (first.asked, first.told) == ([(0, 4), (4, 8), (8, 10)], [4, 8, 10])
    assert np.array_equal(second.fetch().rows, ROWS)
    assert (second.asked, second.told) == ([], [])
    assert [path.name for path in (cache_dir / "images").iterdir()] == ["k"]


def test_what_was_computed_is_kept(cache_dir: Path) -> None:
    work = Work(until=8)
    with pytest.raises(KeyboardInterrupt):
        work.fetch()
    assert sorted(path.name.split("-")[0] for path in folder(cache_dir).iterdir()) == ["0", "4"]
    again = Work()
    entry = again.fetch()
    assert (again.asked, again.told) == ([(8, 10)], [4, 8, 10])
    assert np.array_equal(entry.rows, ROWS)
    assert [path.name for path in (cache_dir / "images").iterdir()] == ["k"]


@pytest.mark.parametrize("damage", ["cut", "other", "empty", "wrong type", "wrong length"])
def test_a_damaged_piece_is_computed_again(cache_dir: Path, damage: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        Work(until=8).fetch()
    (path,) = folder(cache_dir).glob("4-*.npy")
    if damage.startswith("wrong"):
        path.unlink()
        pieces._keep(folder(cache_dir), 4, ROWS[4:8].astype(np.float64) if damage == "wrong type" else ROWS[4:7])
    else:
        content = path.read_bytes()
        path.write_bytes({"cut": content[:-4], "other": content[:-4] + b"1234", "empty": b""}[damage])
    work = Work()
    assert np.array_equal(work.fetch().rows, ROWS)
    assert work.asked == [(4, 8), (8, 10)]


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("LABELSPACE_CACHE", str(tmp_path / "file"))
    assert np.array_equal(Work().fetch().rows, ROWS)


SLOW = """
import time
import numpy as np
from labelspace.data import pieces

def compute(start, end):
    print(start, flush=True)
    time.sleep(0.05 if start < 8 else 60)
    return np.full((end - start, 3), start, dtype=np.float32)

pieces.fetch("k", 100, 4, compute, lambda done: None)
"""


def test_a_killed_process_is_gone_on_with(cache_dir: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW], stdout=subprocess.PIPE, env={**os.environ, "LABELSPACE_CACHE": str(cache_dir)}
    )
    assert process.stdout is not None
    while process.stdout.readline().strip() != b"8":
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    asked: list[int] = []

    def compute(start: int, end: int) -> np.ndarray:
        asked.append(start)
        return np.full((end - start, 3), start, dtype=np.float32)

    started = time.monotonic()
    entry = pieces.fetch("k", 100, 4, compute, lambda done: None)
    assert time.monotonic() - started < 30  # the lock went with its process
    assert asked == list(range(8, 100, 4))
    assert np.array_equal(entry.rows[:, 0], np.arange(100) // 4 * 4)

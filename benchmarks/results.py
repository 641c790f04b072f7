"""Adds a line to a benchmark's CSV, with what the numbers depend on."""

import csv
import ctypes
import os
import platform
import subprocess
from pathlib import Path

import torch

HERE = Path(__file__).parent


def record(name: str, row: dict[str, object]) -> Path:
    """Add a row with processor, torch version and commit to ``results/NAME.csv``.

    The file is written anew and moved into place: where a benchmark has other columns than before, the header names all
    of them, and a row has nothing in those that it did not know.
    """
    path = HERE / "results" / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    full = {**row, "processor": processor(), "torch": torch.__version__, "commit": commit()}
    rows: list[dict[str, object]] = []
    if path.exists():
        with path.open(newline="") as file:
            rows += csv.DictReader(file, strict=True)
    columns = list(dict.fromkeys(column for each in (*rows, full) for column in each))
    beside = path.with_suffix(".part")
    with beside.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows([*rows, full])
    os.replace(beside, path)
    return path


def write(path: Path, rows: list[dict[str, object]]) -> None:
    """Write a whole table, each row with processor, torch version and commit."""
    facts = {"processor": processor(), "torch": torch.__version__, "commit": commit()}
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*(rows[0] if rows else ()), *facts])
        writer.writeheader()
        writer.writerows({**row, **facts} for row in rows)


def more(cost: float, than: float) -> str:
    """Return by how much one cost is above another, in percent."""
    return f"{cost / than - 1:+.1%}" if than else "0" if not cost else "inf"


def processor() -> str:
    """Return the processor's name."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def commit() -> str:
    """Return the commit the numbers belong to."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    found = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def keep_memory() -> None:
    """Let glibc keep what is freed.

    Else it gives large pieces back or not, as the first ones happened to lie, and then every pass waits for new pages:
    plain cross-entropy of 10,000 classes takes 1.2 ms in one process and 2.4 in the next.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(-1, 2**31 - 1)  # what may be free at the end of the heap
        libc.mallopt(-3, 2**25)  # pieces up to which are taken from the heap

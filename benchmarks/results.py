"""Appends a line to a benchmark's CSV, with what the numbers depend on."""

import csv
import platform
import subprocess
from pathlib import Path

import torch

HERE = Path(__file__).parent


def record(name: str, row: dict[str, object]) -> Path:
    """Append a row with processor, torch version and commit to ``results/NAME.csv``."""
    path = HERE / "results" / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    full = {**row, "processor": processor(), "torch": torch.__version__, "commit": commit()}
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, list(full))
        if new:
            writer.writeheader()
        writer.writerow(full)
    return path


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

"""Whether what a method would hold for many classes fits into memory, asked before it is taken."""

import os
from pathlib import Path

import torch

from labelspace import _checks, _devices

SHARE = 0.5  # of free memory that tables of a criterion and their gradients may take: an optimizer wants as much again
VARIABLE = "LABELSPACE_FREE_MEMORY"  # bytes, for whoever knows better


def free_memory() -> int:
    """Return the bytes that are free on the CPU, or what the environment says; 0 where nobody knows."""
    stated = os.environ.get(VARIABLE, "")
    if stated.isdecimal():
        return int(stated)
    found = Path("/proc/meminfo")
    lines = found.read_text().splitlines() if found.exists() else []
    sizes = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    return sizes[0] if sizes else _devices.free_memory(torch.device("cpu"))


def check_state(owner: str, classes: int, tables: int = 1, width: int | None = None) -> None:
    """Refuse tables of all pairs of classes that would take more than half of the free memory.

    Args:
        owner: the method.
        classes: K.
        tables: how many ``(K, K)`` tables of single precision it holds, gradients among them.
        width: D of ``(K, D)`` tables in their place.

    Example:
        >>> check_state("LearnableSmoothing", 10)
    """
    width = classes if width is None else width
    wanted, free = 4 * classes * width * tables, free_memory()
    if wanted < 2**28 or not free or wanted <= SHARE * free:  # what is small needs no question
        return
    expected = f"so few that {classes:,} × {width:,} numbers take at most half of the free memory"
    got = f"{wanted / 2**30:,.1f} GiB of {free / 2**30:,.1f} GiB"
    remedy = "LearnableSmoothing has rank= and top= for many classes, LabelEmbedding rank=, AdaptiveLabels dim=."
    raise _checks.fail(owner, "labels", expected, got, remedy)

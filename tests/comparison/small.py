"""Small comparisons and small files to compare on."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelspace.sweeps import executors

UNMIXED: dict[str, Any] = {"onehot": [0.0]}  # a strength of the reference that is not tuned: fewer runs to wait for
SMALL: dict[str, Any] = {"methods": ["uniform", "semantic"], "model": "linear", "epochs": 2, "seeds": 2}
SMALL["strengths"] = UNMIXED
TINY: dict[str, Any] = {**SMALL, "methods": ["uniform"], "strengths": {**UNMIXED, "uniform": [0.1, 0.3]}}


class Here(executors.Processes):
    """Workers that are this process, for commands, which ask for processes: to start one takes seconds."""

    def run(self, work: Any, tasks: Any) -> Iterator[tuple[int, Any]]:
        yield from executors.InProcess().run(work, tasks)


def write_table(path: Path, names: list[str], rows: int = 180, patients: int | None = None) -> Path:
    """Write a CSV file whose classes lie along a line, each spreading into its neighbours; rows of a patient agree."""
    chance = random.Random(0)
    quoted = [f'"{name}"' for name in names]
    lines = ["a,b,label" if patients is None else "a,b,label,patient"]
    for number in range(rows):
        place = number % len(names)
        values = f"{place + chance.gauss(0, 0.7):.4f},{chance.gauss(0, 1):.4f},{quoted[place]}"
        lines.append(values if patients is None else f"{values},p{number // len(names) % patients}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def single(found: Any) -> list[dict[str, Any]]:
    """Return the rows of a comparison whose runs are models of their own: all but those of several as one."""
    return [row for row in found.content["rows"] if row["role"] != "ensemble"]

"""The model to take home: chosen on validation data, the reference not excluded."""

from collections.abc import Sequence
from pathlib import Path

from labelspace.comparison.rows import Judged
from labelspace.comparison.training import Trained
from labelspace.results import Result
from labelspace.serving.take_home import take_home


def choose(trained: Sequence[Trained], rows: Sequence[Judged]) -> tuple[int, int]:
    """Return the row, and of its seeds the one, of least validation cost; controls are no candidates."""
    candidates = [number for number, row in enumerate(rows) if row.role != "control"]
    best = min(candidates, key=lambda number: rows[number].validation_cost)
    costs = trained[best].outcome.validation_costs
    return best, min(range(len(costs)), key=costs.__getitem__)


def take_best_home(folder: Path, trained: Trained, seed: int, result: Result) -> None:
    """Write ``best/``: the run, how it decides, and a model card."""
    take_home(trained.runs[seed], trained.outcome.deciders[seed], folder / "best", result)

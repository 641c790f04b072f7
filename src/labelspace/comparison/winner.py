"""The model to take home: chosen on validation data, the reference not excluded."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labelspace.comparison.outcome import Outcome
from labelspace.comparison.rows import Row
from labelspace.comparison.training import Trained
from labelspace.decisions.decision import Decision
from labelspace.serving.card import Choice
from labelspace.serving.take_home import take_home


def choose(trained: Sequence[Trained], rows: Sequence[Row]) -> tuple[int, int]:
    """Return the row, and of its seeds the one, of least validation cost; controls are no candidates."""
    candidates = [number for number, row in enumerate(rows) if row.role != "control"]
    best = min(candidates, key=lambda number: rows[number].validation_cost)
    outcome = trained[best].outcome
    costs = [Outcome([scores], outcome.judge, outcome.targets).validation_cost for scores in outcome.scores]
    return best, min(range(len(costs)), key=costs.__getitem__)


def take_best_home(folder: Path, trained: Trained, seed: int, content: dict[str, Any]) -> None:
    """Write ``best/``: the run, how it decides, and a model card."""
    run, outcome = trained.runs[seed], trained.outcome
    judge = outcome.judge
    decision = Decision(
        rule=judge.rule,
        temperature=outcome.temperatures[seed],
        cost=judge.cost.tolist() if judge.priced else None,
        names=run.preprocessing["names"],
        targets=outcome.targets,
    )
    take_home(run, decision, folder / "best", Choice.of(content))

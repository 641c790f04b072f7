"""Learning curves, one per seed and their mean, thin enough for a page."""

from typing import Any

from labelspace.report.packing import numbers
from labelspace.report.reading import Material, Row

POINTS = 100
TITLES = {
    "validation_accuracy": "validation accuracy ↑",
    "validation_nll": "validation loss (NLL) ↓",
    "train_loss": "training loss ↓ (each method its own)",
}
NOT_DRAWN = {"epoch", "learning_rate"}


def learning_curves(material: Material) -> dict[str, Any] | None:
    """Return the curves of all rows, or None where no run has any."""
    histories = [(row, [lines for run in row.runs if (lines := run.epochs())]) for row in material.rows]
    histories = [(row, seeds) for row, seeds in histories if seeds]
    found = {key for _, seeds in histories for lines in seeds for line in lines for key in line} - NOT_DRAWN
    if not found:
        return None
    keys = [key for key in TITLES if key in found] + sorted(found - set(TITLES))
    return {
        "measures": [{"key": key, "title": TITLES.get(key, key.replace("_", " "))} for key in keys],
        "rows": [_curve(row, seeds, keys) for row, seeds in histories],
    }


def _curve(row: Row, seeds: list[list[dict[str, Any]]], keys: list[str]) -> dict[str, Any]:
    longest = max(map(len, seeds))
    places = sorted({round(step * (longest - 1) / (POINTS - 1)) for step in range(POINTS)})
    drawn = {key: [[_at(lines, place, key) for place in places] for lines in seeds] for key in keys}
    return {
        "label": row.label,
        "role": row.role,
        "winner": row.winner,
        "epochs": [place + 1 for place in places],
        "seeds": {key: [numbers(line) for line in lines] for key, lines in drawn.items()},
        "mean": {key: numbers([_mean(column) for column in zip(*lines, strict=True)]) for key, lines in drawn.items()},
    }


def _at(lines: list[dict[str, Any]], place: int, key: str) -> float:
    """Return a number of an epoch; NaN where the run had stopped, or did not record it."""
    value = lines[place].get(key) if place < len(lines) else None
    return float(value) if isinstance(value, int | float) else float("nan")


def _mean(values: tuple[float, ...]) -> float:
    present = [value for value in values if value == value]
    return sum(present) / len(present) if present else float("nan")

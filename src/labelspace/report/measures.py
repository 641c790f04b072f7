"""What runs show: mistakes, honest confidence, what deciding less saves, and learning curves thin enough for a page."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from labelspace import decisions, metrics
from labelspace.compressed import fits
from labelspace.decisions.decision import Decision
from labelspace.report.document import Figure, Room, figure, numbers
from labelspace.report.reading import Drawn, Material, StoredRun, mean, row_facts
from labelspace.results import Options
from labelspace.spec.actions import capacity_of

BINS = 15  # as in the calibration error
POINTS = 60  # of a risk–coverage curve
EPOCHS = 100  # points of a learning curve
TITLES = {
    "validation_accuracy": "validation accuracy ↑",
    "validation_nll": "validation loss (NLL) ↓",
    "train_loss": "training loss ↓ (each method its own)",
}
NOT_DRAWN = {"epoch", "learning_rate"}
Epochs = list[dict[str, float]]


@dataclass(frozen=True, eq=False)
class Measured:
    """What the test scores of one row show, over its seeds: mean counts, and curves as plain data."""

    confusion: Tensor
    reliability: Figure
    risk: Figure


def decision_of(
    material: Material,
    row: Drawn,
    run: StoredRun,
    temperature: float | None,
    strength: float | None,
    calibration: Options | None = None,
) -> Decision:
    """Return how a run decided when it was judged.

    Args:
        material: the prices and the rule.
        row: whether its probabilities had a known smoothing undone.
        run: its label space is what was undone.
        temperature: what was recorded; None where nothing was, it is then fitted again.
        strength: the smoothing that the run was trained with.
        calibration: what was recorded beside the temperature.
    """
    space = run.space() if row.row is not None and row.row.inverted and strength is not None else None
    targets = None if space is None or strength is None else space.relations().targets(strength)
    known = _fitted(run, targets) if temperature is None else temperature
    prices = material.cost if material.rule == "min_cost" else None
    rule = "argmax" if prices is None else "min_cost"
    found = Decision(rule, known, prices, material.names, targets=targets, calibration=calibration)
    capacity, scores = capacity_of(prices), run.scores()
    if capacity is None or not len(scores.get("validation_y", ())):
        return found
    return found.with_capacity(scores["validation_scores"], capacity, weights=scores.get("validation_factors"))


def judged_by(material: Material, row: Drawn, place: int) -> Decision:
    """Return how a run of a row decided when it was judged.

    Args:
        material: the prices and the rule.
        row: the row.
        place: of the run in it.
    """
    strength = None if row.strength is None else row.strength.value
    return decision_of(material, row, row.runs[place], row.temperatures[place], strength, row.calibration(place))


def _fitted(run: StoredRun, targets: Tensor | None) -> float:
    scores = run.scores()
    if targets is None or not len(scores.get("validation_y", ())):
        return run.fitted
    logits = decisions.inverted_logits(scores["validation_scores"], targets)
    return decisions.Temperature().fit(logits, scores["validation_y"]).value


def measured(material: Material, row: Drawn) -> Measured | None:
    """Return what a row's test scores show; None where there are none."""
    parts = [
        _one(judged_by(material, row, place), scores["test_scores"], scores["test_y"], scores.get("test_factors"))
        for place, run in enumerate(row.runs)
        if len((scores := run.scores()).get("test_y", ()))
    ]
    if not parts:
        return None
    confusions, bins, risks = zip(*parts, strict=True)
    return Measured(mean(confusions), _reliability(bins), _risk(risks))


def measured_rows(material: Material) -> dict[str, Measured]:
    """Return what the test scores of every row show, by label, where there are any."""
    return {row.label: part for row in material.rows if (part := measured(material, row)) is not None}


@figure("honesty", 6)
def honesty(material: Material, room: Room) -> Figure | None:
    """Return reliability and risk–coverage of every row with test scores."""
    parts = material.once(measured_rows)
    rows = [
        {**row_facts(row), "reliability": parts[row.label].reliability, "risk": parts[row.label].risk}
        for row in material.rows
        if row.label in parts
    ]
    facts = {"reference": material.reference.label, "priced": material.cost is not None}
    return {**facts, "rows": rows} if rows else None


def _one(decision: Decision, scores: Tensor, y: Tensor, factors: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    judged = decision.judge(scores, y, weights=factors)
    # how surely: the expected cost of what is decided, which without prices is the chance of being wrong
    curve = metrics.risk_coverage_curve(-judged.expected, judged.costs.to(judged.expected.dtype))
    classes = len(decision.names)
    # more classes are not drawn as a matrix either
    counts = confusion_of(judged.classes, y, classes) if fits(classes) else torch.zeros(0, 0)
    return counts, _bins(judged.probabilities, y), _thinned(curve.coverage, curve.risk)


def _bins(probabilities: Tensor, y: Tensor) -> Tensor:
    """Return how many samples, how much confidence and how many hits fall into each bin of confidence."""
    confidence, predicted = probabilities.double().max(dim=1)
    place = torch.bucketize(confidence, torch.linspace(0, 1, BINS + 1, dtype=torch.float64)[1:-1])
    columns = torch.stack([torch.ones_like(confidence), confidence, (predicted == y).double()], dim=1)
    return torch.zeros(BINS, 3, dtype=torch.float64).index_add_(0, place, columns)


def _thinned(coverage: Tensor, risk: Tensor) -> Tensor:
    """Return the risk at evenly spaced coverages, the last being everything."""
    wanted = torch.linspace(1 / POINTS, 1, POINTS, dtype=torch.float64)
    return risk[torch.searchsorted(coverage, wanted - 1e-9).clamp_max(len(risk) - 1)]


def _reliability(bins: Sequence[Tensor]) -> Figure:
    total = torch.stack(list(bins)).sum(dim=0)
    used = total[total[:, 0] > 0]
    return {
        "confidence": numbers(used[:, 1] / used[:, 0]),
        "accuracy": numbers(used[:, 2] / used[:, 0]),
        "share": numbers(used[:, 0] / total[:, 0].sum(), 3),
    }


def _risk(risks: Sequence[Tensor]) -> Figure:
    return {"coverage": numbers(torch.linspace(1 / POINTS, 1, POINTS), 3), "risk": numbers(mean(risks))}


def validation_confusion(run: StoredRun, decision: Decision) -> Tensor | None:
    """Return the counts on validation data under the headline's rule, None where there are no scores."""
    stored = run.scores()
    if not len(stored.get("validation_y", ())):
        return None
    called = decision.decide(stored["validation_scores"], weights=stored.get("validation_factors")).classes
    return confusion_of(called, stored["validation_y"], len(decision.names))


def confusion_of(called: Tensor, y: Tensor, classes: int) -> Tensor:
    """Return counts ``(K, K)`` of what is called what; samples about which something else is done are left out.

    Args:
        called: the classes, −1 where what is done is none.
        y: the true classes.
        classes: how many there are.
    """
    if not bool((called >= 0).any()):
        return torch.zeros(classes, classes, dtype=torch.float64)
    return metrics.confusion_counts(called[called >= 0], y[called >= 0], classes).double()


@figure("curves", 1, sequences=True)
def learning_curves(material: Material, room: Room) -> Figure | None:
    """Return the curves of all rows, or None where no run has any."""
    # what is fitted at once, as rivals are, has no epochs to draw
    trained = [row for row in material.rows if row.role != "rival"]
    histories = [(row, [lines for run in row.runs if (lines := run.epochs())]) for row in trained]
    histories = [(row, seeds) for row, seeds in histories if seeds]
    found = {key for _, seeds in histories for lines in seeds for line in lines for key in line} - NOT_DRAWN
    if not found:
        return None
    keys = [key for key in TITLES if key in found] + sorted(found - set(TITLES))
    return {
        "measures": [{"key": key, "title": TITLES.get(key, key.replace("_", " "))} for key in keys],
        "rows": [_learning_curve(row, seeds, keys) for row, seeds in histories],
    }


def _learning_curve(row: Drawn, seeds: list[Epochs], keys: list[str]) -> Figure:
    longest = max(map(len, seeds))
    places = sorted({round(step * (longest - 1) / (EPOCHS - 1)) for step in range(EPOCHS)})
    drawn = {key: [[_at(lines, place, key) for place in places] for lines in seeds] for key in keys}
    return {
        **row_facts(row),
        "epochs": [place + 1 for place in places],
        "seeds": {key: [numbers(line) for line in lines] for key, lines in drawn.items()},
        "mean": {
            key: numbers([_present_mean(column) for column in zip(*lines, strict=True)]) for key, lines in drawn.items()
        },
    }


def _at(lines: Epochs, place: int, key: str) -> float:
    """Return a number of an epoch; NaN where the run had stopped, or did not record it."""
    value = lines[place].get(key) if place < len(lines) else None
    return float(value) if isinstance(value, int | float) else float("nan")


def _present_mean(values: tuple[float, ...]) -> float:
    present = [value for value in values if value == value]
    return sum(present) / len(present) if present else float("nan")

"""What scores show: who is mistaken for whom, whether confidence is honest, and what deciding less saves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from labelspace import decide, metrics
from labelspace.compressed import fits
from labelspace.report.packing import numbers
from labelspace.report.reading import Material, Row, StoredRun, mean

BINS = 15  # as in the calibration error
POINTS = 60  # of a risk–coverage curve
VALIDATED = 4000  # samples enough to see how mistakes move with strength


@dataclass(frozen=True, eq=False)
class Measured:
    """What the test scores of one row show, over its seeds: mean counts, and curves as plain data."""

    confusion: Tensor
    reliability: dict[str, Any]
    risk: dict[str, Any]


def measured(material: Material, row: Row) -> Measured | None:
    """Return what a row's test scores show; None where there are none."""
    parts = [
        _one(material, _logits(row, run, scores["test_scores"]), scores["test_y"], temperature)
        for run, temperature in zip(row.runs, row.temperatures, strict=True)
        if len((scores := run.scores()).get("test_y", ()))
    ]
    if not parts:
        return None
    confusions, bins, risks = zip(*parts, strict=True)
    return Measured(mean(confusions), _reliability(bins), _risk(risks))


def _logits(row: Row, run: StoredRun, scores: Tensor) -> Tensor:
    """Return scores whose softmax is judged: with a known smoothing undone, where the comparison did so."""
    space = run.space() if row.facts.get("inverted") else None
    if space is None:
        return scores
    return decide.inverted_logits(scores, space.relations().targets(row.facts["strength"]["value"]))


def _one(material: Material, scores: Tensor, y: Tensor, temperature: float) -> tuple[Tensor, Tensor, Tensor]:
    probabilities = decide.Temperature(temperature)(scores)
    decisions, confidence, risk = _decided(material, probabilities, y)
    curve = metrics.risk_coverage_curve(confidence, risk)
    classes = len(material.names)
    # more classes are not drawn as a matrix either
    counts = metrics.confusion(decisions, y, classes).double() if fits(classes) else torch.zeros(0, 0)
    return counts, _bins(probabilities, y), _thinned(curve.coverage, curve.risk)


def _decided(material: Material, probabilities: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return what is decided under the headline's rule, how surely, and what each decision costs."""
    decisions = probabilities.argmax(dim=1)
    if material.cost is None:
        return decisions, probabilities.amax(dim=1), (decisions != y).double()
    prices = material.cost.matrix.to(probabilities.dtype)
    if material.rule == "min_cost":
        decisions = decide.min_cost(probabilities, prices)
    expected = (probabilities * prices.T[decisions]).sum(dim=1)
    return decisions, -expected, prices[y, decisions]


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


def _reliability(bins: Sequence[Tensor]) -> dict[str, Any]:
    total = torch.stack(list(bins)).sum(dim=0)
    used = total[total[:, 0] > 0]
    return {
        "confidence": numbers(used[:, 1] / used[:, 0]),
        "accuracy": numbers(used[:, 2] / used[:, 0]),
        "share": numbers(used[:, 0] / total[:, 0].sum(), 3),
    }


def _risk(risks: Sequence[Tensor]) -> dict[str, Any]:
    return {"coverage": numbers(torch.linspace(1 / POINTS, 1, POINTS), 3), "risk": numbers(mean(risks))}


def validation_confusion(material: Material, run: StoredRun) -> Tensor | None:
    """Return the counts on validation data under the headline's rule, None where there are no scores."""
    stored = run.scores()
    if not len(stored.get("validation_y", ())):
        return None
    step = -(-len(stored["validation_y"]) // VALIDATED)
    scores, y = stored["validation_scores"][::step], stored["validation_y"][::step]
    # temperature changes no argmax
    temperature = run.fitted if material.rule == "min_cost" else 1.0
    decisions, _, _ = _decided(material, decide.Temperature(temperature)(scores), y)
    return metrics.confusion(decisions, y, len(material.names)).double()

"""Other prices: what the page needs to decide anew, the probabilities of the best model and of the reference."""

import torch
from torch import Tensor

from labelspace.decisions.decision import Decision
from labelspace.report.document import Figure, Room, figure, numbers, pack
from labelspace.report.measures import judged_by
from labelspace.report.reading import Drawn, Material, StoredRun
from labelspace.spec.actions import actions_of

SAMPLES = 4000  # test samples at most, spread evenly over the test part
ENTRIES = 120_000  # probabilities of a model at most
CLASSES = 400  # above which a browser would be slow, and the prices alone large
EXACT = 64  # classes up to which prices are written out


@figure("whatif", 0)
def what_if(material: Material, room: Room) -> Figure | None:
    """Return labels, prices and probabilities of test samples; nothing where there are too many classes."""
    classes = len(material.names)
    if not 2 <= classes <= CLASSES or (material.cost is not None and actions_of(material.cost) is not None):
        return None  # the page knows prices of mistakes, not of actions
    models = [(row, run) for row, run in _models(material) if len(run.scores().get("test_y", ()))]
    if not models or any("test_factors" in run.scores() for _, run in models):
        return None  # nor does it know what the prices of each sample are multiplied by
    y = models[0][1].scores()["test_y"]
    taken = _spread(len(y), classes)
    rows = [
        {"label": row.label, "probabilities": pack(_chances(material, row, run)[taken], wide=True)}
        for row, run in models
        if torch.equal(run.scores()["test_y"], y)
    ]
    facts = {"samples": len(y), "start": _dearest(material, *models[0])}
    found: Figure = {"y": y[taken].tolist(), **facts, "prices": _prices(material), "rows": rows}
    return found if room.keeps(found) else None


def _decision(material: Material, row: Drawn, run: StoredRun) -> Decision:
    return judged_by(material, row, row.runs.index(run))


def _chances(material: Material, row: Drawn, run: StoredRun) -> Tensor:
    """Return the probabilities that a model decides by, after temperature."""
    return _decision(material, row, run).probabilities(run.scores()["test_scores"])


def _dearest(material: Material, row: Drawn, run: StoredRun) -> int:
    """Return the true class whose mistakes cost most: what a reader may want to change first."""
    scores = run.scores()
    costs = _decision(material, row, run).judge(scores["test_scores"], scores["test_y"]).costs
    total = torch.zeros(len(material.names), dtype=torch.float64)
    return int(total.index_add_(0, scores["test_y"].long(), costs.double()).argmax())


def _models(material: Material) -> list[tuple[Drawn, StoredRun]]:
    """Return the best model and the reference's of the same seed, as far as they are on disk.

    Of several models that are one it is the first of them.
    """
    label, kept = (None, None) if material.best is None else (material.best.label, material.best.run)
    of_first = [row for row in material.rows if kept in [run.folder.path.name for run in row.runs]]
    best = next((row for row in material.rows if row.label == label), (*of_first, material.reference)[0])
    names = [run.folder.path.name for run in best.runs]
    seed = names.index(kept) if kept in names else 0
    rows = [best] if best is material.reference else [best, material.reference]
    return [(row, row.runs[min(seed, len(row.runs) - 1)]) for row in rows if row.runs]


def _spread(samples: int, classes: int) -> Tensor:
    count = min(samples, SAMPLES, max(ENTRIES // classes, 1))
    return torch.linspace(0, samples - 1, count, dtype=torch.float64).round().long()


def _prices(material: Material) -> list[list[float | None]] | Figure:
    """Return what mistakes cost: written out, or packed where classes are many; 1 where nothing else is said."""
    classes = len(material.names)
    given = 1 - torch.eye(classes, dtype=torch.float64) if material.cost is None else material.cost.matrix.double()
    return [numbers(row, 8) for row in given] if classes <= EXACT else pack(given, wide=True)

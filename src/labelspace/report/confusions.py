"""Who is mistaken for whom: with the chosen strength on test data, and with every strength tried on validation data."""

import torch
from torch import Tensor

from labelspace.compressed import fits
from labelspace.report.document import Figure, Room, figure, rounded
from labelspace.report.layouts import Layout, layout_of
from labelspace.report.measures import Measured, decision_of, judged_by, measured_rows, validation_confusion
from labelspace.report.reading import Drawn, Material
from labelspace.results import Row, Trial


@figure("confusions", 7)
def confusions(material: Material, room: Room) -> Figure | None:
    """Return confusion matrices on test data, one per row, in an order that keeps related classes together."""
    if not fits(len(material.names)):
        room.refused += 1
        return None
    found = material.once(measured_rows)
    if not found or len(material.names) < 2:
        return None
    layout = _shared_layout(material, found)
    reference = material.reference.label if material.reference.label in found else next(iter(found))
    # the reference first: the page shows every other matrix beside it
    labels = sorted(found, key=lambda label: (label != reference, label not in _winners(material)))
    test = {}
    for label in labels:
        matrix = layout.count(found[label].confusion)
        if room.keeps(matrix):
            test[label] = matrix
    if reference not in test:
        return None
    return {"layout": layout.plain(), "reference": reference, "test": test, **_over_strength(material, layout, room)}


def _winners(material: Material) -> set[str]:
    return {row.label for row in material.rows if row.winner}


def _shared_layout(material: Material, found: dict[str, Measured]) -> Layout:
    known = material.space or material.cost
    if known is not None:
        return layout_of(known.distances(), material.space)
    counts = mistakes(found.get(material.reference.label, next(iter(found.values()))).confusion).nan_to_num(nan=0.0)
    shared = counts + counts.T
    return layout_of((shared.max() - shared).fill_diagonal_(0))


def mistakes(counts: Tensor) -> Tensor:
    """Return the share of each true class that is called each other class; the diagonal is left out.

    Example:
        >>> mistakes(torch.tensor([[3.0, 1.0], [0.0, 5.0]]))
        tensor([[   nan, 0.2500],
                [0.0000,    nan]])
    """
    shares = counts / counts.sum(dim=1, keepdim=True).clamp_min(1e-12)
    return shares.fill_diagonal_(torch.nan)


def _over_strength(material: Material, layout: Layout, room: Room) -> Figure:
    """Return the validation confusions of all trials, beside that of the reference."""
    reference = _reference(material)
    if reference is None:
        return {"validation": None}
    base = layout.count(reference)
    rows = {}
    for row in material.rows:
        if row.role == "method" and len(row.trials) > 1:
            trials = [_trial(material, layout, row, trial) for trial in row.trials]
            if None not in trials and room.keeps(trials):
                rows[row.label] = trials
    return {"validation": {"reference": base, "rows": rows} if rows else None}


def _reference(material: Material) -> Tensor | None:
    row = material.reference
    if not row.runs:
        return None
    return validation_confusion(row.runs[0], judged_by(material, row, 0))


def _trial(material: Material, layout: Layout, row: Drawn, trial: Trial) -> Figure | None:
    counts = drawn_trial(material, row, trial)
    return None if counts is None else {"value": trial.value, "matrix": layout.count(counts)}


def drawn_trial(material: Material, row: Drawn, trial: Trial) -> Tensor | None:
    """Return the counts on validation data of one strength's first run, decided as when it was judged."""
    run = material.runs.get(trial.run or "")
    if run is None:
        return None
    decision = decision_of(material, row, run, trial.temperature, trial.value, trial.calibration)
    return validation_confusion(run, decision)


@figure("strengths", 5, sequences=True)
def strengths(material: Material, room: Room) -> Figure | None:
    """Return the validation cost, or measure, over the strengths tried, for every row that tried several."""
    rows = [_strength(row) for row in material.rows if len(row.trials) > 1]
    if not rows:
        return None
    reference = material.reference
    return {
        "reference": {"label": reference.label, "cost": rounded(None if reference.row is None else _on(reference.row))},
        "rows": rows,
    }


def _on(judged: Row | Trial) -> float | None:
    """Return what was found on validation data: the cost, of sequences the measure."""
    return judged.validation_cost if judged.validation_quality is None else judged.validation_quality


def _strength(row: Drawn) -> Figure:
    strength = row.strength
    return {
        "label": row.label,
        "role": row.role,
        "of": row.of,
        "symbol": "" if strength is None else strength.symbol,
        "name": "strength" if strength is None else strength.name,
        "chosen": None if strength is None else rounded(strength.value),
        "values": [rounded(trial.value) for trial in row.trials],
        "costs": [rounded(_on(trial), 4) for trial in row.trials],
    }

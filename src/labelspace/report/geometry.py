"""How a model's features lie: distances between classes beside those of its targets, and samples on a plane."""

from typing import Any

import torch
from torch import Tensor

from labelspace import analysis
from labelspace.report.layouts import MOST, layout_of
from labelspace.report.packing import pack, rounded
from labelspace.report.reading import Material
from labelspace.report.room import Room

POINTS = 2000


def distances(material: Material, room: Room) -> list[dict[str, Any]]:
    """Return, for every row with features, their distances between classes and those of its targets, in one order."""
    found = []
    rows = sorted(material.rows, key=lambda row: (row.role != "reference", not row.winner, row.role == "control"))
    for row in rows:
        between = material.geometry.get(f"naa/{row.label}")
        if between is None or len(between) < 2:
            continue
        layout = layout_of(between)
        target = material.geometry.get(f"target/{row.label}")
        picture = {
            "label": row.label,
            "layout": layout.plain(),
            "features": layout.arrange(between),
            "target": None if target is None else layout.arrange(target),
            "agreement": None if target is None else _agreement(between, target),
        }
        if room.keeps(picture):
            found.append(picture)
    return found


def _agreement(between: Tensor, target: Tensor) -> float | None:
    """Return the mean rank correlation over classes; None where one side knows no order, or it would take long."""
    if not 3 <= len(target) <= MOST:
        return None
    outside = ~torch.eye(len(target), dtype=torch.bool)
    sides = (between[outside], target[outside])
    if not all(bool(side.isfinite().all()) and bool(side.max() > side.min()) for side in sides):
        return None
    return rounded(analysis.kendall(between.double(), target.double(), permutations=1).tau, 3)


def projections(material: Material, room: Room) -> dict[str, Any] | None:
    """Return the samples of every row on a plane, and the class of each sample."""
    y = material.geometry.get("projection_y")
    if y is None or not len(y):
        return None
    step = -(-len(y) // POINTS)
    rows = []
    for row in material.rows:
        points = material.geometry.get(f"projection/{row.label}")
        if points is not None and len(points) == len(y):
            # two bytes per number: one would draw the points on a grid
            drawn = {
                "label": row.label,
                "role": row.role,
                "winner": row.winner,
                "points": pack(points[::step], wide=True),
            }
            if room.keeps(drawn):
                rows.append(drawn)
    return {"y": y[::step].tolist(), "rows": rows} if rows else None

"""How classes lie: label spaces as heat maps and as targets, distances of features beside them, samples on a plane."""

import torch
from torch import Tensor

from labelspace import analysis
from labelspace.compressed import fits
from labelspace.report.document import Figure, Room, figure, numbers, pack, rounded
from labelspace.report.layouts import MOST, layout_of
from labelspace.report.reading import Material, row_facts
from labelspace.space import LabelSpace
from labelspace.spec.named import order_of

POINTS = 2000  # samples on a plane
ALL = 40  # classes up to which every class of a target has its bar
NEAREST = 15
MEANING = {
    "relations": ("weight", "the share of its soft mass that the class of a row gives to the class of a column"),
    "cosine": ("cosine", "the cosine of the vectors of two classes"),
    "cos2": ("squared cosine", "the squared cosine of the vectors of two classes"),
    "euclidean": ("distance", "the Euclidean distance between the vectors of two classes"),
    "cost": ("price", "what it costs to call the class of a row the class of a column"),
}


def distinct_spaces(material: Material) -> list[tuple[str, LabelSpace]]:
    """Return the built and learned spaces worth looking at, with a title each.

    A space in which all other classes are alike, as in one-hot and uniform labels, shows nothing; one that several
    rows share is shown once. Of learned spaces it is the first seed's. Of too many classes there is no picture.
    """
    if not fits(len(material.names)):
        return []
    given = [] if material.space is None else [("given", material.space)]
    rows = sorted(material.rows, key=lambda row: row.role == "control")
    found = [(row.label, space) for row in rows if row.runs and (space := row.runs[0].space()) is not None]
    prices = [] if material.cost is None else [("prices", material.cost)]
    kept: dict[bytes, tuple[list[str], LabelSpace]] = {}
    for title, space in given + found + prices:
        if _structured(space):
            key = space.kind.encode() + (space.matrix * 1e5).round().numpy().tobytes()
            kept.setdefault(key, ([], space))[0].append(title)
    return [(" · ".join(titles), space) for titles, space in kept.values()]


def _structured(space: LabelSpace) -> bool:
    shown = _shown(space)
    outside = shown[~torch.eye(len(shown), dtype=torch.bool)]
    return len(shown) > 2 and bool(outside.max() - outside.min() > 1e-6)


def _shown(space: LabelSpace) -> Tensor:
    """Return the entries of relations and prices; of vectors what they are compared by."""
    if space.metric is None:
        return space.matrix.double()
    between = space.distances().double()
    return between if space.metric == "euclidean" else 1 - between


@figure("spaces", 2)
def drawn_spaces(material: Material, room: Room) -> list[Figure]:
    """Return a heat map with its tree for every distinct space that fits."""
    room.refused += 0 if fits(len(material.names)) else 1
    return space_pictures(material.once(distinct_spaces), room, material.space)


def space_pictures(spaces: list[tuple[str, LabelSpace]], room: Room, known: LabelSpace | None = None) -> list[Figure]:
    """Return a heat map with its tree for every space that fits; groups are called by what is known of the classes."""
    pictures: list[Figure] = []
    for title, space in spaces:
        layout = layout_of(space.distances(), known or space)
        unit, meaning = MEANING[space.metric or space.kind]
        matrix = layout.arrange(_shown(space), mass=space.kind == "relations")
        facts = {"title": title, "unit": unit, "meaning": meaning, "builder": str(space.source.get("builder", ""))}
        picture: Figure = {**facts, "kind": space.kind, "layout": layout.plain(), "matrix": matrix}
        if room.keeps(picture):
            pictures.append(picture)
    return pictures


@figure("targets", 3)
def targets(material: Material, room: Room) -> Figure | None:
    """Return what the classes are taught in every distinct space, and the strength to start with."""
    rows = _targets(material.once(distinct_spaces), room)
    return {"rows": rows, "start": _start(material)} if rows else None


def _start(material: Material) -> float:
    """Return where the slider starts: the winner's strength if it is a smoothing."""
    for row in material.rows:
        if row.winner and row.strength is not None and row.strength.symbol == "σ":
            return min(max(row.strength.value, 0.0), 1.0)
    return 0.3


def _targets(spaces: list[tuple[str, LabelSpace]], room: Room) -> list[Figure]:
    """Return for every class what its relatives get, so that the page can draw ``(1−σ)·I + σ·A``.

    With many classes only the nearest relatives are kept; the page shows the others as one bar.
    """
    # where there are prices and a space, the prices are not what anyone trains on
    trained = [(title, space) for title, space in spaces if space.kind != "cost"] or spaces
    few = all(len(space) <= MOST for _, space in trained)
    found: list[Figure] = []
    for title, space in trained if few else trained[:2]:
        relations = space.relations().matrix.double()
        own = relations.diagonal().clone()
        others = relations.clone().fill_diagonal_(0)
        kept = len(space) if len(space) <= ALL else NEAREST
        weights, classes = others.sort(dim=1, descending=True, stable=True)
        rows = {"classes": classes[:, :kept].tolist(), "weights": [numbers(row) for row in weights[:, :kept]]}
        target: Figure = {"title": title, "own": numbers(own), **rows}
        if room.keeps(target):
            found.append(target)
    return found


@figure("distances", 8)
def distances(material: Material, room: Room) -> list[Figure]:
    """Return, for every row with features, their distances between classes and those of its targets, in one order."""
    if not fits(len(material.names)):
        return []
    found: list[Figure] = []
    rows = sorted(material.rows, key=lambda row: (row.role != "reference", not row.winner, row.role == "control"))
    for row in rows:
        between = material.geometry.get(f"naa/{row.label}")
        if between is None or len(between) < 2:
            continue
        layout = layout_of(between, material.space)
        target = material.geometry.get(f"target/{row.label}")
        picture: Figure = {
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


@figure("projections", 4)
def projections(material: Material, room: Room) -> Figure | None:
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
            drawn = {**row_facts(row), "points": pack(points[::step], wide=True)}
            if room.keeps(drawn):
                rows.append(drawn)
    return {"y": y[::step].tolist(), "rows": rows, "ranks": _ranks(material)} if rows else None


def _ranks(material: Material) -> list[int] | None:
    """Return the place of each class in their order, where they have one."""
    order = order_of(material.space)
    return None if order is None else [order.index(name) for name in material.names]

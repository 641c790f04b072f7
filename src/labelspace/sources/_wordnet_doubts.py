"""Which senses of WordNet are doubtful, by a rule that looks at the other classes."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from labelspace.sources._wordnet_graph import NounGraph
from labelspace.sources._wordnet_names import Reading, other_part

NEAREST = 3  # other classes that a sense is measured by
AT_ONCE = 2_000  # senses measured at a time: those of many classes have a long row each
SETTLED = ("id", "given", "given, another word's")


class Doubt(NamedTuple):
    """Why a sense is doubtful, and the sense that may be meant instead, if one is known."""

    why: str
    rather: str | None = None


def doubts(graph: NounGraph, readings: Mapping[str, Reading | None]) -> dict[str, Doubt]:
    """Return the classes whose sense is doubtful; one that was given, or is named by its id, never is.

    A sense is doubtful where there is none; where only a part of the name (with another part that means something
    else) or its last words are a noun; and where the name has another sense that is as near to the other classes or
    nearer: by the mean number of steps to the three nearest of them, all taken in their own chosen senses.
    """
    nearer = _nearer(graph, readings)
    found: dict[str, Doubt] = {}
    for name, reading in readings.items():
        if reading is None:
            found[name] = Doubt("no noun of WordNet: it has no relatives")
        elif reading.how == "head word":
            found[name] = Doubt("only its last words are a noun")
        elif reading.how == "part" and (other := other_part(graph, name, reading.synsets[0])) is not None:
            found[name] = Doubt(f"only a part of the name is meant: {other!r} is something else")
        elif name in nearer:
            found[name] = nearer[name]
    return found


def _nearer(graph: NounGraph, readings: Mapping[str, Reading | None]) -> dict[str, Doubt]:
    classes = list(readings.items())
    columns = [None if reading is None else reading.synsets[0] for _, reading in classes]
    asked = [
        (place, synset)
        for place, (_, reading) in enumerate(classes)
        if reading is not None and reading.how not in SETTLED and len(reading.synsets) > 1
        for synset in reading.synsets
    ]
    far: dict[int, list[tuple[float, int]]] = {}
    for start in range(0, len(asked), AT_ONCE):
        part = asked[start : start + AT_ONCE]
        for (place, synset), distance in zip(part, _distances(graph, part, columns), strict=True):
            far.setdefault(place, []).append((distance, synset))
    found = {}
    for place, measured in far.items():
        (own, _), *others = measured
        best, synset = min(others, key=lambda each: each[0])
        if best <= own:
            how = "nearer to" if best < own else "as near to"
            title = graph.synset_name(synset)
            found[classes[place][0]] = Doubt(f"{title} ({graph.meaning(synset)}) is {how} the other classes", title)
    return found


def _distances(graph: NounGraph, asked: Sequence[tuple[int, int]], columns: Sequence[int | None]) -> list[float]:
    """Return for every sense of a class the mean steps to the nearest other classes; infinite without any."""
    steps = graph.steps([synset for _, synset in asked], columns).astype(np.float64)
    steps[steps < 0] = np.inf
    steps[np.arange(len(asked)), [place for place, _ in asked]] = np.inf
    nearest = np.sort(np.partition(steps, min(NEAREST, steps.shape[1]) - 1, axis=1)[:, :NEAREST], axis=1)
    reached = np.isfinite(nearest)
    total = np.where(reached, nearest, 0.0).sum(axis=1)
    means = np.where(reached.any(axis=1), total / np.maximum(reached.sum(axis=1), 1), np.inf)
    return [float(mean) for mean in means]

"""The parts of a result that only sequences have: what texts are judged by, and some of them to look at."""

from labelspace.results.parts import Listed, Part


class Measure(Part):
    """What texts are judged by, where the comparison is not about costs; more of it is better.

    Args:
        key: its name among the numbers of a run.
        title: as people write it.
        signature: how exactly it was computed, so that others can compute the same.
        unit: of differences.
        search: how the texts were looked for.
    """

    key: str
    title: str
    signature: str = ""
    unit: str = "points"
    search: str = ""


class Quality(Part):
    """The measure on test data, mean over seeds, and its interval over seeds and texts."""

    value: float
    low: float | None = None
    high: float | None = None


class Translation(Part):
    """A source of the test part, its answer, and what the first seed of every row made of it, in the rows' order."""

    source: str
    answer: str
    rows: Listed[str]


class Neighbours(Part):
    """A label and the ones nearest to it, the nearest first."""

    name: str
    nearest: Listed[str]


class Neighbourhood(Part):
    """Frequent labels with the ones nearest to them, in the label space that a row's first seed learned."""

    label: str
    rows: Listed[Neighbours]

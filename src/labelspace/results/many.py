"""What many comparisons found together, one for each dataset: who wins, by how much, and what following them costs."""

from labelspace.results.parts import Kind, Listed, Part, Role, Unit


class Mean(Part):
    """A mean of relative changes over datasets: of the logarithms of ratios, so that halving and doubling cancel.

    Args:
        estimate: the relative change, such as −0.2 for costs that are a fifth lower.
        low: lower end of its interval over datasets; None where fewer than two are in it.
        high: upper end.
        datasets: how many are in it: those where both costs are above zero and changes are relative.
    """

    estimate: float
    low: float | None = None
    high: float | None = None
    datasets: int


class Standing(Part):
    """How one row did over all datasets.

    Args:
        label: how it is shown.
        role: reference, method, rival or ensemble.
        rank: its mean place among the ranked rows, 1 being the cheapest everywhere.
        group: letters; rows that share one are not told apart by their mean ranks. Empty where that was not tested.
        wins: datasets where it costs less than the reference on test data, by more than the margin.
        losses: datasets where it costs more, by more than the margin.
        ties: the others.
        change: of its cost against the reference; None for the reference, and where no dataset has one.
        p_value: of no change, by the signed-rank test over datasets.
        p_holm: the same, corrected for the number of rows.
        regret: what always taking it costs more than the cheapest row of each dataset.
    """

    label: str
    role: Role
    rank: float
    group: str = ""
    wins: int = 0
    losses: int = 0
    ties: int = 0
    change: Mean | None = None
    p_value: float | None = None
    p_holm: float | None = None
    regret: Mean | None = None


class Place(Part):
    """One dataset.

    Args:
        name: of its data; of its folder where several have the same.
        folder: of its comparison.
        kind: the verdict there.
        taken: the row that was recommended; None where none was.
        cost: what that costs on test data.
        cheapest: the row that costs least on test data, shuffled forms left out.
        least: what that costs.
        regret: by how much the recommendation costs more; None where the least is zero or less, or changes are per
            sample.
        unit: of the changes there; those per sample are in no mean of relative changes.
    """

    name: str
    folder: str
    kind: Kind
    taken: str | None = None
    cost: float | None = None
    cheapest: str
    least: float
    regret: float | None = None
    unit: Unit = "relative"


class LeftOut(Part):
    """A row that is not ranked, and the datasets where it is missing."""

    label: str
    missing: Listed[str]


class Summary(Part):
    """What many comparisons found together.

    Args:
        reference: what every row is compared with.
        prices: what mistakes cost, in words.
        level: of the intervals.
        margin: relative changes within ± this are ties; the widest of the comparisons'.
        places: one for each dataset.
        standings: of the rows that all datasets have, the best mean rank first.
        left_out: of the other rows, where they are missing.
        friedman: p-value of all rows being alike; None for fewer than three.
        difference: of mean ranks, the smallest that tells two rows apart (Nemenyi); None for fewer than three rows.
        regret: of always taking what was recommended; None where nothing can be said.
        sentences: what came out, in words.
        warnings: what a reader should know before believing it.
    """

    reference: str
    prices: str
    level: float
    margin: float
    places: Listed[Place]
    standings: Listed[Standing]
    left_out: Listed[LeftOut] = ()
    friedman: float | None = None
    difference: float | None = None
    regret: Mean | None = None
    sentences: Listed[str] = ()
    warnings: Listed[str] = ()

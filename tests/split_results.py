"""Results of comparisons on several splits of the same made-up data, from the costs of their rows alone."""

from collections.abc import Mapping, Sequence

from labelspace.comparison.splits import together
from labelspace.results import Result
from labelspace.results.splits import Splits
from many_results import made

COSTS = {
    "one-hot": [0.60, 0.50, 0.55, 0.62, 0.48],
    "uniform": [0.40, 0.35, 0.33, 0.45, 0.30],
    "LLS": [0.45, 0.36, 0.40, 0.41, 0.33],
    "SVC": [0.42, 0.30, 0.41, 0.40, 0.36],
}
COUNTS = {"train": 600, "validation": 200, "test": 200}  # a test share of a quarter
SEEDS = (0, 2, 4, 6, 8)


def of_splits(
    costs: Mapping[str, Sequence[float]] = COSTS, winner: str = "uniform", best: str = "SVC", **facts: object
) -> dict[str, Result]:
    """Return results by the names of their splits.

    Args:
        costs: of every row, one per split.
        winner: the best method on validation data.
        best: the row to take home.
        facts: other facts of the results.
    """
    count = len(next(iter(costs.values())))
    return {f"seed {SEEDS[number]}": one(costs, number, winner, best, **facts) for number in range(count)}


def one(costs: Mapping[str, Sequence[float]], number: int, winner: str, best: str, **facts: object) -> Result:
    """Return the result of one split."""
    found = made("stones", {label: each[number] for label, each in costs.items()}, best, **facts).plain()
    rows = [{**row, "winner": row["label"] == winner, "p_value": 0.01} for row in found["rows"]]
    data = {**found["data"], "key": f"stones {number}", "counts": COUNTS}
    return Result.model_validate({**found, "rows": rows, "data": data})


def summed_up(found: Mapping[str, Result] | None = None) -> Splits:
    """Return what they say together."""
    given = of_splits() if found is None else dict(found)
    return together(given, [f"runs/{name}" for name in given], "runs/stones-splits")

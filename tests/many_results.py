"""Results of comparisons on several made-up datasets, from the costs of their rows alone."""

from collections.abc import Mapping

from labelspace.results import Result
from small_results import REFERENCE, result

TABLE = {
    "apples": {"one-hot": 1.0, "uniform": 0.8, "LLS": 0.7},
    "pears": {"one-hot": 2.0, "uniform": 1.9, "LLS": 2.2},
    "plums": {"one-hot": 0.5, "uniform": 0.4, "LLS": 0.3},
}


def made(name: str, costs: Mapping[str, float], best: str | None = None, **facts: object) -> Result:
    """Return the result of a comparison; the first row is the reference, SVC a rival.

    Args:
        name: of the data.
        costs: of every row on test data.
        best: the row to take home.
        facts: other facts of the result.
    """
    rows = [
        {
            **REFERENCE,
            "label": label,
            "method": label,
            "role": "reference" if number == 0 else "rival" if label == "SVC" else "method",
            "argmax": {"cost": cost, "accuracy": 0.5},
        }
        for number, (label, cost) in enumerate(costs.items())
    ]
    home = {} if best is None else {"best": {"label": best}}
    return result(**{"data": {"name": name, "key": name}, "rows": rows, **home, **facts})


def several(table: Mapping[str, Mapping[str, float]] = TABLE, best: str | None = "uniform") -> dict[str, Result]:
    """Return results by their folders."""
    return {f"runs/{name}": made(name, costs, best) for name, costs in table.items()}

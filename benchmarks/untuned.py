"""Is what ``compare`` recommends as good as the best of scikit-learn's classifiers?

Run ``python benchmarks/untuned.py [--sets wine stones] [--limit 500] [--budget 1m]``. Each set is compared as a user
would compare it: the network that labelspace takes by itself, whose training it chooses on validation data, with
one-hot and uniform labels, and the rivals, tuned with one number each; all have the same three parts, a temperature of
their own and decisions of least expected cost. Ordered classes cost the square of their distance, others 1. Of small
sets the mean over several splits counts. One table is printed and written to ``benchmarks/results/untuned.csv``:

- *network*: the cheaper of the two by validation data; *best rival*: the cheapest on TEST data, which none can choose;
- *taken*: what ``compare`` puts into ``best/``, chosen on validation data; *regret*: how much more that costs than the
  cheapest row of the table on test data.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from untuned_sets import SETS, SMALL, Task

import labelspace
from labelspace.comparison.rivals import BOOSTING, FOREST, LOGISTIC, VECTORS
from labelspace.results import Row
from results import more, write

HERE = Path(__file__).resolve().parent
# all that suit the data, also where `auto` would leave them out to save time; boosting takes minutes on pictures
RIVALS = {
    "table": [BOOSTING, LOGISTIC, FOREST, VECTORS],
    "features": [BOOSTING, LOGISTIC, FOREST, VECTORS],
    "images": [LOGISTIC, FOREST, VECTORS],
    "text": [LOGISTIC],
}


class Found(NamedTuple):
    """Costs per test sample of every row, which was chosen, and how long all of it took."""

    costs: dict[str, float]
    networks: dict[str, float]  # validation merit of the rows that are networks
    rivals: list[str]
    model: str
    taken: str
    seconds: float


def compared(task: Task, options: argparse.Namespace) -> Found:
    """Return what a comparison finds."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        result = labelspace.compare(
            task.dataset,
            cost=task.prices,
            methods=["uniform"],
            rivals=RIVALS[task.dataset.kind],
            seeds=options.seeds,
            budget=options.budget,
            out=folder,
        ).result
    costs = {row.label: row.headline.cost for row in result.rows if row.role != "control"}
    networks = {row.label: row.merit for row in result.rows if _is_network(row)}
    assert result.best is not None
    rivals = [row.label for row in result.rows if row.role == "rival"]
    return Found(costs, networks, rivals, str(result.model), result.best.label, time.perf_counter() - began)


def _is_network(row: Row) -> bool:
    return row.role in ("reference", "method")


def line(name: str, found: Sequence[Found]) -> dict[str, object]:
    """Return a line of the table; means over the splits."""
    network = float(np.mean([each.costs[max(each.networks, key=each.networks.__getitem__)] for each in found]))
    shared = set.intersection(*(set(each.costs) for each in found))  # of several as one, splits may have others
    mean = {label: float(np.mean([each.costs[label] for each in found])) for label in shared}
    rival = min(shared.intersection(found[0].rivals), key=mean.__getitem__)
    taken = float(np.mean([each.costs[each.taken] for each in found]))
    least = min(mean.values())
    return {
        "set": name,
        "network": found[0].model,
        "its cost": f"{network:.4f}",
        "best rival": rival,
        "rival's cost": f"{mean[rival]:.4f}",
        "difference": more(network, mean[rival]),
        "taken": "/".join(dict.fromkeys(each.taken for each in found)),
        "taken costs": f"{taken:.4f}",
        "regret": more(taken, least),
        "splits": len(found),
        "seconds": f"{sum(each.seconds for each in found):.0f}",
    }


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="SET", help=", ".join(SETS))
    parser.add_argument("--limit", type=int, help="cap on training samples, to try it out")
    parser.add_argument("--splits", type=int, default=3, help="of the small sets, whose means count")
    parser.add_argument("--seeds", type=int, default=2, help="of each row")
    parser.add_argument("--budget", default="1m", help="of each comparison; the rivals come on top")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "untuned.csv")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parsed(arguments)
    rows = []
    for name in options.sets:
        splits = range(options.splits if name in SMALL else 1)
        try:
            rows.append(line(name, [compared(SETS[name](options.limit, split), options) for split in splits]))
        except (ImportError, FileNotFoundError, labelspace.InputError) as error:
            print(f"{name} is left out: {error}", flush=True)
            continue
        print("  ".join(f"{title} {value}" for title, value in rows[-1].items()), flush=True)
    write(options.out, rows)


if __name__ == "__main__":
    main()

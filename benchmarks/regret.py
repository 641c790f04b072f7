"""How much more than the cheapest row does the recommendation of ``compare`` cost?

Run ``python benchmarks/regret.py [--sets stones digits] [--budget 1m] [--splits 5]``. Each set is compared as a user
would compare it, with all default methods, rivals, ensembles and decisions; what ``best/`` holds was chosen on
validation data. Of small sets several splits are made, and means over them count. One table is printed and written to
``benchmarks/results/regret.csv``:

- *one-hot, argmax*: what most people have; *taken*: what was recommended (most often, where splits differ);
- *regret*: how much more it costs on test data than the row that is cheapest there, by the means over splits of the
  rows that all splits have. One of many rows is cheapest by luck too, so that this is rather too large;
- *hindsight*: the same against the cheapest row of each split by itself, which nobody could have chosen.
"""

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn import datasets
from untuned_sets import SETS as TABLES
from untuned_sets import grades, limited, loaded

import labelspace
from results import more, write

HERE = Path(__file__).resolve().parent
CLOTHES = [
    ["T-shirt/top", "Pullover", "Dress", "Coat", "Shirt"],
    ["Sandal", "Sneaker", "Ankle boot"],
    ["Trouser"],
    ["Bag"],
]
Options = Mapping[str, object]


class Found(NamedTuple):
    """Costs per test sample of every row, what plain one-hot labels cost, what was taken, and how long it took."""

    costs: dict[str, float]
    plain: float
    taken: str
    seconds: float


def digits(split: int, limit: int | None) -> Options:
    return {"data": limited(loaded("digits", split), limit).dataset, "cost": "squared"}


def bottleneck(split: int, limit: int | None) -> Options:
    return {**digits(split, limit), "model": "mlp-32-2"}


def diabetes(split: int, limit: int | None) -> Options:
    """Return how far a disease went, in five grades: 442 people."""
    x, value = datasets.load_diabetes(return_X_y=True)
    dataset = labelspace.data.load((x.astype(np.float32), grades(value, 5)), seed=split)
    return {"data": limited(dataset, limit).dataset, "cost": "squared"}


def table(name: str) -> Callable[[int, int | None], Options]:
    """Return a function that makes a table of ordered grades."""
    return lambda split, limit: {"data": TABLES[name](limit, split).dataset, "cost": "squared"}


def fashion(split: int, limit: int | None) -> Options:
    dataset = limited(loaded("fashion-mnist", split), min(limit or 10_000, 10_000)).dataset
    return {"data": dataset, "space": CLOTHES}


def tiny_imagenet(split: int, limit: int | None) -> Options:
    pictures = limited(loaded("tiny-imagenet", split, classes="first 50"), limit).dataset
    return {"data": pictures, "space": "wordnet", "backbone": "efficientnet-lite0"}


SETS: dict[str, Callable[[int, int | None], Options]] = {
    "digits, bottleneck": bottleneck,
    "digits": digits,
    "diabetes": diabetes,
    **{name: table(name) for name in ("friedman", "hills", "stones", "rules")},
    "fashion-mnist": fashion,
    "tiny-imagenet features": tiny_imagenet,
}
SMALL = ("digits, bottleneck", "digits", "diabetes")  # one split of these says little


def compared(asked: Options, options: argparse.Namespace) -> Found:
    """Return what a comparison finds."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        result = labelspace.compare(
            **asked,  # type: ignore[arg-type]
            seeds=options.seeds,
            budget=options.budget,
            out=folder,
        ).result
    costs = {row.label: row.headline.cost for row in result.rows if row.role != "control"}
    assert result.best is not None
    return Found(costs, result.rows[0].argmax.cost, result.best.label, time.perf_counter() - began)


def line(name: str, found: Sequence[Found]) -> dict[str, object]:
    """Return a line of the table; means over the splits."""
    shared = set.intersection(*(set(each.costs) for each in found))
    mean = {label: float(np.mean([each.costs[label] for each in found])) for label in shared}
    cheapest = min(mean, key=mean.__getitem__)
    taken = float(np.mean([each.costs[each.taken] for each in found]))
    best = float(np.mean([min(each.costs.values()) for each in found]))
    return {
        "set": name,
        "one-hot, argmax": f"{np.mean([each.plain for each in found]):.4f}",
        "taken": ", ".join(f"{label} {times}" for label, times in Counter(each.taken for each in found).most_common()),
        "its cost": f"{taken:.4f}",
        "cheapest": cheapest,
        "its": f"{mean[cheapest]:.4f}",
        "regret": more(taken, mean[cheapest]),
        "hindsight": more(taken, best),
        "splits": len(found),
        "seconds": f"{sum(each.seconds for each in found):.0f}",
    }


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="SET", help=", ".join(SETS))
    parser.add_argument("--limit", type=int, help="cap on training samples, to try it out")
    parser.add_argument("--splits", type=int, default=5, help="of the small sets, whose means count")
    parser.add_argument("--seeds", type=int, default=3, help="of each row")
    parser.add_argument("--budget", default="1m", help="of each comparison; the rivals come on top")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "regret.csv")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parsed(arguments)
    rows: list[dict[str, object]] = []
    for name in options.sets:
        splits = range(options.splits if name in SMALL else 1)
        try:
            rows.append(line(name, [compared(SETS[name](split, options.limit), options) for split in splits]))
        except (ImportError, FileNotFoundError, labelspace.InputError) as error:
            print(f"{name} is left out: {error}", flush=True)
            continue
        print("  ".join(f"{title} {value}" for title, value in rows[-1].items()), flush=True)
        write(options.out, rows)  # after each set, which may have taken minutes


if __name__ == "__main__":
    main()

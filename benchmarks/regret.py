"""How much more than the cheapest row does the recommendation of ``compare`` cost?

Run ``python benchmarks/regret.py [--sets stones digits] [--budget 1m] [--splits 5]``. Each set is compared as a user
would compare it, with all default methods, rivals, ensembles and decisions; what ``best/`` holds was chosen on
validation data. Of most sets several splits are made, and means over them count. Budgets are processor time of one
process, so that others on the machine take nothing of them. One table is printed and written to
``benchmarks/results/regret.csv``:

- *one-hot, argmax*: what most people have; *taken*: what was recommended (most often, where splits differ);
- *single*: what the cheapest single row on validation data costs, which would be taken if nothing were averaged;
- *regret*: how much more what was taken costs on test data than the row that is cheapest there, by the means over
  splits of the rows that all splits have. One of many rows is cheapest by luck too, so that this is rather too large;
- *noise*: the standard error of that regret: over splits, with the variance of Nadeau and Bengio, or of one split over
  its test samples. What is not well above it cannot be told from 0;
- *hindsight*: the regret against the cheapest row of each split by itself, which nobody could have chosen.
"""

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from untuned_sets import SETS as TABLES
from untuned_sets import grades, limited, loaded

import labelspace
from labelspace.comparison import budget, classified
from labelspace.sweeps.executors import InProcess
from results import more, write

HERE = Path(__file__).resolve().parent
CLOTHES = [
    ["T-shirt/top", "Pullover", "Dress", "Coat", "Shirt"],
    ["Sandal", "Sneaker", "Ankle boot"],
    ["Trouser"],
    ["Bag"],
]
Options = Mapping[str, object]


AVERAGE = "average"  # of the rows that validation data do not tell apart, however many
Array = NDArray[np.float64]


class Found(NamedTuple):
    """Costs per test sample of every row.

    Args:
        costs: of every test sample, mean over seeds, by the labels of rows.
        plain: what plain one-hot labels cost with argmax.
        taken: the row that was taken.
        single: the cheapest single row on validation data.
        share: test samples per sample that is trained or chosen with.
        seconds: of the processor.
    """

    costs: dict[str, Array]
    plain: float
    taken: str
    single: str
    share: float
    seconds: float

    def mean(self, label: str) -> float:
        """Return what a row costs."""
        return float(self.costs[label].mean())


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
ONCE = ("stones", "rules", "fashion-mnist")  # thousands of test samples; of others one split says little


@contextmanager
def watched(costs: dict[str, Array]) -> Iterator[None]:
    """Keep what every row costs on every test sample, which a result does not hold; budgets are of processor time."""
    make_row = classified.make_row

    def kept(outcome: Any, **about: Any) -> Any:
        row = make_row(outcome, **about)
        costs.setdefault(_called(row), row.costs.mean(dim=0).numpy())
        return row

    clock = SimpleNamespace(perf_counter=time.process_time)
    with patch.object(classified, "make_row", kept), patch.object(budget, "time", clock):
        yield


def _called(row: Any) -> str:
    return AVERAGE if row.mixed else row.label


def compared(asked: Options, options: argparse.Namespace, folder: str | Path) -> Found:
    """Return what a comparison finds."""
    began = time.process_time()
    costs: dict[str, Array] = {}
    undrawn = patch.object(classified, "write_geometry", lambda *those: None)  # pictures of how classes lie
    with watched(costs), undrawn:
        result = labelspace.compare(
            **asked,  # type: ignore[arg-type]
            seeds=options.seeds,
            budget=options.budget,
            out=folder,
            executor=InProcess(),
        ).result
    rows = {_called(row): row for row in result.rows if row.role != "control"}
    single = [row for row in rows.values() if row.role != "ensemble"]
    assert result.best is not None
    return Found(
        costs={label: costs[label] for label in rows},
        plain=result.rows[0].argmax.cost,
        taken=next(label for label, row in rows.items() if row.label == result.best.label),
        single=max(single, key=lambda row: row.merit).label,
        share=result.data.counts["test"] / (result.data.counts["train"] + result.data.counts["validation"]),
        seconds=time.process_time() - began,
    )


def line(name: str, found: Sequence[Found]) -> dict[str, object]:
    """Return a line of the table; means over the splits."""
    shared = sorted(set.intersection(*(set(each.costs) for each in found)))
    mean = {label: float(np.mean([each.mean(label) for each in found])) for label in shared}
    cheapest = min(mean, key=mean.__getitem__)
    taken = float(np.mean([each.mean(each.taken) for each in found]))
    best = float(np.mean([min(map(each.mean, each.costs)) for each in found]))
    return {
        "set": name,
        "one-hot, argmax": f"{np.mean([each.plain for each in found]):.4f}",
        "taken": ", ".join(f"{label} {times}" for label, times in Counter(each.taken for each in found).most_common()),
        "its cost": f"{taken:.4f}",
        "single": f"{np.mean([each.mean(each.single) for each in found]):.4f}",
        "cheapest": cheapest,
        "its": f"{mean[cheapest]:.4f}",
        "regret": more(taken, mean[cheapest]),
        "noise": f"{noise(found, cheapest) / mean[cheapest]:.1%}",
        "hindsight": more(taken, best),
        "splits": len(found),
        "seconds": f"{sum(each.seconds for each in found):.0f}",
    }


def noise(found: Sequence[Found], cheapest: str) -> float:
    """Return the standard error of what was taken costing more than a row."""
    if len(found) == 1:
        more_each = found[0].costs[found[0].taken] - found[0].costs[cheapest]
        return float(more_each.std(ddof=1) / len(more_each) ** 0.5)
    splits = np.array([each.mean(each.taken) - each.mean(cheapest) for each in found])
    share = float(np.mean([each.share for each in found]))
    return float(splits.std(ddof=1) * (1 / len(splits) + share) ** 0.5)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="SET", help=", ".join(SETS))
    parser.add_argument("--limit", type=int, help="cap on training samples, to try it out")
    parser.add_argument("--splits", type=int, default=5, help="of sets of which one split says little; means count")
    parser.add_argument("--seeds", type=int, default=3, help="of each row")
    parser.add_argument("--budget", default="1m", help="of each comparison; the rivals come on top")
    parser.add_argument("--runs", type=Path, help="where comparisons are kept, and go on from; nowhere if left out")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "regret.csv")
    return parser.parse_args(arguments)


def of_split(name: str, split: int, options: argparse.Namespace) -> Found:
    """Return what a comparison of one split finds."""
    asked = SETS[name](split, options.limit)
    if options.runs is not None:
        return compared(asked, options, options.runs / f"{name.replace(' ', '_').replace(',', '')}-{split}")
    with tempfile.TemporaryDirectory() as folder:
        return compared(asked, options, folder)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parsed(arguments)
    rows: list[dict[str, object]] = []
    for name in options.sets:
        splits = range(1 if name in ONCE else options.splits)
        try:
            rows.append(line(name, [of_split(name, split, options) for split in splits]))
        except (ImportError, FileNotFoundError, labelspace.InputError) as error:
            print(f"{name} is left out: {error}", flush=True)
            continue
        print("  ".join(f"{title} {value}" for title, value in rows[-1].items()), flush=True)
        write(options.out, rows)  # after each set, which may have taken minutes


if __name__ == "__main__":
    main()

"""Is the network that labelspace takes by itself as good as the best of scikit-learn's classifiers, untuned?

Run ``python benchmarks/untuned.py [--sets wine stones] [--limit 500] [--rates 0.001 0.003] [--epochs 20]``. Every model
gets the same parts of the same data; its temperature is fitted on the validation part; then each test sample gets the
class of least expected cost. Ordered classes cost the square of their distance, others 1. Several rates: the one of
least validation nll counts, and the time of all. One thread each; scikit-learn reads standardised numbers, pixels as
they are, texts as TF-IDF. Of small sets the mean over several splits counts. One table is printed and written to
``benchmarks/results/untuned.csv``.
"""

import argparse
import csv
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from torch import Tensor
from untuned_sets import SETS, SMALL, Task

import labelspace
from labelspace.comparison import planning
from labelspace.comparison.budget import wanted_epochs
from labelspace.data.dataset import Dataset, Split
from labelspace.decisions.calibration import Temperature
from labelspace.training.run import Run
from results import commit, processor

HERE = Path(__file__).resolve().parent
RIVALS: dict[str, Callable[[], ClassifierMixin]] = {
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
    "ExtraTrees": lambda: ExtraTreesClassifier(random_state=0),
    "SVC": SVC,
}
OF_TEXTS = ("LogisticRegression",)  # the others do not take sparse numbers, or take very long


class Outcome(NamedTuple):
    """What a model costs per test sample, and how long it took to fit it and to score both parts."""

    model: str
    cost: float
    seconds: float


def cost_of(task: Task, validation: Tensor, test: Tensor) -> float:
    """Return the mean cost of minimum-cost decisions, from scores of two parts."""
    temperature = Temperature().fit(validation, task.dataset.validation.y).value
    rule = "argmax" if task.prices is None else "min_cost"
    decision = labelspace.Decision(rule, temperature, task.prices, task.dataset.names)
    return decision.judge(test, task.dataset.test.y).costs.mean().item()


def default_network(task: Task, rates: Sequence[float], epochs: int | None) -> Outcome:
    dataset = task.dataset
    size = 32 if len(dataset.train) < planning.SMALL else 128
    options = {
        "optimizer": "adamw",
        "weight_decay": 0.01,
        "schedule": "linear",
        "best_by": "nll",
        "batch_size": size,
        "epochs": epochs or wanted_epochs(len(dataset.train), size, dataset.kind),
        "patience": 5,
    }
    began = time.perf_counter()
    runs = [labelspace.train(dataset, learning_rate=rate, **options) for rate in rates]
    best = min(runs, key=nll)
    seconds = time.perf_counter() - began
    cost = cost_of(task, best.scores["validation_scores"], best.scores["test_scores"])
    return Outcome(best.config.model, cost, seconds)


def nll(run: Run) -> float:
    return run.result["validation"]["nll"]


def rival(task: Task, name: str) -> Outcome:
    dataset = task.dataset
    reader = TfidfVectorizer(sublinear_tf=True) if dataset.kind == "text" else StandardScaler()
    steps = [RIVALS[name]()] if dataset.kind == "images" else [reader, RIVALS[name]()]
    began = time.perf_counter()
    model = make_pipeline(*steps).fit(samples(dataset.train, dataset), dataset.train.y.numpy())
    validation, test = (scores(model, samples(part, dataset)) for part in (dataset.validation, dataset.test))
    seconds = time.perf_counter() - began
    return Outcome(name, cost_of(task, validation, test), seconds)


def samples(part: Split, dataset: Dataset) -> object:
    """Return samples as scikit-learn takes them: texts, or rows of numbers."""
    if part.text is not None:
        return list(part.text)
    rows = part.x.flatten(1).numpy()
    return rows / np.float32(255) if dataset.kind == "images" else rows


def scores(model: ClassifierMixin, x: object) -> Tensor:
    """Return logarithms of probabilities; of a model without them, its margins."""
    if hasattr(model, "predict_proba"):
        # forests are sure of what all trees say, and a logarithm of 0 would stay 0 at any temperature
        return torch.from_numpy(np.log(np.clip(model.predict_proba(x), 1e-3, 1)))
    margins: NDArray[np.float64] = model.decision_function(x)
    return torch.from_numpy(margins if margins.ndim == 2 else np.stack([-margins, margins], axis=1) / 2)


def measured(name: str, options: argparse.Namespace) -> list[Outcome]:
    """Return our network first, then the rivals; means over the splits."""
    splits = range(options.splits if name in SMALL else 1)
    found = [_of_split(SETS[name](options.limit, split), options) for split in splits]
    return [
        Outcome(same[0].model, float(np.mean([each.cost for each in same])), sum(each.seconds for each in same))
        for same in zip(*found, strict=True)
    ]


def _of_split(task: Task, options: argparse.Namespace) -> list[Outcome]:
    rivals = [each for each in options.rivals if task.dataset.kind != "text" or each in OF_TEXTS]
    return [default_network(task, options.rates, options.epochs), *(rival(task, each) for each in rivals)]


def row_of(name: str, found: list[Outcome]) -> dict[str, object]:
    """Return a line of the table: our network, the best rival, and how much more ours costs."""
    ours, best = found[0], min(found[1:], key=lambda each: each.cost)
    more = (ours.cost - best.cost) / best.cost if best.cost else float("inf") if ours.cost else 0.0
    return {
        "set": name,
        "network": ours.model,
        "cost": f"{ours.cost:.4f}",
        "seconds": f"{ours.seconds:.1f}",
        "best rival": best.model,
        "its cost": f"{best.cost:.4f}",
        "its seconds": f"{best.seconds:.1f}",
        "all rivals' seconds": f"{sum(each.seconds for each in found[1:]):.1f}",
        "difference": f"{more:+.1%}",
    }


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="SET", help=", ".join(SETS))
    parser.add_argument("--rivals", nargs="+", choices=RIVALS, default=list(RIVALS))
    parser.add_argument("--limit", type=int, help="cap on training samples, to try it out")
    parser.add_argument("--splits", type=int, default=5, help="of the small sets, whose means count")
    parser.add_argument("--rates", nargs="+", type=float, default=[1e-3], help="learning rates of the network")
    parser.add_argument("--epochs", type=int, help="at most so many, instead of what `compare` would take")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "untuned.csv")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parsed(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)
    rows = []
    for name in options.sets:
        try:
            rows.append(row_of(name, measured(name, options)))
        except (ImportError, FileNotFoundError, labelspace.InputError) as error:
            print(f"{name} is left out: {error}", flush=True)
            continue
        print("  ".join(f"{title} {value}" for title, value in rows[-1].items()), flush=True)
    options.out.parent.mkdir(exist_ok=True)
    with options.out.open("w", newline="") as file:
        facts = {"processor": processor(), "torch": torch.__version__, "commit": commit()}
        writer = csv.DictWriter(file, [*(rows[0] if rows else ()), *facts])
        writer.writeheader()
        writer.writerows({**row, **facts} for row in rows)


if __name__ == "__main__":
    main()

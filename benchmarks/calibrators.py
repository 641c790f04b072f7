"""Is any calibrator worse than a temperature where the rule of rows allows it, and is the choice worth its time?

Run ``python benchmarks/calibrators.py [--splits 10] [--sets wine digits]``. Five sets (three of scikit-learn, two
generated), a logistic regression and a forest each, half of the samples for training, a quarter for validation, where
everything is fitted and chosen, and a quarter for the test. Decisions are those of least expected cost. One line is
printed for each set and model, and all are written to ``benchmarks/results/calibrators.csv``: the test cost with a
temperature, and for each calibrator that the rule of rows allows the relative change of that cost, with its standard
error over splits; *auto* is what ``compare`` takes, *taken* how often it took which. A change is *worse* beyond twice
its standard error. Splits share samples, so that these errors are rather too small than too large.
"""

import argparse
import csv
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from labelspace.decisions.choosing import Chosen, allowed, chosen, fitted
from labelspace.decisions.rules import cheapest
from labelspace.serving.score_kind import SMALLEST

HERE = Path(__file__).resolve().parent
CANDIDATES = ("vector", "matrix", "isotonic")
Array = NDArray[np.float64]


class Task(NamedTuple):
    """Samples, their classes, and what mistakes cost."""

    x: Array
    y: NDArray[np.int64]
    prices: Tensor


class Split(NamedTuple):
    """Test costs of one split: by a temperature, each calibrator that is allowed, and the choice; and which it was."""

    rows: int
    temperature: float
    others: dict[str, float]
    auto: float
    taken: str
    seconds: float


def distances(classes: int, under: float = 1.0) -> Tensor:
    """Return squared distances; those below the true class cost ``under`` times as much."""
    steps = torch.arange(classes)[:, None] - torch.arange(classes)
    return steps.double().square() * torch.where(steps > 0, under, 1.0)


def two(price: float) -> Tensor:
    """Return prices of two classes: overlooking the second costs so much more."""
    return torch.tensor([[0.0, 1.0], [price, 0.0]], dtype=torch.float64)


def generated(samples: int, classes: int, weights: Sequence[float], seed: int) -> tuple[Array, NDArray[np.int64]]:
    """Return samples of classes that overlap."""
    x, y = make_classification(
        samples, 12, n_informative=6, n_classes=classes, weights=weights, flip_y=0.08, class_sep=0.7, random_state=seed
    )
    return x, y.astype(np.int64)


SETS = {
    "digits": lambda: Task(*load_digits(return_X_y=True), distances(10)),
    "wine": lambda: Task(*load_wine(return_X_y=True), distances(3)),
    "breast cancer": lambda: Task(*load_breast_cancer(return_X_y=True), two(0.2)),  # the first is malignant
    "two classes": lambda: Task(*generated(4800, 2, [0.85], 0), two(5.0)),
    "four grades": lambda: Task(*generated(4800, 4, [0.5, 0.25, 0.15], 1), distances(4, under=5.0)),
}
MODELS = {
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "forest": lambda: RandomForestClassifier(100, random_state=0),
}


def cost(how: Chosen, scores: Tensor, y: Tensor, prices: Tensor) -> float:
    """Return the mean cost of decisions."""
    scaled = scores / how.temperature
    p = scaled.softmax(dim=1) if how.calibrator is None else how.calibrator.apply(scaled)
    return float(prices[y, cheapest(p, p @ prices, prices)].mean())


def measured(task: Task, model: ClassifierMixin, seed: int) -> Split:
    """Return the costs of one split."""
    half, rest, y, other = train_test_split(task.x, task.y, test_size=0.5, stratify=task.y, random_state=seed)
    validation, test, *labels = train_test_split(rest, other, test_size=0.5, stratify=other, random_state=seed)
    model.fit(half, y)
    scores = [torch.tensor(np.log(np.clip(model.predict_proba(x), SMALLEST, None))) for x in (validation, test)]
    val_y, test_y = map(torch.tensor, labels)
    names = allowed(val_y, len(task.prices))
    found = {name: fitted(name, scores[0], val_y) for name in ("temperature", *names)}
    began = time.process_time()
    auto = chosen(scores[0], val_y, task.prices)
    seconds = time.process_time() - began
    costs = {name: cost(how, scores[1], test_y, task.prices) for name, how in found.items()}
    taken = "temperature" if auto.calibrator is None else auto.calibrator.kind
    paid = cost(auto, scores[1], test_y, task.prices)
    return Split(len(val_y), costs.pop("temperature"), costs, paid, taken, seconds)


def change(after: Sequence[float], before: Sequence[float]) -> tuple[float, float]:
    """Return the relative change of the mean cost, and its standard error over splits."""
    moved = np.array(after) - np.array(before)
    base = max(float(np.mean(before)), 1e-12)
    return float(moved.mean()) / base, float(moved.std(ddof=1)) / len(moved) ** 0.5 / base


def line(name: str, model: str, splits: Sequence[Split]) -> dict[str, object]:
    """Return a line of the table."""
    before = [each.temperature for each in splits]
    parts = {kind: [each.others[kind] for each in splits] for kind in CANDIDATES if kind in splits[0].others}
    parts["auto"] = [each.auto for each in splits]
    moved = {kind: change(after, before) for kind, after in parts.items()}
    said = {kind: f"{100 * moved[kind][0]:+.1f} ± {100 * moved[kind][1]:.1f} %" for kind in moved}
    worse = [kind for kind, (mean, error) in moved.items() if mean > 2 * error]
    taken = ", ".join(f"{kind} {count}" for kind, count in Counter(each.taken for each in splits).most_common())
    return {
        "set": name,
        "model": model,
        "validation rows": splits[0].rows,
        "temperature": f"{np.mean(before):.4f}",
        **{kind: said.get(kind, "") for kind in (*CANDIDATES, "auto")},
        "taken": taken,
        "worse": ", ".join(worse),
        "choice, ms": round(1000 * float(np.mean([each.seconds for each in splits]))),
    }


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    options = parser.parse_args()
    lines = []
    for name in options.sets:
        task = SETS[name]()
        for model, make in MODELS.items():
            lines.append(line(name, model, [measured(task, make(), seed) for seed in range(options.splits)]))
            print(" | ".join(f"{key} {value}" for key, value in lines[-1].items() if value != ""), flush=True)
    with (HERE / "results" / "calibrators.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()

"""The sets of ``untuned.py``: data in three parts, and what mistakes cost."""

import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn import datasets

from labelspace import data, models
from labelspace.data.dataset import Dataset
from labelspace.training.feed import extract

Floats = NDArray[np.floating]
Labels = NDArray[np.int64]
ROWS = 10_000  # of generated tables


class Task(NamedTuple):
    """Data, and the price of each mistake; None where every one costs 1."""

    dataset: Dataset
    prices: Floats | None


def of_arrays(x: Floats, y: Labels, limit: int | None, split: int, ordered: bool) -> Task:
    """Return a table in memory as a task."""
    place = np.arange(y.max() + 1)
    prices = ((place[:, None] - place) ** 2).astype(np.float64) if ordered else None
    return limited(data.load((x.astype(np.float32), y), seed=split), limit, prices)


def limited(dataset: Dataset, limit: int | None, prices: Floats | None = None) -> Task:
    """Return fewer training samples, and then as many to test on."""
    if limit is None or limit >= len(dataset.train):
        return Task(dataset, prices)
    parts = {name: dataset.parts[name] for name in ("validation", "test")}
    fewer = {name: part.take(torch.arange(len(part))[:: -(-len(part) // limit)]) for name, part in parts.items()}
    return Task(replace(dataset.limit(limit), **fewer), prices)


def grades(values: Floats, count: int) -> Labels:
    """Return in which of so many equal parts each value falls."""
    return np.searchsorted(np.quantile(values, np.arange(1, count) / count), values)


def wine(limit: int | None, split: int) -> Task:
    return of_arrays(*datasets.load_wine(return_X_y=True), limit, split, False)


def breast_cancer(limit: int | None, split: int) -> Task:
    return of_arrays(*datasets.load_breast_cancer(return_X_y=True), limit, split, False)


def clusters(limit: int | None, split: int) -> Task:
    options = {"n_informative": 8, "n_redundant": 5, "n_classes": 5, "n_clusters_per_class": 3, "flip_y": 0.03}
    x, y = datasets.make_classification(ROWS, 25, random_state=0, **options)
    return of_arrays(x, y, limit, split, False)


def friedman(limit: int | None, split: int) -> Task:
    x, value = datasets.make_friedman1(ROWS, 10, noise=1.0, random_state=0)
    return of_arrays(x, grades(value, 5), limit, split, True)


def hills(limit: int | None, split: int) -> Task:
    """Return prices of houses in six grades: where a house stands counts, and a few columns with long tails."""
    draws = np.random.default_rng(3)
    place, tops = draws.uniform(0, 10, (ROWS, 2)), draws.uniform(0, 10, (12, 2))
    near = np.exp(-((place[:, None] - tops) ** 2).sum(axis=2) / 1.5) @ draws.normal(size=12)
    income, rooms, people, together = np.exp(draws.normal([1.2, 1.6, 7, 1], [0.5, 0.3, 0.8, 0.2], (ROWS, 4))).T
    age = draws.integers(1, 53, ROWS)
    value = 0.8 * np.log(income) + 1.2 * near + 0.01 * age * (near > 0) - 0.2 * np.log(together)
    x = np.column_stack([place, income, rooms, people, age, together])
    return of_arrays(x, grades(value + draws.normal(0, 0.25, ROWS), 6), limit, split, True)


def stones(limit: int | None, split: int) -> Task:
    """Return stones with seven colours and five cuts, whose eight degrees of clarity follow from price and weight."""
    draws = np.random.default_rng(1)
    colour, clarity, cut = (draws.integers(0, count, ROWS) for count in (7, 8, 5))
    carat = np.round(np.exp(draws.normal(-0.4, 0.55, ROWS) - 0.06 * (clarity - 3)), 2) + 0.2
    worth = 7.8 + 1.9 * np.log(carat) - 0.07 * colour * (1 + 0.2 * (carat > 1)) + 0.12 * clarity + 0.03 * cut
    price = np.round(np.exp(worth + 0.1 * (carat >= 1) + draws.normal(0, 0.1, ROWS)))
    depth = np.round(61.7 + draws.normal(0, 1.4, ROWS), 1)
    length = np.round(6.4 * carat ** (1 / 3) * (1 + draws.normal(0, 0.01, ROWS)), 2)
    x = np.column_stack([carat, price, depth, length, length * depth / 100, np.eye(7)[colour], np.eye(5)[cut]])
    return of_arrays(x, clarity, limit, split, True)


def rules(limit: int | None, split: int) -> Task:
    """Return grades that follow from thresholds alone, as trees like them, among columns that say nothing."""
    draws = np.random.default_rng(4)
    x = draws.normal(size=(ROWS, 15))
    x[:, 5:] = np.exp(x[:, 5:])
    value = 2.0 * (x[:, 0] > 0.3) + 2 * (x[:, 1] > 0) * (x[:, 5] > 1) - 2 * (x[:, 2] < -0.5) * (x[:, 6] < 0.7)
    return of_arrays(x, grades(value + (np.abs(x[:, 3]) > 1) + draws.normal(0, 0.4, ROWS), 5), limit, split, True)


def named(name: str, most: int | None = None, **options: object) -> Callable[[int | None, int], Task]:
    """Return a function that reads data by name, of which at most so many are trained on."""

    def read(limit: int | None, split: int) -> Task:
        return limited(loaded(name, split, **options), most if limit is None else min(limit, most or limit))

    return read


def loaded(name: str, split: int, **options: object) -> Dataset:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = os.environ.get("LABELSPACE_DATA", beside)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an incomplete CIFAR-10, for example
        return data.load(name, data_dir=folder, seed=split, **options)


def tiny_imagenet(limit: int | None, split: int) -> Task:
    pictures = limited(loaded("tiny-imagenet", split, classes="first 20"), limit).dataset
    return Task(extract(pictures, models.backbone("efficientnet-lite0")), None)


SMALL = ("wine", "breast cancer", "digits")  # one split of these says little: a mistake is half a percent
SETS: dict[str, Callable[[int | None, int], Task]] = {
    "wine": wine,
    "breast cancer": breast_cancer,
    "clusters": clusters,
    "friedman": friedman,
    "hills": hills,
    "stones": stones,
    "rules": rules,
    "digits": named("digits"),
    "fashion-mnist": named("fashion-mnist", 10_000),
    "cifar-10": named("cifar-10", 5_000),
    "tiny-imagenet features": tiny_imagenet,
    "imdb": named("imdb", 4_000, max_length=1024),
}

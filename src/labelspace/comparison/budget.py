"""How much training a budget of time buys: epochs first, then the number of trials; the same for every method."""

import re
import time
from dataclasses import replace
from typing import NamedTuple

import torch

from labelspace import _checks
from labelspace.comparison.plan import TRIALS
from labelspace.data.dataset import Dataset
from labelspace.training.build import Job
from labelspace.training.run import train_job

STEPS = 2000  # after which a small network has learned what it will, about
LONGEST, SHORTEST = 60, 3  # epochs
MEASURED = 2048  # training samples that one epoch is measured on
OVERHEAD = 1.3  # of sweeps against a single run: starting workers, reading, writing, scoring


class Amount(NamedTuple):
    """What a budget buys."""

    epochs: int
    trials: int
    enough: bool  # False: even the least takes longer than the budget


def seconds(text: str) -> float:
    """Read a span of time: 90s, 2m, 1.5h, or a number of seconds.

    Example:
        >>> seconds("2m"), seconds("1.5h"), seconds("45")
        (120.0, 5400.0, 45.0)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*", str(text))
    if found is None or float(found[1]) <= 0:
        raise _checks.fail("compare", "budget", "a span of time such as 90s, 2m or 1h", repr(text))
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def wanted_epochs(samples: int, batch_size: int) -> int:
    """Return the epochs that training to the end takes, about.

    Example:
        >>> wanted_epochs(800, 64), wanted_epochs(10_000, 128)
        (60, 25)
    """
    return max(SHORTEST, min(LONGEST, STEPS // max(1, -(-samples // batch_size))))


def epoch_seconds(job: Job) -> float:
    """Return how long one epoch takes, measured on a part of the data: a run of two epochs less one of one."""
    small, share = _part(job.dataset)
    spent = []
    for epochs in (1, 1, 2):  # the first one warms up
        started = time.perf_counter()
        train_job(Job(job.config.model_copy(update={"epochs": epochs}), small, job.space, job.options))
        spent.append(time.perf_counter() - started)
    return max(spent[2] - spent[1], spent[2] / 4) / share


def _part(dataset: Dataset) -> tuple[Dataset, float]:
    """Return the same share of training and validation samples, and that share; test samples cost nothing here."""
    share = min(1.0, MEASURED / len(dataset.train))
    small = replace(
        dataset,
        train=dataset.train.take(torch.arange(max(1, round(share * len(dataset.train))))),
        validation=dataset.validation.take(torch.arange(max(1, round(share * len(dataset.validation))))),
        test=dataset.validation.take(torch.arange(1)),
    )
    return small, share


def affordable(budget: float, per_epoch: float, wanted: int, rows: int, seeds: int, workers: int) -> Amount:
    """Return epochs and trials that fit, never fewer trials for one method than for another.

    Args:
        budget: in seconds.
        per_epoch: seconds of one epoch of one run.
        wanted: epochs that training to the end takes.
        rows: methods and controls.
        seeds: runs of each after tuning.
        workers: runs at a time.

    Example:
        >>> affordable(600, 1.0, wanted=25, rows=10, seeds=3, workers=2)
        Amount(epochs=11, trials=5, enough=True)
    """
    for trials, least in ((TRIALS, max(SHORTEST, wanted // 4)), (3, max(SHORTEST, wanted // 8)), (3, SHORTEST)):
        runs = rows * (trials + seeds)
        epochs = int(budget * workers / (runs * per_epoch * OVERHEAD))
        if epochs >= least:
            return Amount(min(epochs, wanted), trials, True)
    return Amount(SHORTEST, 3, False)

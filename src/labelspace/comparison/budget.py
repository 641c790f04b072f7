"""How much training a budget of time buys: epochs first, then the number of trials; the same for every method."""

import re
import time
from dataclasses import replace
from typing import NamedTuple

import torch

from labelspace import _checks
from labelspace.comparison.plan import EACH, FINALISTS, TRIALS, TUNING, Plan
from labelspace.data.dataset import Dataset
from labelspace.training.build import Job
from labelspace.training.run import train_job

STEPS = 2000  # after which a small network has learned what it will, about
OF_SEQUENCES = 6000  # the same of a network that translates
LONGEST, SHORTEST = 200, 3  # epochs
MEASURED = 2048  # training samples that one epoch is measured on
REPEATED, PATIENCE = 5, 1.0  # measurements of what is short, and the seconds after which there are no more
PAIRS = 512  # the same of sequences, each of which has many labels
BEYOND = 0.5  # trials of a row that lie beyond the end of its grid, about: every second row has one
OVERHEAD = 1.3  # of sweeps against a single run: starting workers, reading, writing, scoring


class Pace(NamedTuple):
    """Seconds of one epoch, and of what follows the last one: the translations of sequences."""

    epoch: float
    after: float = 0.0


class Amount(NamedTuple):
    """What a budget buys."""

    epochs: int
    trials: int
    enough: bool  # False: even the least takes longer than the budget
    tuning: int = TUNING  # seeds that choices are made with
    shuffles: int = 0  # forms of a winner's label space, to know what did it


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


def wanted_epochs(samples: int, batch_size: int, kind: str = "images") -> int:
    """Return the epochs that training to the end takes, about.

    Example:
        >>> wanted_epochs(800, 64), wanted_epochs(10_000, 128)
        (153, 25)
    """
    steps = OF_SEQUENCES if kind == "sequences" else STEPS
    return max(SHORTEST, min(LONGEST, steps // max(1, -(-samples // batch_size))))


def too_short(plan: Plan, dataset: Dataset) -> list[str]:
    """Return that training was too short to say much, where a budget or a wish made it so.

    Fewer epochs than a rehearsal tried were chosen because they are better: it is the most that were tried that count.
    """
    wanted = wanted_epochs(len(dataset.train), plan.config.batch_size, dataset.kind)
    most = max([plan.config.epochs, *(each.epochs for each in plan.rehearsal)])
    if most >= min(wanted, max(SHORTEST + 1, wanted // 8)):
        return []
    epochs = f"{'at most ' if most > plan.config.epochs else ''}{most} {'epoch' if most == 1 else 'epochs'}"
    longer = "training longer (--epochs, a larger --budget) may change everything"
    return [f"Trained for {epochs}, where about {wanted} would be usual: {longer}."]


def pace(job: Job) -> Pace:
    """Return how long a run takes, measured on a part of the data: a run of two epochs less one of one."""
    small, share = _part(job.dataset)
    one, two = _least(job._replace(dataset=small))
    epoch = max(two - one, two / 4)
    if job.dataset.kind != "sequences":
        return Pace(epoch / share)
    translated, all_of_them = (len(data.validation) + len(data.test) for data in (small, job.dataset))
    return Pace(epoch / share, max(one - epoch, 0.0) * all_of_them / translated)


def _least(job: Job) -> tuple[float, float]:
    """Return the seconds of a run of one epoch and of one of two: the least of several, as others only add to them."""
    spent: dict[int, list[float]] = {1: [], 2: []}
    _timed(job, 1)  # warms up
    began = time.perf_counter()
    while not spent[2] or (len(spent[2]) < REPEATED and time.perf_counter() - began < PATIENCE):
        for epochs, times in spent.items():
            times.append(_timed(job, epochs))
    return min(spent[1]), min(spent[2])


def _timed(job: Job, epochs: int) -> float:
    started = time.perf_counter()
    train_job(job._replace(config=job.config.model_copy(update={"epochs": epochs})))
    return time.perf_counter() - started


def _part(dataset: Dataset) -> tuple[Dataset, float]:
    """Return the same share of training and validation samples, and that share; test samples cost nothing here."""
    share = min(1.0, (PAIRS if dataset.kind == "sequences" else MEASURED) / len(dataset.train))
    small = replace(
        dataset,
        train=dataset.train.take(torch.arange(max(1, round(share * len(dataset.train))))),
        validation=dataset.validation.take(torch.arange(max(1, round(share * len(dataset.validation))))),
        test=dataset.validation.take(torch.arange(1)),
    )
    return small, share


def affordable(
    budget: float,
    pace: Pace,
    wanted: int,
    rows: int,
    seeds: int,
    workers: int,
    most: int = TRIALS,
    before: int = 0,
    shuffles: int = 0,
) -> Amount:
    """Return epochs and trials that fit, never fewer trials for one method than for another.

    Args:
        budget: in seconds.
        pace: seconds of one run.
        wanted: epochs that training to the end takes.
        rows: methods, the reference among them.
        seeds: runs of each after tuning, which has seeds of its own: three where they can be had, else one.
        workers: runs at a time.
        most: trials that are worth it; a single one is no tuning.
        before: runs before those of the rows.
        shuffles: forms of a winner's label space that may have to be trained in the end, with few seeds each; none
            where time is so short that one seed chooses.

    Example:
        >>> affordable(600, Pace(1.0), wanted=25, rows=10, seeds=3, workers=2)
        Amount(epochs=7, trials=5, enough=True, tuning=3, shuffles=0)
    """
    few, usual, short = min(3, most), max(SHORTEST, wanted // 4), max(SHORTEST, wanted // 8)
    for trials, tuning, least in ((most, TUNING, usual), (few, TUNING, short), (few, 1, short), (few, 1, SHORTEST)):
        tried = trials + BEYOND + (tuning - 1) * min(FINALISTS, trials) if trials > 1 else 0
        forms = shuffles if tuning > 1 else 0
        runs = before + rows * (tried + seeds) + forms * min(EACH, seeds)
        left = budget * workers - runs * pace.after * OVERHEAD
        epochs = int(left / (runs * pace.epoch * OVERHEAD))
        if epochs >= least:
            return Amount(min(epochs, wanted), trials, True, tuning, forms)
    return Amount(SHORTEST, few, False, 1)

"""How much faster are 45 small networks trained together than one after the other, and are they the same networks?

Run ``python benchmarks/vectorised.py [--method uniform] [--epochs 50] [--rounds 2] [--models mlp-16-2 …]``. Nine
smoothings × five seeds on scikit-learn's digits, on one thread. Both ways get the same jobs, in turns in this process,
and what is timed at once is about as long either way: the sum of each single run's best, against the best of all
together, so that a busy machine slows both alike. The difference is the largest of a member's test scores.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from labelspace import data
from labelspace.sweeps.members import train_together
from labelspace.training.build import Job, prepare
from labelspace.training.config import make_config
from labelspace.training.run import Run, train_job

MODELS = {"mlp-16-2": "64-16-2-10", "mlp-128": "64-128-10", "mlp-500": "64-500-10"}


def make_jobs(model: str, method: str, epochs: int, precision: str, members: int) -> list[Job]:
    digits = data.load("digits")
    space = "ordinal" if method in ("semantic", "mixed", "static") else None
    shared: dict[str, Any] = {
        "method": method,
        "space": space,
        "model": model,
        "epochs": epochs,
        "precision": precision,
    }
    options = [{"smoothing": 0.05 * step} for step in range(1, 10)]
    pairs = [(each, seed) for each in options for seed in range(5)][:members]
    return [prepare(make_config(**shared, method_options=each, seed=seed), digits) for each, seed in pairs]


def timed(train: Callable[[], list[Run]]) -> tuple[float, list[Run]]:
    started = time.perf_counter()
    runs = train()
    return time.perf_counter() - started, runs


def together(jobs: Sequence[Job]) -> list[Run]:
    return [run for run in train_together(jobs) if isinstance(run, Run)]


def differences(left: Sequence[Run], right: Sequence[Run]) -> list[float]:
    key = "test_scores"
    pairs = zip(left, right, strict=True)
    return sorted(float((one.scores[key] - other.scores[key]).abs().max()) for one, other in pairs)


def measure(jobs: Sequence[Job], rounds: int) -> tuple[float, float, list[float]]:
    """Return seconds one after the other and together, and how far scores are apart."""
    together(jobs[:2])  # first use of everything, outside the measurement
    best, stacked = [float("inf")] * len(jobs), float("inf")
    for _ in range(rounds):
        one_by_one: list[Run] = []
        for number, job in enumerate(jobs):
            seconds, runs = timed(lambda job=job: [train_job(job)])  # type: ignore[misc]
            best[number] = min(best[number], seconds)
            one_by_one += runs
            if number % 9 == 8 or number == len(jobs) - 1:
                seconds, at_once = timed(lambda: together(jobs))
                stacked = min(stacked, seconds)
    return sum(best), stacked, differences(one_by_one, at_once)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", default="uniform")
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--members", type=int, default=45)
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    given = parser.parse_args()
    torch.set_num_threads(1)
    for model in given.models:
        jobs = make_jobs(model, given.method, given.epochs, given.precision, given.members)
        alone, stacked, apart = measure(jobs, given.rounds)
        beyond = sum(each > 1e-4 for each in apart)
        print(
            f"{MODELS.get(model, model):12s} {len(jobs)} × {given.method}, {given.epochs} epochs: one after the other"
            f" {alone:.2f} s, together {stacked:.2f} s, ratio {alone / stacked:.1f};"
            f" scores differ by {apart[len(apart) // 2]:.1e} (median), {apart[-1]:.1e} (most), {beyond} by over 1e-4"
        )


if __name__ == "__main__":
    main()

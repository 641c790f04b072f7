"""Class distances by neurodynamical analysis: is the cheaper of the two ways chosen, and how long does it take?

Each way and the library's choice are timed in turns, in processor time of this process; the best of the rounds counts.
Run: python benchmarks/naa.py [--rounds 3] [--threads 1] [--record]
"""

import argparse
import time

import torch

from labelspace.analysis import naa_distances
from results import record

# classes, features, samples of each class; the first two are what the library promises, the others where they meet
SHAPES = [
    (100, 512, 100),
    (1000, 64, 100),
    (10, 64, 1000),
    (10, 512, 100),
    (100, 512, 30),
    (100, 512, 5),
    (100, 2048, 5),
]
SIDES = ("features", "samples", "auto")
MOST = 20_000  # samples of which the N×N products are worth waiting for


def race(classes: int, features: int, each: int, rounds: int) -> tuple[dict[str, float], float]:
    """Return the best time of each way, and by how much their results differ at most."""
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(classes * each, features, generator=generator)
    y = torch.arange(classes).repeat(each)
    sides = [side for side in SIDES if side != "samples" or len(x) <= MOST]
    times: dict[str, list[float]] = {side: [] for side in sides}
    found = {}
    for _ in range(rounds):
        for side in sides:
            started = time.process_time()
            found[side] = naa_distances(x, y, side=side)
            times[side].append(time.process_time() - started)
    apart = max(float((found["features"] - other).abs().max()) for other in found.values())
    return {side: min(values) for side, values in times.items()}, apart


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--record", action="store_true", help="append the numbers to benchmarks/results/naa.csv")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print("classes features samples/class   features-side  samples-side          auto   auto/best   difference")
    for classes, features, each in SHAPES:
        best, apart = race(classes, features, each, options.rounds)
        fastest = min(best[side] for side in best if side != "auto")
        seconds = [f"{best[side]:12.4f} s" if side in best else f"{'-':>14}" for side in SIDES]
        print(f"{classes:7} {features:8} {each:13} {' '.join(seconds)} {best['auto'] / fastest:11.2f} {apart:12.1e}")
        if options.record:
            row = {"classes": classes, "features": features, "samples_per_class": each, "threads": options.threads}
            record("naa", {**row, **{f"{side}_seconds": round(best.get(side, float("nan")), 4) for side in SIDES}})


if __name__ == "__main__":
    main()

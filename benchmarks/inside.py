"""What a pass of a loss consists of: shares of its time by torch's profiler, for losses whose goals are not met.

Python's own time is part of what is around a step of torch; profiling makes short steps longer than they are, so that
this says nothing of a few classes.
Run: python benchmarks/inside.py [--losses "lwal 1000,labelemb 1000"] [--seconds 1] [--record]
"""

import argparse
import time
import warnings
from collections import defaultdict

import torch
from losses import passes
from torch.profiler import ProfilerActivity, profile

from results import HERE, keep_memory, write

USUAL = "lls rank 64 1000,labelemb 1000,labelemb by rows 10000,labelemb rank 100 10000,lwal 1000"
GROUPS = {  # the beginnings of what torch calls its steps
    "products": ("mkldnn", "aten::mm", "aten::addm", "aten::mv"),
    "softmaxes": ("aten::_softmax", "aten::_log_softmax"),
    "rows read and added up": ("aten::index_", "aten::embedding", "aten::fill_", "aten::gather"),
    "numpy, and Python around it": ("_Known",),
    "arithmetic": tuple(
        f"aten::{name}"
        for name in (
            "mul",
            "add",
            "sub",
            "div",
            "sum",
            "sqrt",
            "pow",
            "clamp",
            "threshold",
            "exp",
            "linalg",
            "masked",
            "mean",
        )
    ),
}


def shares(name: str, classes: int, seconds: float) -> dict[str, object]:
    """Return the microseconds of a pass, and what share of the time in it each group of steps takes."""
    _, found, _ = passes(name, classes, 128)
    step = found["own"]
    for _ in range(20):
        step()
    began, count = time.process_time(), 0
    while time.process_time() - began < seconds:
        step()
        count += 1
    microseconds = 1e6 * (time.process_time() - began) / count
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        for _ in range(count):
            step()
    taken: dict[str, float] = defaultdict(float)
    for each in profiled.key_averages():
        group = next((one for one, names in GROUPS.items() if each.key.startswith(names)), "all else")
        taken[group] += each.self_cpu_time_total
    total = sum(taken.values())
    row = {group: round(taken[group] / total, 3) for group in (*GROUPS, "all else")}
    return {"loss": name, "classes": classes, "microseconds": round(microseconds, 1), **row}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--losses", default=USUAL)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--record", action="store_true", help="write results/inside.csv anew")
    options = parser.parse_args(arguments)
    keep_memory()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", UserWarning)
    rows = []
    for loss in options.losses.split(","):
        name, _, classes = loss.strip().rpartition(" ")
        rows.append(shares(name, int(classes), options.seconds))
        print(*rows[-1].values(), sep="  ", flush=True)
    if options.record:
        write(HERE / "results" / "inside.csv", rows)


if __name__ == "__main__":
    main()

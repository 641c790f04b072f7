"""Training on pairs of texts: target tokens per second of the library's loop, beside a plain loop step by step.

The plain loop has a copy of the network that the method trains, from the same start, and takes the same batches in turn
with it: it pads the pairs of a batch, calls the network, ``nn.CrossEntropyLoss`` and ``torch.optim.Adam``, and does
nothing else. Seconds are those of the clock, and those that this process had a processor: where other programs compute
too, the second ones tell the loops apart.
Run: python benchmarks/sequences.py [--methods onehot,uniform] [--model seq2seq-256] [--steps 60] [--record]
"""

import argparse
import copy
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from labelspace import data
from labelspace.models.sentences import sentences
from labelspace.training.build import prepare
from labelspace.training.config import make_config
from labelspace.training.loop import Loop
from results import record

RANKS = {"labelemb": 100, "lls": 64}
CLOCKS: dict[str, Callable[[], float]] = {"": time.perf_counter, "cpu_": time.process_time}


class Plain:
    """A loop as people write it."""

    def __init__(self, model: nn.Module, x: Tensor, y: Tensor, classes: int, rate: float) -> None:
        """Begin with a network."""
        self.model, self.x, self.y, self.classes = model.train(), x, y, classes
        self.optimizer = torch.optim.Adam(model.parameters(), lr=rate)
        self.loss = nn.CrossEntropyLoss()

    def step(self, rows: Tensor) -> None:
        """Train on a batch."""
        batch, labels = sentences(self.x[rows], self.y[rows], self.classes)
        self.optimizer.zero_grad()
        self.loss(self.model(batch)[0], labels).backward()
        self.optimizer.step()


def measured(method: str, options: argparse.Namespace, dataset: data.Dataset) -> dict[str, float]:
    rank = min(RANKS.get(method, 0), len(dataset.names))
    config = make_config(
        data=options.data,
        model=options.model,
        method=method,
        method_options={"rank": rank} if rank else {},
        batch_size=options.batch_size,
        threads=options.threads,
    )
    loop = Loop(prepare(config, dataset))
    loop.learner.train()
    split, classes = dataset.train, len(dataset.names)
    plain = Plain(copy.deepcopy(loop.learner.model), split.x, split.y, classes, config.learning_rate)
    seconds: dict[tuple[str, str], list[float]] = {(clock, name): [] for clock in CLOCKS for name in ("plain", "ours")}
    tokens = 0
    for step, rows in zip(range(options.steps), (rows for _, rows in loop._batches(0)), strict=False):
        turns = {
            "plain": lambda rows=rows: plain.step(rows),
            "ours": lambda rows=rows, step=step: loop._step(step, rows),
        }
        for name in sorted(turns, reverse=bool(step % 2)):  # each goes first in every second step
            began = {clock: read() for clock, read in CLOCKS.items()}
            turns[name]()
            for clock, read in CLOCKS.items():
                seconds[clock, name].append(read() - began[clock])
        tokens += loop.feed.count(rows)
    found = {}
    for clock in CLOCKS:
        plainly, ours = (seconds[clock, name] for name in ("plain", "ours"))
        found[f"tokens_per_{clock}second"] = tokens / sum(ours)
        found[f"plain_tokens_per_{clock}second"] = tokens / sum(plainly)
        found[f"{clock}speed"] = sum(plainly) / sum(ours)
        found[f"median_{clock}step_ratio"] = statistics.median(a / b for a, b in zip(ours, plainly, strict=True))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="multi30k", help="a name, or a folder of pairs of texts")
    parser.add_argument("--model", default="seq2seq-256")
    parser.add_argument("--methods", default="onehot,uniform,lls,labelemb")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--record", action="store_true", help="append the numbers to benchmarks/results/sequences.csv")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    dataset = data.load(options.data, **({"kind": "sequences"} if Path(options.data).exists() else {}))
    print(f"{dataset} · {options.model} · batches of {options.batch_size} · {options.threads} threads")
    facts = {key: value for key, value in vars(options).items() if key not in ("methods", "record")}
    for method in options.methods.split(","):
        found = measured(method, options, dataset)
        for clock, unit in (("", "second"), ("cpu_", "CPU second")):
            print(
                f"{method:<9} {found[f'tokens_per_{clock}second']:>8,.0f} target tokens per {unit}, plain loop "
                f"{found[f'plain_tokens_per_{clock}second']:>8,.0f}: {found[f'{clock}speed']:.3f} of its speed"
            )
        if options.record:
            numbers = {key: round(value, 4) for key, value in found.items()}
            record("sequences", {**facts, "data": Path(options.data).name, "method": method, **numbers})


if __name__ == "__main__":
    main()

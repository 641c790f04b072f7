"""Training on pairs of texts: target tokens per second of the library's loop against a plain one, step by step.

Both train a network of the same kind from the same start on the same batches, in turn; the plain loop pads the pairs of
a batch, calls the network, ``nn.CrossEntropyLoss`` and ``torch.optim.Adam``, and nothing else. CPU seconds of this
process count, so that a busy machine disturbs both alike.
Run: python benchmarks/sequences.py [--methods onehot,uniform] [--model seq2seq-256] [--steps 60] [--record]
"""

import argparse
import copy
import statistics
import time

import torch
from torch import Tensor, nn

from labelspace import data
from labelspace.models.sentences import sentences
from labelspace.training.build import prepare
from labelspace.training.config import make_config
from labelspace.training.loop import Loop
from results import record

OPTIONS = {"labelemb": {"rank": 100}, "lls": {"rank": 64}}


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
    config = make_config(
        data=options.data,
        model=options.model,
        method=method,
        method_options=OPTIONS.get(method, {}),
        batch_size=options.batch_size,
        threads=options.threads,
    )
    loop = Loop(prepare(config, dataset))
    loop.learner.train()
    split, classes = dataset.train, len(dataset.names)
    plain = Plain(copy.deepcopy(loop.learner.model), split.x, split.y, classes, config.learning_rate)
    seconds: dict[str, list[float]] = {"plain": [], "ours": []}
    tokens = 0
    for step, rows in zip(range(options.steps), (rows for _, rows in loop._batches(0)), strict=False):
        turns = {
            "plain": lambda rows=rows: plain.step(rows),
            "ours": lambda rows=rows, step=step: loop._step(step, rows),
        }
        for name in sorted(turns, reverse=bool(step % 2)):  # each goes first in every second step
            began = time.process_time()
            turns[name]()
            seconds[name].append(time.process_time() - began)
        tokens += loop.feed.count(rows)
    ratios = [mine / theirs for mine, theirs in zip(seconds["ours"], seconds["plain"], strict=True)]
    total = {name: sum(values) for name, values in seconds.items()}
    return {
        "tokens_per_cpu_second": tokens / total["ours"],
        "plain_tokens_per_cpu_second": tokens / total["plain"],
        "speed": total["plain"] / total["ours"],
        "median_step_ratio": statistics.median(ratios),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="multi30k")
    parser.add_argument("--model", default="seq2seq-256")
    parser.add_argument("--methods", default="onehot,uniform,lls,labelemb")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--record", action="store_true", help="append the numbers to benchmarks/results/sequences.csv")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    dataset = data.load(options.data)
    print(f"{dataset} · {options.model} · batches of {options.batch_size} · {options.threads} threads")
    for method in options.methods.split(","):
        found = measured(method, options, dataset)
        print(
            f"{method:<9} {found['tokens_per_cpu_second']:>8,.0f} target tokens per CPU second, plain loop "
            f"{found['plain_tokens_per_cpu_second']:>8,.0f}: {found['speed']:.3f} of its speed"
        )
        if options.record:
            record("sequences", {**vars(options), "method": method, **{k: round(v, 4) for k, v in found.items()}})


if __name__ == "__main__":
    main()

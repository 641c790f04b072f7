"""One epoch of training: the library's loop against a bare hand-written one and against the same through a DataLoader.

All three train the same network on the same tensors, one after the other in each round; the best rounds count.
Run: python benchmarks/loop.py [--data fashion-mnist] [--model cnn-6-layer-2] [--rounds 3]
"""

import argparse
import time

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from labelspace import data, models
from labelspace.data.dataset import Dataset
from labelspace.training.build import prepare
from labelspace.training.config import Config
from labelspace.training.loop import Loop
from results import record


def bare(model: nn.Module, x: Tensor, y: Tensor, config: Config) -> float:
    """One epoch, written by hand."""
    optimizer = torch.optim.SGD(model.parameters(), lr=config.learning_rate, momentum=config.momentum)
    started = time.perf_counter()
    for rows in torch.split(torch.randperm(len(x)), config.batch_size):
        loss = nn.functional.cross_entropy(model(x[rows])[0], y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return time.perf_counter() - started


def through_a_loader(model: nn.Module, x: Tensor, y: Tensor, config: Config) -> float:
    """The same loop over a DataLoader."""
    optimizer = torch.optim.SGD(model.parameters(), lr=config.learning_rate, momentum=config.momentum)
    loader = DataLoader(TensorDataset(x, y), batch_size=config.batch_size, shuffle=True)
    started = time.perf_counter()
    for batch, labels in loader:
        loss = nn.functional.cross_entropy(model(batch)[0], labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return time.perf_counter() - started


def own(loop: Loop) -> float:
    """One epoch of the library's loop, without the evaluation that follows."""
    started = time.perf_counter()
    loop.progress.step = 0
    for step, rows in loop._batches(loop.progress.epoch):
        loop._step(step, rows)
    return time.perf_counter() - started


def everything(dataset: Dataset) -> Dataset:
    """Return the dataset with validation samples trained on too: the published training set, whole."""
    from dataclasses import replace

    from labelspace.data.dataset import Split

    parts = (dataset.train, dataset.validation)
    return replace(dataset, train=Split(torch.cat([p.x for p in parts]), torch.cat([p.y for p in parts])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="fashion-mnist")
    parser.add_argument("--model", default="cnn-6-layer-2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--record", action="store_true", help="append the numbers to benchmarks/results/loop.csv")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    dataset = everything(data.load(options.data))
    config = Config(
        data=options.data,
        model=options.model,
        optimizer="sgd",
        learning_rate=0.01,
        batch_size=options.batch_size,
        threads=options.threads,
    )
    loop = Loop(prepare(config, dataset))
    assert loop.feed.ready is not None
    x, y = loop.feed.ready, loop.y
    times: dict[str, list[float]] = {"bare": [], "own": [], "loader": []}
    for _ in range(options.rounds):
        times["bare"].append(bare(models.build(options.model, dataset.input_shape, 10), x, y, config))
        times["own"].append(own(loop))
        times["loader"].append(through_a_loader(models.build(options.model, dataset.input_shape, 10), x, y, config))
    best = {name: min(values) for name, values in times.items()}
    print(
        f"{options.data} · {len(x)} samples · {options.model} · batch {options.batch_size} · {options.threads} threads"
    )
    print(f"own / bare loop      {best['own'] / best['bare']:.3f}   ({best['own']:.2f} s / {best['bare']:.2f} s)")
    print(f"DataLoader / own     {best['loader'] / best['own']:.3f}   ({best['loader']:.2f} s)")
    if options.record:
        record("loop", {**vars(options), **{f"{name}_seconds": round(value, 4) for name, value in best.items()}})


if __name__ == "__main__":
    main()

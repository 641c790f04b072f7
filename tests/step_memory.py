"""How much memory a step of training takes, with chunks and without: ``python step_memory.py CLASSES SAMPLES``."""

import sys
from pathlib import Path

import torch

from labelspace.data.dataset import Dataset, Split
from labelspace.data.normalize import Normalize
from labelspace.training import chunks
from labelspace.training.build import prepare
from labelspace.training.config import make_config
from labelspace.training.loop import Loop


def highest() -> int:
    """Return the most bytes that this process has had in memory since it was last asked to forget that."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def made(classes: int, count: int) -> Dataset:
    """Return samples of eight numbers, all of them for training."""
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(count, 8, generator=generator), torch.randint(classes, (count,), generator=generator)
    train, rest = Split(x, y), Split(x[:0], y[:0])
    names = tuple(f"c{place}" for place in range(classes))
    scale = Normalize("table", torch.zeros(8), torch.ones(8))
    return Dataset(train, rest, rest, names, "table", {}, scale, key="made")


def main(classes: int, count: int) -> None:
    dataset = made(classes, count)
    config = make_config(data="made", method="uniform", model="linear", epochs=1, batch_size=count, optimizer="sgd")
    for large in (chunks.LARGE, classes * count + 1):
        chunks.LARGE = large
        loop = Loop(prepare(config, dataset))
        Path("/proc/self/clear_refs").write_text("5")
        before = highest()
        loop.run()
        print(highest() - before)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(int(sys.argv[1]), int(sys.argv[2]))

"""How often a whole comparison is wrong where nothing can differ: data are drawn, networks are trained, all is judged.

``benchmarks/verdict.py`` draws networks instead of training them; here ``labelspace.compare`` does everything itself:
trials, choices, temperatures, intervals and the verdict. Every draw has data of its own.
Run: python benchmarks/verdict_null.py [--draws 20] [--cells 'noise'] [--record]
"""

import argparse
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import binomtest
from torch import nn

import labelspace
from labelspace.comparison import classified
from labelspace.sweeps.executors import InProcess

CLASSES, INPUTS = 5, 6
SIZES = {"train": 300, "validation": 150, "test": 400}
LETTERS = "abcdefg"
# weights of a penalty that is then none: one-hot labels by other names; equal ones would be one training
NOTHING = {letter: [(3 * place + each) * 1e-9 for each in range(1, 4)] for place, letter in enumerate(LETTERS)}
LEAST = [1e-9, 2e-9, 4e-9]  # shares of a target that are given to other classes
COLUMNS = ("cheaper", "dearer", "no difference", "undecided")
Drawn = tuple[NDArray[np.float64], NDArray[np.int64]]
free = torch.Generator().manual_seed(0)  # of initial weights, whatever the seed of a run


@contextmanager
def own_weights() -> Iterator[None]:
    """Give every network initial weights that no other network has, drawn as torch draws them.

    The library starts all methods of a seed from the same weights: equal methods would be equal to the last digit, and
    nothing could go wrong. So every network here differs from every other as those of two seeds do.
    """

    def drawn(layer: nn.Linear) -> None:
        for values in (layer.weight, layer.bias):
            nn.init.uniform_(values, -(layer.in_features**-0.5), layer.in_features**-0.5, generator=free)

    with patch.object(nn.Linear, "reset_parameters", drawn):
        yield


def ordered(random: np.random.Generator, samples: int) -> Drawn:
    """Draw classes along a line, each of which spreads into its neighbours."""
    x, y = noise(random, samples)
    x[:, 0] += 1.2 * y
    return x, y


def noise(random: np.random.Generator, samples: int) -> Drawn:
    """Draw classes that have nothing to do with the numbers beside them."""
    return random.normal(size=(samples, INPUTS)), random.integers(CLASSES, size=samples)


def random_space(random: np.random.Generator) -> labelspace.LabelSpace:
    """Draw how near classes are to each other."""
    near = random.dirichlet(np.ones(CLASSES - 1), size=CLASSES)
    matrix = np.zeros((CLASSES, CLASSES))
    matrix[~np.eye(CLASSES, dtype=bool)] = near.ravel()
    return labelspace.LabelSpace([str(each) for each in range(CLASSES)], torch.from_numpy(matrix), kind="relations")


class Drawing(NamedTuple):
    """What one draw gave: the verdict, and whether its interval covers that nothing differs (None without one)."""

    kind: str
    covers: bool | None


class Cell:
    """One kind of question whose answer is that nothing differs.

    Args:
        data: draws samples.
        methods: beside one-hot labels.
        strengths: of each, none of which does anything, or anything that could help.
        drawn_space: whether the label space is drawn too; else the order of the classes.
    """

    def __init__(
        self,
        data: Callable[[np.random.Generator, int], Drawn],
        methods: Sequence[str],
        strengths: Mapping[str, Sequence[float]],
        drawn_space: bool = False,
    ) -> None:
        """Keep them."""
        self.data, self.methods, self.strengths, self.drawn_space = data, list(methods), strengths, drawn_space

    def verdict(self, random: np.random.Generator) -> Drawing:
        """Draw data, compare, and return what came out."""
        space: Any = random_space(random) if self.drawn_space else [str(each) for each in range(CLASSES)]
        # pictures of how classes lie take longer than all the rest, and nothing is judged by them
        undrawn = patch.object(classified, "write_geometry", lambda *those: None)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), own_weights(), undrawn:
            warnings.simplefilter("ignore")
            found = labelspace.compare(
                {part: self.data(random, samples) for part, samples in SIZES.items()},
                methods=self.methods,
                space=space,
                cost="squared",
                model="mlp-8",
                seeds=6,
                epochs=12,
                batch_size=150,
                learning_rate=0.05,
                rivals="none",
                strengths={"onehot": [0.0], **self.strengths},
                out=folder,
                executor=InProcess(),
            )
        ends = found.verdict.interval
        return Drawing(found.verdict.kind, None if ends is None else ends[0] <= 0 <= ends[1])


CELLS = {
    "the same method seven times": Cell(ordered, [f"{each}=maxent" for each in LETTERS], NOTHING),
    "random label space": Cell(ordered, ["semantic", "uniform"], {"semantic": LEAST, "uniform": LEAST}, True),
    "labels of noise": Cell(noise, ["uniform", "semantic"], {"uniform": [0.05, 0.2, 0.5], "semantic": [0.1, 0.3, 0.7]}),
}


def simulate(cell: Cell, draws: int, seed: int = 0, seconds: float = float("inf")) -> list[Drawing]:
    """Return what every draw gave; fewer draws where the processor time is over, of which others take nothing."""
    random, began = np.random.default_rng(seed), time.process_time()
    found: list[Drawing] = []
    while len(found) < draws and time.process_time() - began < seconds:
        found.append(cell.verdict(random))
    return found


def share(hits: int, draws: int) -> str:
    """Return a rate in percent with its Wilson interval."""
    if not draws:
        return "–"
    ends = binomtest(hits, draws).proportion_ci(method="wilson")
    return f"{100 * hits / draws:.1f} [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"


def main(words: Sequence[str] | None = None) -> None:
    """Print the rates of every cell, and record them if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of processor time of each cell")
    parser.add_argument("--cells", help="names with bars between; all if left out")
    parser.add_argument("--record", action="store_true", help="append the rates to benchmarks/results/verdict_null.csv")
    options = parser.parse_args(words)
    torch.set_num_threads(1)
    titles = (*COLUMNS, "coverage")
    print(f"{'percent, with Wilson intervals':30}{'draws':>6}" + "".join(f"{name:>20}" for name in titles), flush=True)
    for name in CELLS if options.cells is None else options.cells.split("|"):
        found = simulate(CELLS[name], options.draws, seconds=options.seconds)
        kinds, covers = Counter(each.kind for each in found), [each.covers for each in found if each.covers is not None]
        shares = {kind: share(kinds[kind], len(found)) for kind in COLUMNS}
        shares["coverage"] = share(sum(covers), len(covers))
        print(f"{name:30}{len(found):6}" + "".join(f"{each:>20}" for each in shares.values()), flush=True)
        if options.record:
            from results import record

            record("verdict_null", {"cell": name, "draws": len(found), **shares})


if __name__ == "__main__":
    main()

"""How often the verdict over several splits is wrong where nothing differs, and how often it finds what differs.

Nothing is trained. Samples have chances of a mistake, and suit a method more or less (by a normal number for each
method and sample); so does every training set (one number for each method and split). Splits draw their test part from
the same samples. Interval and verdict are the library's own. Without an effect both methods are alike over samples and
training sets: whatever is called cheaper or dearer is wrong.
Run: python benchmarks/splits.py [--draws 1000] [--cells '5 splits|10 splits'] [--record]
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from labelspace.comparison.split_rows import change_over
from labelspace.comparison.verdict import kind_of

Array = NDArray[np.float64]
MARGIN, LEVEL = 0.05, 0.95
KINDS = ("cheaper", "dearer", "no difference", "undecided")


class Cell(NamedTuple):
    """One kind of data.

    Args:
        splits: how many.
        samples: of all parts together.
        test: the share of them that is tested on.
        odds: the mean logarithm of the odds of a mistake.
        suits: how much samples suit one method and not the other.
        sets: how much training sets do.
        dear: the share of samples whose mistakes cost 1,000 and not 1.
        seeds: trainings of each method in each split.
        effect: what is added to the logarithm of the odds of the second method.
    """

    splits: int = 5
    samples: int = 1000
    test: float = 0.15
    odds: float = -1.5
    suits: float = 0.7
    sets: float = 0.3
    dear: float = 0.0
    seeds: int = 3
    effect: float = 0.0


CELLS = {
    "3 splits": Cell(splits=3),
    "5 splits": Cell(),
    "10 splits": Cell(splits=10),
    "5 splits, test 39 %": Cell(samples=1797, test=0.39),
    "3 splits, 180 samples": Cell(splits=3, samples=180, odds=-3.5, seeds=1),
    "5 splits, 180 samples": Cell(samples=180, odds=-3.5, seeds=1),
    "5 splits, dear 2 %": Cell(dear=0.02),
    "5 splits, dear 0.5 %": Cell(dear=0.005, suits=3.0),
    "5 splits, no training sets": Cell(sets=0.0),
    "effect, 3 splits": Cell(splits=3, effect=-0.6),
    "effect, 5 splits": Cell(effect=-0.6),
    "effect, 10 splits": Cell(splits=10, effect=-0.6),
}


def costs_of(cell: Cell, random: np.random.Generator) -> Array:
    """Return the mean costs of both methods, one for each split, of one world."""
    prices = np.where(random.random(cell.samples) < cell.dear, 1000.0, 1.0)
    shared = random.normal(cell.odds, 1.2, cell.samples)
    odds = shared + random.normal(0, cell.suits, (2, cell.samples)) + np.array([[0.0], [cell.effect]])
    costs = np.zeros((2, cell.splits))
    for split in range(cell.splits):
        test = random.permutation(cell.samples)[: round(cell.test * cell.samples)]
        moved = odds[:, test] + random.normal(0, cell.sets, (2, 1))
        mistakes = random.random((cell.seeds, *moved.shape)) < 1 / (1 + np.exp(-moved))
        costs[:, split] = (mistakes * prices[test]).mean(axis=(0, 2))
    return costs


def simulate(cell: Cell, draws: int, seed: int = 0) -> Counter[str]:
    """Draw so many worlds and count the verdicts."""
    random = np.random.default_rng(seed)
    share = cell.test / (1 - cell.test)
    found: Counter[str] = Counter()
    for _ in range(draws):
        reference, mine = costs_of(cell, random).tolist()
        found[kind_of(change_over(mine, reference, share, LEVEL), MARGIN)] += 1
    return found


def shown(hits: int, draws: int) -> str:
    """Return a rate in percent with its Wilson interval."""
    ends = binomtest(hits, draws).proportion_ci(method="wilson")
    return f"{100 * hits / draws:.1f} [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"


def main(words: Sequence[str] | None = None) -> None:
    """Print the rates of every cell, and record them if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--cells", help="names with bars between; all if left out")
    parser.add_argument("--record", action="store_true", help="append the rates to benchmarks/results/splits.csv")
    options = parser.parse_args(words)
    print(f"{'percent, with Wilson intervals':30}" + "".join(f"{name:>20}" for name in KINDS), flush=True)
    for name in CELLS if options.cells is None else options.cells.split("|"):
        found = simulate(CELLS[name], options.draws)
        shares = {kind: shown(found[kind], options.draws) for kind in KINDS}
        print(f"{name:30}" + "".join(f"{each:>20}" for each in shares.values()), flush=True)
        if options.record:
            from results import record

            record("splits", {"cell": name, "draws": options.draws, **shares})


if __name__ == "__main__":
    main()

"""How often the verdict is wrong where nothing differs, and how often it finds what differs: nothing is trained.

Networks are drawn instead: a reference and seven methods of five strengths each, whose mistakes on validation and test
samples have known chances. Interval and verdict are then the library's own; strengths and winner are chosen as it does,
but for all five strengths being tried with every tuning seed. Every cell is
one kind of data: how much seeds differ, rare dear mistakes, few samples, groups, samples that differ. *Wrong* is
a verdict of cheaper where the truth is not below 0, and one of dearer where it is not above.
Run: python benchmarks/verdict.py [--draws 400] [--cells 'comfortable|bottleneck'] [--chosen fresh] [--record]
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import binomtest

from labelspace.comparison.change import change_of
from labelspace.comparison.split_rows import change_over
from labelspace.comparison.verdict import kind_of
from labelspace.metrics import Interval

Array = NDArray[np.float64]
METHODS, STRENGTHS, SEEDS, TUNING = 7, 5, 6, 3
MARGIN, LEVEL = 0.05, 0.95
DEAR_SHARE = 0.02  # of samples: those whose mistakes are dear
SHARE = 0.25  # of several splits, test samples per sample that is trained or chosen with
HARD, OWN, EASIER = 2.0, 0.5, 1.5  # how hard samples are: for all, for one method alone, and on average
CHOSEN = ("fresh", "reused", "simultaneous")


class Cell(NamedTuple):
    """One kind of data, and what is true there.

    Args:
        spread: of networks: the standard deviation of the logarithm of the odds of a mistake over seeds.
        samples: of the test part, and of the validation part.
        prices: of ordinary mistakes, one of them for each sample.
        dear: what a mistake costs on two percent of the samples; 0 where there are no such samples.
        groups: of the test part; 0 for samples that have none.
        differ: on so many samples either the reference is wrong or all methods are, whatever the seed; on all others
            everybody decides alike. 0 for networks that make mistakes of their own.
        shared: of the spread, what all methods trained with one seed share.
        training: what a training set does to each method, the same for all its seeds.
        effect: relative change of the cost: of three methods all of it, of the others half.
        wrong: the share of mistakes, about.
        gain: what being right gains.
        here: whether what is true is that of the training set that was drawn, and not of others.
        splits: so many training sets, each with a winner of its own.
    """

    spread: float = 0.1
    samples: int = 400
    prices: tuple[float, ...] = (1.0, 1.0, 4.0, 9.0)
    dear: float = 0.0
    groups: int = 0
    differ: int = 0
    shared: float = 0.0
    training: float = 0.0
    effect: float = 0.0
    wrong: float = 0.08
    gain: float = 0.0
    here: bool = False
    splits: int = 1


EVEN = (1.0,)
CELLS = {
    "comfortable": Cell(),
    "bottleneck": Cell(spread=0.5),
    "bottleneck, 5000 samples": Cell(spread=0.5, samples=5000),
    "seeds shared by all methods": Cell(spread=0.5, shared=0.8),
    **{
        f"dear {dear}, {samples} samples": Cell(spread=0.3, samples=samples, prices=EVEN, dear=dear, wrong=0.15)
        for dear in (100, 1000)
        for samples in (200, 700, 5000)
    },
    **{f"{differ} samples differ": Cell(differ=differ, wrong=0.02) for differ in (2, 4, 8, 30)},
    **{f"{groups} groups": Cell(spread=0.3, groups=groups) for groups in (1, 2, 5, 10, 20)},
    "10 groups, dear 100": Cell(spread=0.3, groups=10, prices=EVEN, dear=100, wrong=0.15),
    # as the digits are: 697 test samples; a small network varies by 15 percent from seed to seed
    "digits, comfortable": Cell(samples=697, effect=0.0),
    "digits, bottleneck": Cell(spread=0.25, samples=697, wrong=0.25),
    "digits, comfortable, -35": Cell(samples=697, effect=-0.35),
    "digits, comfortable, -50": Cell(samples=697, effect=-0.5),
    "digits, bottleneck, -35": Cell(spread=0.25, samples=697, wrong=0.25, effect=-0.35),
    "digits, bottleneck, -50": Cell(spread=0.25, samples=697, wrong=0.25, effect=-0.5),
    "effect -35, comfortable": Cell(effect=-0.35),
    "effect -50, comfortable": Cell(effect=-0.5),
    "effect -35, bottleneck": Cell(spread=0.5, effect=-0.35),
    "effect -50, bottleneck": Cell(spread=0.5, effect=-0.5),
    "effect -3, 5000 samples": Cell(spread=0.05, samples=5000, effect=-0.03),
    "training sets differ": Cell(spread=0.3, training=0.15),
    "training sets differ, this split": Cell(spread=0.3, training=0.15, here=True),
    "training sets differ, 5 splits": Cell(spread=0.3, training=0.15, here=True, splits=5),
    "training sets differ, 10 splits": Cell(spread=0.3, training=0.15, here=True, splits=10),
    # gains and losses cancel, or gains are more
    "gains, mean about 0": Cell(gain=0.3),
    "gains, mean about 0, bottleneck": Cell(spread=0.5, gain=0.3),
    "gains": Cell(gain=2.0),
    "gains, 20 groups": Cell(spread=0.3, groups=20, gain=0.38),
    "gains, effect -50": Cell(gain=0.3, effect=-0.5),
}


class Part(NamedTuple):
    """Samples: the logarithm of the odds of a mistake, of every method's own (methods, samples), prices and groups."""

    odds: Array
    prices: Array
    groups: NDArray[np.int64] | None


def drawn_part(cell: Cell, random: np.random.Generator) -> Part:
    """Draw samples: some hard for all, some harder for one method than for another, which evens out."""
    samples = cell.samples
    hard = np.log(cell.wrong / (1 - cell.wrong)) - EASIER + HARD * random.normal(size=samples)
    own = OWN * random.normal(size=(1 + METHODS, samples))
    prices = random.choice(cell.prices, size=samples)
    if cell.dear:
        prices = np.where(random.random(samples) < DEAR_SHARE, cell.dear, prices)
    if not cell.groups:
        return Part(hard + own, prices, None)
    groups = np.arange(samples) % cell.groups
    shift = random.normal(size=cell.groups)
    theirs = 0.5 * random.normal(size=(1 + METHODS, cell.groups))
    return Part(hard + own + (shift + theirs)[:, groups], prices, groups)


class World:
    """One draw of a training set, its networks and samples; networks are drawn once and judged on both parts."""

    def __init__(self, cell: Cell, random: np.random.Generator) -> None:
        """Draw samples, and what all networks of a seed or of a method share."""
        self.cell, self.random = cell, random
        self.validation, self.test = drawn_part(cell, random), drawn_part(cell, random)
        self.training = cell.training * random.normal(size=(1 + METHODS, 1))
        self.common = cell.shared * cell.spread * random.normal(size=SEEDS + TUNING)
        self.changes = (0.0, *(cell.effect * (1.0 if method < 3 else 0.5) for method in range(METHODS)))
        self.same = random.random((2, cell.samples)) < cell.wrong  # where networks decide alike
        self.heads = random.random((2, cell.differ)) < 0.5  # who is wrong on the first samples, reference or methods

    def networks(self, method: int, seeds: slice, strengths: int = 1) -> Array:
        """Draw how good networks are, (strengths, seeds)."""
        own = (1 - self.cell.shared**2) ** 0.5 * self.cell.spread
        common = self.common[seeds]
        return common + own * self.random.normal(size=(strengths, len(common))) + self.training[method]

    def costs(self, method: int, networks: Array, on_test: bool) -> Array:
        """Draw the costs of networks, (…, samples)."""
        part = self.test if on_test else self.validation
        if self.cell.differ:
            alike, heads = self.same[int(on_test)].copy(), self.heads[int(on_test)]
            alike[: self.cell.differ] = heads if method == 0 else ~heads
            wrong = np.broadcast_to(alike, (*networks.shape, len(alike)))
        else:
            chance = 1 / (1 + np.exp(-(part.odds[method] + networks[..., None])))
            wrong = self.random.random(chance.shape) < chance * (1 + self.changes[method])
        return wrong * part.prices - self.cell.gain * ~wrong

    def truth(self, method: int) -> float:
        """Return the share of mistakes of a method's networks on all samples there might be, in a unit of its own.

        Where training sets have effects it is the one over all seeds trained with this set. The odds are normal then.
        """
        if not self.cell.here:
            return 1 + self.changes[method]
        spread = (HARD**2 + OWN**2 + self.cell.spread**2) ** 0.5
        mean = np.log(self.cell.wrong / (1 - self.cell.wrong)) - EASIER + float(self.training[method, 0])
        places, weights = np.polynomial.hermite_e.hermegauss(60)
        chances = 1 / (1 + np.exp(-(mean + spread * places)))
        return float(weights @ chances / weights.sum()) * (1 + self.changes[method])


class Choice(NamedTuple):
    """The winner, its networks, one per seed, and the level of its interval."""

    winner: int
    networks: Array
    level: float


def choose(world: World, chosen: str) -> Choice:
    """Choose strengths and the winner on validation data.

    Args:
        world: from which networks are drawn.
        chosen: on ``fresh`` networks, others than those that are judged; on the ``reused`` ones, of which the first was
            chosen for its strength too; or on these with a ``simultaneous`` interval for all methods.
    """
    if chosen == "fresh":
        best = [_tuned(world, method, slice(SEEDS, None))[1] for method in range(1, 1 + METHODS)]
        winner = 1 + int(np.argmin(best))
        return Choice(winner, world.networks(winner, slice(SEEDS))[0], LEVEL)
    networks = []
    for method in range(1, 1 + METHODS):
        first, _ = _tuned(world, method, slice(1))
        networks.append(np.concatenate([first, world.networks(method, slice(1, SEEDS))[0]]))
    costs = [float(world.costs(1 + place, each, False).mean()) for place, each in enumerate(networks)]
    winner = int(np.argmin(costs))
    level = 1 - (1 - LEVEL) / METHODS if chosen == "simultaneous" else LEVEL
    return Choice(1 + winner, networks[winner], level)


def _tuned(world: World, method: int, seeds: slice) -> tuple[Array, float]:
    """Return the networks of the best strength and their validation cost."""
    tried = world.networks(method, seeds, STRENGTHS)
    costs = world.costs(method, tried, False).mean(axis=(1, 2))
    return tried[int(np.argmin(costs))], float(costs.min())


class Found(NamedTuple):
    """What one draw gave: the verdict, whether it is wrong, and whether its interval covers the truth; None without."""

    kind: str
    wrong: bool
    covers: bool | None


def judged(cell: Cell, chosen: str, random: np.random.Generator) -> Found:
    """Draw a world or, of several splits, one for each, choose and judge as a comparison does."""
    drawn = [_split(cell, chosen, random) for _ in range(cell.splits)]
    truth = float(np.mean([each.truth[0] for each in drawn]) / np.mean([each.truth[1] for each in drawn])) - 1
    moved = drawn[0].moved
    if cell.splits > 1:
        moved = change_over(*([each.costs[place] for each in drawn] for place in range(2)), SHARE, LEVEL)
    kind = kind_of(moved, MARGIN)
    wrong = (kind == "cheaper" and truth >= 0) or (kind == "dearer" and truth <= 0)
    unknown = truth != 0 and cell.gain > 0  # the effect is one on mistakes, and what is gained is no mistake
    if moved is None or moved.low is None or moved.high is None or unknown:
        return Found(kind, wrong, None)
    return Found(kind, wrong, moved.low <= truth <= moved.high)


class Split(NamedTuple):
    """What one split gave: the change of one split, and mean costs of winner and reference, measured and true."""

    moved: Interval | None
    costs: tuple[float, float]
    truth: tuple[float, float]


def _split(cell: Cell, chosen: str, random: np.random.Generator) -> Split:
    world = World(cell, random)
    choice = choose(world, chosen)
    reference = world.costs(0, world.networks(0, slice(SEEDS))[0], True)
    costs = world.costs(choice.winner, choice.networks, True)
    groups = None if world.test.groups is None else torch.from_numpy(world.test.groups)
    moved = change_of(torch.from_numpy(costs), torch.from_numpy(reference), choice.level, groups)
    means = float(costs.mean()), float(reference.mean())
    return Split(moved, means, (world.truth(choice.winner), world.truth(0)))


class Rates(NamedTuple):
    """How often each verdict came out of so many draws, how many had an interval, and how many of these cover."""

    draws: int
    kinds: Counter[str]
    wrong: int
    intervals: int
    covered: int

    def share(self, kind: str) -> str:
        """Return a rate in percent with its Wilson interval."""
        return _share(self.kinds[kind], self.draws)

    @property
    def mistaken(self) -> str:
        """Return how many draws were called cheaper or dearer and are not, in percent."""
        return _share(self.wrong, self.draws)

    @property
    def coverage(self) -> str:
        """Return how many of the intervals cover the truth, in percent."""
        return _share(self.covered, self.intervals)


def _share(hits: int, draws: int) -> str:
    if not draws:
        return "–"
    ends = binomtest(hits, draws).proportion_ci(method="wilson")
    return f"{100 * hits / draws:.1f} [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"


def simulate(cell: Cell, chosen: str, draws: int, seed: int = 0) -> Rates:
    """Draw so many worlds and count the verdicts."""
    random = np.random.default_rng(seed)
    found = [judged(cell, chosen, random) for _ in range(draws)]
    covers = [each.covers for each in found if each.covers is not None]
    kinds, wrong = Counter(each.kind for each in found), sum(each.wrong for each in found)
    return Rates(draws, kinds, wrong, len(covers), sum(covers))


def main(words: Sequence[str] | None = None) -> None:
    """Print the rates of every cell, and record them if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--cells", help="names with bars between; all if left out")
    parser.add_argument("--chosen", default="fresh", choices=CHOSEN, help="on which networks the winner is chosen")
    parser.add_argument("--record", action="store_true", help="append the rates to benchmarks/results/verdict.csv")
    options = parser.parse_args(words)
    torch.set_num_threads(1)
    columns = ("cheaper", "dearer", "no difference", "undecided")
    print(
        f"{'percent, with Wilson intervals':32}" + "".join(f"{name:>20}" for name in (*columns, "wrong", "coverage")),
        flush=True,
    )
    for name in CELLS if options.cells is None else options.cells.split("|"):
        rates = simulate(CELLS[name], options.chosen, options.draws)
        shares = {**{kind: rates.share(kind) for kind in columns}, "wrong": rates.mistaken}
        print(f"{name:32}" + "".join(f"{each:>20}" for each in (*shares.values(), rates.coverage)), flush=True)
        if options.record:
            from results import record

            row = {"cell": name, "chosen": options.chosen, "draws": options.draws, **shares}
            record("verdict", {**row, "coverage": rates.coverage})


if __name__ == "__main__":
    main()

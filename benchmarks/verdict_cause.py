"""How often the cause of a saving is named wrongly: nothing is trained, costs are drawn, the tests are the library's.

A structured space saves half of the reference's cost. Its shuffled forms have some share of that gain on average, and
differ among each other by twice as much as seeds do. With a share of 1 the order has no part in it, and the space is
drawn as one more shuffle; with 0.75 a quarter of the gain is the order's.
Run: python benchmarks/verdict_cause.py [--draws 1000]
"""

import argparse
from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch
from scipy.stats import binomtest

from labelspace.comparison.cause import RANK, Shuffles, beyond_most, ranked, taken_in_turn
from labelspace.comparison.plan import EACH, SHUFFLES

SEEDS, SAMPLES, LEVEL = 6, 697, 0.95
WRONG, GAIN = 0.3, 0.5  # of the reference: mistakes, and what the space saves of them
SHARES = (1.0, 0.75, 0.5, 0.0)


def drawn(share: float, spread: float, shared: float, random: np.random.Generator) -> str:
    """Draw one comparison and return what would be said.

    Args:
        share: of the gain, what shuffled forms have on average.
        spread: of networks over seeds, relative; over shuffles twice that.
        shared: of the spread over seeds, what all networks of one seed share.
        random: of the draws.
    """
    hard = random.gamma(0.6, 1 / 0.6, SAMPLES)
    common = shared * spread * random.normal(size=SEEDS)
    own = (1 - shared**2) ** 0.5 * spread

    def costs(level: float, seeds: Sequence[int]) -> torch.Tensor:
        chance = level * np.exp(common[list(seeds)] + own * random.normal(size=len(seeds)))[:, None] * hard
        return torch.from_numpy((random.random(chance.shape) < chance).astype(float))

    turns = taken_in_turn(SHUFFLES + 1, EACH, SEEDS)
    # a space that is one more shuffle has a shuffle's luck
    lucks = np.exp(2 * spread * random.normal(size=SHUFFLES + 1))
    form = WRONG * (1 - share * GAIN)
    level = form * lucks[-1] if share == 1 else WRONG * (1 - GAIN)
    everyone = range(SEEDS)
    winner, reference = costs(level, everyone), costs(WRONG, everyone)
    forms = torch.stack([costs(form * luck, turn) for luck, turn in zip(lucks, turns[:-1], strict=False)])
    shuffles = Shuffles(forms, turns)
    if beyond_most(shuffles, winner, reference, None, LEVEL)[1] < 0:
        return "not the order"
    return "the order" if ranked(winner, shuffles).p_value <= RANK + 1e-9 else "not shown"


def simulate(share: float, spread: float, shared: float, draws: int, seed: int = 0) -> Counter[str]:
    """Count what is said over so many draws."""
    random = np.random.default_rng(seed)
    return Counter(drawn(share, spread, shared, random) for _ in range(draws))


def shown(hits: int, draws: int) -> str:
    """Return a rate in percent with its Wilson interval."""
    ends = binomtest(hits, draws).proportion_ci(method="wilson")
    return f"{100 * hits / draws:.1f} [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"


def main(words: Sequence[str] | None = None) -> None:
    """Print the rates of every cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args(words)
    torch.set_num_threads(1)
    print(
        "| shuffles' share of the gain | spread over seeds | shared by seeds | the order | not the order | not shown |"
    )
    for spread, shared in ((0.05, 0.0), (0.15, 0.0), (0.15, 0.8)):
        for share in SHARES:
            found = simulate(share, spread, shared, options.draws)
            rates = [shown(found[name], options.draws) for name in ("the order", "not the order", "not shown")]
            print(f"| {share:g} | {spread:g} | {shared:g} | {' | '.join(rates)} |", flush=True)


if __name__ == "__main__":
    main()

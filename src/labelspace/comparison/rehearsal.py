"""How every model is trained: rate, decay and epochs, chosen for the reference before anything is compared.

With a rate that suits nobody, or an end that comes too soon, a comparison says who learns fastest, not what labels do.
The choice is made for one-hot labels, on validation data, and taken by every method: none has an advantage but them.
"""

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from labelspace.comparison.budget import SHORTEST
from labelspace.comparison.plan import Plan
from labelspace.decisions.calibration import calibrated_nll
from labelspace.results import Rehearsed
from labelspace.training.config import Config, make_config
from labelspace.training.optimizer import learning_rate
from labelspace.training.run import Run

TUNED = ("learning_rate", "weight_decay", "epochs")
FURTHER = 2  # rates beyond the ends of the first three
# of the weights' logarithm, what decay alone would take away in a whole training: a fraction of them, and nearly all
SHRINKS = (1.0, 4.0)
USUAL_RUNS = 7  # of a rehearsal: three rates and one beyond, two decays, fewer epochs

Train = Callable[[Sequence[Config]], Sequence[Run | None]]


class Choice(NamedTuple):
    """How to train."""

    learning_rate: float
    weight_decay: float
    epochs: int


def rehearse(plan: Plan, method: str, fixed: Collection[str], steps: int, train: Train) -> Plan:
    """Return the plan with the rate, decay and epochs with which the reference is best on validation data.

    One after the other: the rate, from three and further where an end of them is the best; then decay; then whether
    fewer epochs do as well. Judged by the NLL at its best temperature, as temperatures are fitted afterwards.

    Args:
        plan: as it would be without.
        method: of the reference.
        fixed: which of the three were asked for, and are left alone.
        steps: of an epoch.
        train: trains, and gives None for what failed.
    """
    rehearsal = _Rehearsal(plan, method, train)
    rate, decay, epochs = (getattr(plan.config, name) for name in TUNED)
    best = rehearsal.best([Choice(rate, decay, epochs)])
    if "learning_rate" not in fixed:
        best = _rate(rehearsal, best)
    if "weight_decay" not in fixed:
        total = steps * sum(learning_rate(_as(plan.config, best), epoch) for epoch in range(epochs))
        best = rehearsal.best([best._replace(weight_decay=_rounded(shrink / total)) for shrink in SHRINKS])
    if "epochs" not in fixed and (fewer := max(SHORTEST, epochs // 3)) < epochs:
        best = rehearsal.best([best._replace(epochs=fewer)])
    return plan.with_training(**best._asdict()).model_copy(update={"rehearsal": rehearsal.lines()})


def _rate(rehearsal: "_Rehearsal", best: Choice) -> Choice:
    """Return the choice with the best rate: three at first, then on where the best is at an end."""
    low = high = best.learning_rate
    wanted = [low := _beside(low, -1), high := _beside(high, +1)]
    for _ in range(1 + FURTHER):
        best = rehearsal.best([best._replace(learning_rate=rate) for rate in wanted])
        if best.learning_rate == low:
            wanted = [low := _beside(low, -1)]
        elif best.learning_rate == high:
            wanted = [high := _beside(high, +1)]
        else:
            return best
    return best


def _beside(rate: float, places: int) -> float:
    """Return the next rate on a scale of 1, 3, 10, 30, … times a power of ten.

    Example:
        >>> _beside(0.01, -1), _beside(0.003, +1), _beside(0.03, +1)
        (0.003, 0.01, 0.1)
    """
    return _rounded(10 ** ((round(2 * math.log10(rate)) + places) / 2))


def _rounded(value: float) -> float:
    return float(f"{value:.0e}")


def _as(config: Config, choice: Choice) -> Config:
    return config.model_copy(update=choice._asdict())


class _Rehearsal:
    """What was tried, and how well it did."""

    def __init__(self, plan: Plan, method: str, train: Train) -> None:
        self.plan, self.method, self.train = plan, method, train
        self.tried: dict[Choice, float] = {}

    def best(self, choices: Sequence[Choice]) -> Choice:
        """Return the best of all that was tried so far and these; of equals the first, which is the more usual."""
        new = [choice for choice in choices if choice not in self.tried]
        fields = {**self.plan.training(), "seed": self.plan.tuning_seeds[0], "method": self.method}
        configs = [make_config(**{**fields, **choice._asdict()}) for choice in new]
        for choice, run in zip(new, self.train(configs), strict=True):
            self.tried[choice] = math.inf if run is None else _nll(run)
        return min(self.tried, key=self.tried.__getitem__)

    def lines(self) -> tuple[Rehearsed, ...]:
        """Return what was tried, but for what failed."""
        found = [(choice, nll) for choice, nll in self.tried.items() if math.isfinite(nll)]
        return tuple(Rehearsed(**choice._asdict(), nll=nll) for choice, nll in found)


def _nll(run: Run) -> float:
    found = calibrated_nll(run.scores["validation_scores"], run.scores["validation_y"]).item()
    return found if math.isfinite(found) else math.inf

"""Which calibrator: as many rows as it needs, then the cheapest decisions in cross-validation.

The rule of rows. Logistic regressions want some ten to twenty rows for each parameter, so with K classes and N rows

- a temperature always does: one parameter;
- vector scaling (2K parameters) is considered from ``N ≥ 20 · 2K``;
- a full matrix (about K²) from ``N ≥ 20 · K²``;
- isotonic regression for two classes from ``N ≥ 1000``: with fewer its steps follow single samples;
- any but a temperature only where the rarest class has 10 rows, its own parameters being fitted on those, and where
  N · K is at most 200,000: beyond that the fits take longer than they are worth.

What the rule allows is compared by what minimum-cost decisions cost on rows that were held out (five folds, with the
same classes in all, always the same rows), and another calibrator takes the place of a simpler one only if it is
cheaper by more than two standard errors of the difference, row by row: beyond luck.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, cast, get_args

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.decisions.calibration import Temperature
from labelspace.decisions.calibrators import CALIBRATORS, Calibrator
from labelspace.decisions.isotonic import CLASSES as OF_ISOTONIC
from labelspace.decisions.rules import cheapest

PER_PARAMETER, RAREST, ISOTONIC, ENTRIES = 20, 10, 1000, 200_000
FOLDS = 5
BEYOND = 2.0  # standard errors; one of them lets luck choose in every eighth to fourth case
Calibration = Literal["auto", "temperature", "vector", "matrix", "isotonic", "none"]
CALIBRATIONS = get_args(Calibration)


class Chosen(NamedTuple):
    """How scores become probabilities: ``calibrator.apply(scores / temperature)``.

    Args:
        temperature: τ.
        calibrator: None for the temperature alone.
        costs: of what was compared, the mean cost of decisions about rows that were held out, by name.
    """

    temperature: float
    calibrator: Calibrator | None = None
    costs: Mapping[str, float] | None = None


def allowed(y: Tensor, classes: int) -> tuple[str, ...]:
    """Return the calibrators that the rule of rows allows beside a temperature, the simplest first.

    Args:
        y: class indices of the rows, ``(N,)``.
        classes: K.

    Example:
        >>> allowed(torch.arange(300) % 10, 10), allowed(torch.arange(400) % 10, 10), allowed(torch.arange(2000) % 2, 2)
        ((), ('vector',), ('vector', 'matrix', 'isotonic'))
    """
    rows = len(y)
    if rows * classes > ENTRIES or rows < PER_PARAMETER * 2 * classes:
        return ()
    if int(torch.bincount(y, minlength=classes).min()) < RAREST:
        return ()
    found = ["vector"]
    found += ["matrix"] if rows >= PER_PARAMETER * classes**2 else []
    found += ["isotonic"] if classes == OF_ISOTONIC and rows >= ISOTONIC else []
    return tuple(found)


def fitted(kind: Calibration, logits: Tensor, y: Tensor) -> Chosen:
    """Return a calibrator that was asked for, fitted; the rule of rows is not asked.

    Args:
        kind: its name; ``"none"`` leaves scores as they are.
        logits: of held-out rows, ``(N, K)``.
        y: their classes.
    """
    if kind == "none":
        return Chosen(1.0)
    tau = Temperature().fit(logits, y).value
    return Chosen(tau) if kind == "temperature" else Chosen(tau, _made(kind, logits / tau, y))


def chosen(logits: Tensor, y: Tensor, prices: Tensor, factors: Tensor | None = None) -> Chosen:
    """Return the calibrator whose decisions cost least, the simplest of those that do not clearly differ.

    Args:
        logits: of held-out rows, ``(N, K)``.
        y: their classes.
        prices: of actions, ``(K, A)``.
        factors: what each row's prices are multiplied by, ``(N,)``; None for nothing.
    """
    tau = Temperature().fit(logits, y).value
    names = allowed(y, logits.shape[1])
    if not names:
        return Chosen(tau)
    whole = {name: _made(name, logits / tau, y) for name in names}
    costs = held_out_costs(logits, y, prices, whole)
    costs = {name: each if factors is None else each * factors for name, each in costs.items()}
    best = "temperature"
    for name in names:
        saved = costs[best] - costs[name]
        if float(saved.mean()) > BEYOND * float(saved.std() / len(saved) ** 0.5):
            best = name
    return Chosen(tau, whole.get(best), {name: float(each.mean()) for name, each in costs.items()})


def held_out_costs(logits: Tensor, y: Tensor, prices: Tensor, whole: dict[str, Calibrator]) -> dict[str, Tensor]:
    """Return what the decision about each row costs, ``(N,)``, by calibrators that were fitted on the other folds.

    Args:
        logits: ``(N, K)``.
        y: the classes.
        prices: ``(K, A)``.
        whole: calibrators to compare with a temperature, fitted on all rows, from which the search may start: it ends
            where the fold's own minimum is.
    """
    fold = dealt(y, FOLDS)
    found = {name: torch.zeros(len(y), dtype=torch.float64) for name in ("temperature", *whole)}
    for number in range(FOLDS):
        out = fold == number
        tau = Temperature().fit(logits[~out], y[~out]).value
        inner, outer = logits[~out] / tau, logits[out] / tau
        p = {"temperature": outer.double().softmax(dim=1)}
        p |= {name: _made(name, inner, y[~out], each).apply(outer.double()) for name, each in whole.items()}
        for name, rows in p.items():
            found[name][out] = prices[y[out], cheapest(rows, rows @ prices, prices)]
    return found


def dealt(y: Tensor, parts: int) -> Tensor:
    """Return the part of each row, ``(N,)``: rows of a class are dealt out in their order, so that all have as many.

    Args:
        y: class indices.
        parts: how many there are.

    Example:
        >>> dealt(torch.tensor([1, 0, 0, 1, 0, 0, 0]), 5)
        tensor([0, 0, 1, 1, 2, 3, 4])
    """
    found = torch.empty_like(y)
    found[y.argsort(stable=True)] = torch.arange(len(y)) % parts
    return found


def fitted_again(how: Chosen, logits: Tensor, y: Tensor) -> Chosen:
    """Return the same calibrator, fitted to other rows; a curve for two classes needs rows of both, and else stays.

    Args:
        how: what was fitted.
        logits: of other rows, or of some of them.
        y: their classes.
    """
    tau = Temperature().fit(logits, y).value
    if how.calibrator is None:
        return Chosen(tau)
    if how.calibrator.kind == "isotonic" and len(torch.unique(y)) < OF_ISOTONIC:
        return how
    return Chosen(tau, _made(how.calibrator.kind, logits / tau, y, how.calibrator))


def _made(kind: str, logits: Tensor, y: Tensor, start: Calibrator | None = None) -> Calibrator:
    made = CALIBRATORS[_checks.choice("compare", "calibration", kind, CALIBRATORS)]
    begun = made() if start is None else made.of(start.plain())
    return cast(Calibrator, begun.fit(logits, y))

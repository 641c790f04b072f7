"""Two sources of chance, crossed: the seeds of trainings, and the samples (or groups of them) of one test set.

Letters: S seeds, G units, which are the samples or, where the data name them, their groups.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from labelspace import _checks

Array = NDArray[np.float64]


class Spread(NamedTuple):
    """The variance of an estimate, and the degrees of freedom it is known with."""

    variance: float
    freedom: float


def units_of(owner: str, groups: object, samples: int) -> NDArray[np.int64]:
    """Return for each sample the number of what it is drawn with: itself, or its group."""
    if groups is None:
        return np.arange(samples)
    try:
        named = groups.detach().cpu().numpy() if isinstance(groups, Tensor) else np.asarray(groups)
        missing = [place for place, name in enumerate(named.ravel().tolist()) if name is None or name != name]
        units = None if missing else np.unique(named, return_inverse=True)[1]
    except (TypeError, ValueError, RuntimeError) as error:
        got = type(groups).__name__
        raise _checks.fail_type(owner, "groups", "one number or one string per sample", got) from error
    if named.shape != (samples,):
        raise _checks.fail(owner, "groups", f"of shape ({samples},), one per sample", f"{named.shape}")
    if units is None:
        remedy = "Give a sample without a group an id of its own."
        raise _checks.fail(owner, "groups", "a group for every sample", f"none at {missing[0]}", remedy)
    return units


def obstacle(seeds: int) -> str:
    """Return why there can be no interval; empty if there can."""
    if seeds >= 2:
        return ""
    return f"{seeds} seed: no interval, since one training says nothing about how much trainings differ"


def remark(units: int, samples: int, grouped: bool) -> str:
    """Return what a reader should know about the samples; empty if nothing."""
    if units == 1:
        what = "group" if grouped else "sample"
        return f"1 {what}: the interval covers the choice of seeds alone"
    return f"{units} groups of samples drawn whole" if grouped and units < samples else ""


def combined(of_seeds: float, of_units: float, of_rest: float, seeds: int, units: int) -> Spread:
    """Return the variance of an estimate, each source counted once, and Satterthwaite's degrees of freedom.

    With crossed effects x_s + z_g + e_sg the means of seeds vary by V_s = (σ_x² + σ_e²/G)/S and those of units by
    V_x = (σ_z² + σ_e²/S)/G: both contain V_r = σ_e²/(S·G), which must count once.

    Args:
        of_seeds: V_s.
        of_units: V_x.
        of_rest: V_r.
        seeds: S, at least 2.
        units: G; a single unit says nothing about units, and V_s is all there is.
    """
    if units == 1:
        return Spread(of_seeds, seeds - 1.0)
    variance = max(of_seeds - of_rest, 0.0) + max(of_units - of_rest, 0.0) + of_rest
    spread = of_seeds**2 / (seeds - 1) + of_units**2 / (units - 1)
    # V_r is in both parts of ``spread`` and once in the variance; the formula must not fall below what either has
    fewest = min(seeds, units) - 1.0
    return Spread(variance, max(variance**2 / spread, fewest) if spread > 0 else fewest)


def added(spread: Spread, more: Spread) -> Spread:
    """Return the variance of two independent sources together, with Satterthwaite's degrees of freedom."""
    variance = spread.variance + more.variance
    if more.variance == 0:
        return spread
    return Spread(variance, variance**2 / (spread.variance**2 / spread.freedom + more.variance**2 / more.freedom))


def ends(estimate: float, spread: Spread, level: float) -> tuple[float, float]:
    """Return the interval ``estimate ± t_ν·√V``."""
    from scipy.special import stdtrit

    half = float(stdtrit(spread.freedom, (1 + level) / 2)) * spread.variance**0.5
    return estimate - half, estimate + half


def sides(estimate: float, spread: Spread) -> tuple[float, float]:
    """Return how often chance alone would move an estimate of 0 this far down, and this far up.

    The smaller one, twice, is the two-sided p-value of the interval that ``ends`` gives.
    """
    from scipy.special import stdtr

    if spread.variance == 0:
        return (0.5, 0.5) if estimate == 0 else (float(estimate > 0), float(estimate < 0))
    below = float(stdtr(spread.freedom, estimate / spread.variance**0.5))
    return below, 1 - below

"""Numbers as people read them: real minus signs, a thin space before the percent sign, few digits."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from labelspace.results import Rehearsed, Unit

THIN = "\N{NARROW NO-BREAK SPACE}"
MISSING = "–"


def percent(share: float | None, *, sign: bool = True) -> str:
    r"""Return a share in percent, with one decimal below ten.

    Example:
        >>> percent(-0.58), percent(0.0312), percent(0.214, sign=False), percent(None)
        ('−58\u202f%', '+3.1\u202f%', '21\u202f%', '–')
    """
    return MISSING if share is None else f"{_points(share, sign, _decimals(share))}{THIN}%"


def interval(low: float | None, high: float | None) -> str:
    """Return an interval of changes in percent, both ends with as many decimals.

    Example:
        >>> interval(-0.66, -0.092), interval(-0.012, 0.034), interval(None, 0.1)
        ('[−66, −9]', '[−1.2, +3.4]', '–')
    """
    if low is None or high is None:
        return MISSING
    decimals = _decimals(max(low, high, key=abs))
    return f"[{_points(low, True, decimals)}, {_points(high, True, decimals)}]"


def _decimals(share: float) -> int:
    return 1 if abs(100 * share) < 9.95 else 0


def _points(share: float, sign: bool, decimals: int) -> str:
    return _natural(f"{100 * share:{'+' if sign else ''}.{decimals}f}")


def points(value: float | None, *others: float | None, sign: bool = True) -> str:
    """Return a difference in points of a measure, with one decimal, or two where it and others are below one.

    Args:
        value: the difference.
        others: what stands beside it, such as the ends of its interval.
        sign: whether to show a plus.

    Example:
        >>> points(0.72, 0.1, 1.3), points(-0.04, -0.2, 0.1), points(0.5, sign=False), points(None)
        ('+0.7', '−0.04', '0.50', '–')
    """
    if value is None:
        return MISSING
    largest = max(abs(number) for number in (value, *others) if number is not None)
    return _natural(f"{value:{'+' if sign else ''}.{1 if largest >= 0.995 else 2}f}")


def points_interval(low: float | None, high: float | None, *others: float | None) -> str:
    """Return an interval of differences in points.

    Example:
        >>> points_interval(0.1, 1.3), points_interval(None, 1.0)
        ('[+0.1, +1.3]', '–')
    """
    if low is None or high is None:
        return MISSING
    return f"[{points(low, high, *others)}, {points(high, low, *others)}]"


def per_sample(value: float | None, *others: float | None, sign: bool = True) -> str:
    """Return a difference in costs per sample, with two digits of the largest number that stands beside it.

    Args:
        value: the difference.
        others: what stands beside it, such as the ends of its interval.
        sign: whether to show a plus.

    Example:
        >>> per_sample(-0.42, -0.631, -0.21), per_sample(3.1, 12.0), per_sample(0.05, sign=False), per_sample(None)
        ('−0.42', '+3', '0.050', '–')
    """
    if value is None:
        return MISSING
    largest = max(abs(number) for number in (value, *others) if number is not None)
    decimals = 2 if largest == 0 else min(max(1 - math.floor(math.log10(largest)), 0), 9)
    return _natural(f"{value:{'+' if sign else ''}.{decimals}f}")


def per_sample_interval(low: float | None, high: float | None, *others: float | None, sign: bool = True) -> str:
    """Return an interval of differences in costs per sample.

    Example:
        >>> per_sample_interval(-0.63, -0.21), per_sample_interval(None, 1.0)
        ('[−0.63, −0.21]', '–')
    """
    if low is None or high is None:
        return MISSING
    return f"[{per_sample(low, high, *others, sign=sign)}, {per_sample(high, low, *others, sign=sign)}]"


def gained(change: "Ends") -> str:
    """Return a difference of costs per sample as what is gained by it; the interval is of what is said, more or less.

    Args:
        change: of the cost per sample: below 0 more is gained.

    Example:
        >>> from labelspace.metrics import Interval
        >>> gained(Interval(-0.42, -0.63, -0.21, 0.95, 6, 400)), gained(Interval(0.1, -0.05, 0.25, 0.95, 6, 400))
        ('gains 0.42 more per sample [0.21, 0.63]', 'gains 0.10 less per sample [−0.05, 0.25]')
    """
    which, turn = ("less", 1) if change.estimate > 0 else ("more", -1)
    ends = [None if end is None else turn * end for end in (change.low, change.high)]
    low, high = ends if turn > 0 else reversed(ends)
    amount = per_sample(abs(change.estimate), low, high, sign=False)
    bracket = per_sample_interval(low, high, change.estimate, sign=False)
    return f"gains {amount} {which} per sample {bracket}".removesuffix(f" {MISSING}")


class Ends(Protocol):
    """What is shown of a change."""

    @property
    def estimate(self) -> float:
        """The change."""

    @property
    def low(self) -> float | None:
        """The lower end of its interval."""

    @property
    def high(self) -> float | None:
        """The upper end."""


CALIBRATORS = {
    "temperature": "temperature",
    "vector": "vector scaling",
    "matrix": "matrix scaling",
    "isotonic": "isotonic regression",
}


def moved(changes: Sequence[Ends | None], unit: Unit) -> list[tuple[str, str]]:
    """Return changes and their intervals as a column shows them: in percent, else with as many decimals.

    Args:
        changes: of the rows, None where there is none.
        unit: of all of them.
    """
    found = [(None, None, None) if each is None else (each.estimate, each.low, each.high) for each in changes]
    if unit == "relative":
        return [(percent(estimate), interval(low, high)) for estimate, low, high in found]
    every = [number for each in found for number in each]
    one, both = (points, points_interval) if unit == "points" else (per_sample, per_sample_interval)
    return [(one(estimate, *every), both(low, high, *every)) for estimate, low, high in found]


def calibrated_by(calibrations: Sequence[Mapping[str, object] | None] | None) -> str:
    """Return what makes probabilities of scores honest, as a sentence begins with it.

    Args:
        calibrations: ``Row.calibrations``: what each seed has beside its temperature.

    Example:
        >>> calibrated_by(None), calibrated_by([{"kind": "vector"}, None])
        ('Temperature', 'Calibration (vector scaling, temperature)')
    """
    kinds = [CALIBRATORS[str((each or {}).get("kind", "temperature"))] for each in calibrations or ()]
    return f"Calibration ({', '.join(dict.fromkeys(kinds))})" if any(calibrations or ()) else "Temperature"


def decimals_for(values: Iterable[float | None]) -> int:
    """Return how many decimals a column needs: three digits of its largest number, and no more than four decimals.

    Example:
        >>> decimals_for([0.151, 0.17]), decimals_for([2.05, 0.7]), decimals_for([120.0])
        (3, 2, 0)
    """
    largest = max((abs(value) for value in values if value is not None and math.isfinite(value)), default=1.0)
    if largest == 0:
        return 2
    return min(max(2 - math.floor(math.log10(largest)), 0), 4)


def fixed(value: float | None, decimals: int) -> str:
    """Return a number with so many decimals.

    Example:
        >>> fixed(-1.256, 2), fixed(None, 2)
        ('−1.26', '–')
    """
    return MISSING if value is None or not math.isfinite(value) else _natural(f"{value:.{decimals}f}")


def _natural(text: str) -> str:
    # a number that rounds to nothing has no sign
    bare = text.lstrip("+-")
    return bare if not bare.strip("0.") else text.replace("-", "−")


def options_text(options: Mapping[str, object]) -> str:
    """Return the options of a method as they are typed.

    Example:
        >>> options_text({"dim": 100, "grad": "detached", "terms": ["H(t,p)", "-H(t)"]})
        'dim=100, grad=detached, terms=["H(t,p)", "-H(t)"]'
    """
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in options.items()}
    return ", ".join(f"{name}={text}" for name, text in texts.items())


def calls_text(called: Mapping[str, object]) -> str:
    """Return which class a constant calls, by decision rule.

    Example:
        >>> calls_text({"argmax": "mild", "min_cost": "severe"}), calls_text({"argmax": "mild"})
        ('always mild by argmax, severe by min-cost', 'always mild')
    """
    if len(set(called.values())) == 1:
        return f"always {next(iter(called.values()))}"
    return "always " + ", ".join(f"{name} by {rule.replace('_', '-')}" for rule, name in called.items())


def rehearsed_text(tried: Sequence[Rehearsed]) -> str:
    """Return from what the way to train was chosen; nothing where nothing was.

    Example:
        >>> one, other = (Rehearsed(learning_rate=r, weight_decay=0.0, epochs=20, nll=r) for r in (0.1, 0.3))
        >>> rehearsed_text([one, other])
        'the best of 2 tried for one-hot labels on validation data (rates 0.1–0.3, decay 0, 20 epochs)'
    """
    if not tried:
        return ""
    spans = []
    for name in ("learning_rate", "weight_decay", "epochs"):
        values = [getattr(each, name) for each in tried]
        spans.append("–".join(f"{value:g}" for value in dict.fromkeys((min(values), max(values)))))
    what = f"rates {spans[0]}, decay {spans[1]}, {spans[2]} epochs"
    return f"the best of {len(tried)} tried for one-hot labels on validation data ({what})"


def count(number: int) -> str:
    r"""Return a whole number, its thousands apart.

    Example:
        >>> count(100000)
        '100\u202f000'
    """
    return f"{number:,}".replace(",", THIN)


def size(number: int) -> str:
    r"""Return a number of bytes.

    Example:
        >>> size(2_130_000), size(900)
        ('2.1\u202fMB', '0.9\u202fkB')
    """
    return f"{number / 1e6:.1f}{THIN}MB" if number >= 100_000 else f"{number / 1e3:.1f}{THIN}kB"

"""What a comparison says in words: cheaper, dearer, no difference or undecided, and what did it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from torch import Tensor

from labelspace import metrics
from labelspace.comparison.rows import Row, change_of
from labelspace.metrics import Interval
from labelspace.report.words import decimals_for, fixed, interval, percent

Kind = Literal["cheaper", "dearer", "no difference", "undecided"]
Cause = Literal["structure", "smoothing", "unclear"]
HALF = 0.5  # of the winner's gain: what smoothing that knows nothing must reach to be called the cause
ENOUGH = 6  # seeds: with fewer, seeds cannot agree beyond doubt (an exact sign-flip test needs six for 5 percent)


@dataclass(frozen=True)
class Verdict:
    """The answer.

    Args:
        kind: cheaper, dearer, no difference (the interval is inside ± ``margin``) or undecided.
        subject: the method it speaks of, chosen on validation data.
        estimate: relative change of the mean cost against the free rival.
        low: lower end of its interval; None with one seed.
        high: upper end.
        margin: changes within ± this do not matter.
        cause: what did it: the structure of the label space, or smoothing as such; None where that is not the question.
        indicative: fewer than six seeds.
        sentences: the answer in words.
    """

    kind: Kind
    subject: str
    estimate: float | None
    low: float | None
    high: float | None
    margin: float
    cause: Cause | None
    indicative: bool
    sentences: tuple[str, ...]

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def plain(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {**asdict(self), "sentences": list(self.sentences)}


def kind_of(interval: Interval | None, margin: float) -> Kind:
    """Return the verdict that an interval of a relative change allows.

    Example:
        >>> kind_of(Interval(-0.3, -0.4, -0.2, 0.95, 6, 9), 0.05), kind_of(Interval(0.0, -0.04, 0.03, 0.95, 6, 9), 0.05)
        ('cheaper', 'no difference')
    """
    if interval is None or interval.low is None or interval.high is None:
        return "undecided"
    if metrics.equivalent(interval, margin):
        return "no difference"
    if interval.high < 0:
        return "cheaper"
    return "dearer" if interval.low > 0 else "undecided"


def judge_rows(rows: Sequence[Row], margin: float, word: str, groups: Tensor | None = None) -> Verdict:
    """Return the verdict on the winner.

    Args:
        rows: the reference first.
        margin: relative changes within ± this do not matter.
        word: what the structured space holds: order, tree, groups, …
        groups: of the test samples.
    """
    reference = rows[0]
    winner = next(row for row in rows if row.winner)
    kind = kind_of(winner.change, margin)
    cause, reason = _cause(rows, winner, word, groups) if kind == "cheaper" else (None, "")
    seeds = len(winner.costs)
    sentences = [_main(reference, winner, kind, margin, groups)]
    sentences += [text for text in (_free(reference), reason, _few(seeds)) if text]
    estimate, low, high = (None,) * 3 if winner.change is None else _ends(winner.change)
    return Verdict(kind, winner.label, estimate, low, high, margin, cause, seeds < ENOUGH, tuple(sentences))


def judge_decisions(row: Row, margin: float, level: float, groups: Tensor | None = None) -> Verdict:
    """Return the verdict on one model: what minimum-cost decisions save against argmax."""
    moved = change_of(row.costs, row.plain_costs, level, groups, fixed=True)
    kind = kind_of(moved, margin)
    estimate, low, high = (None,) * 3 if moved is None else _ends(moved)
    return Verdict(kind, "min-cost", estimate, low, high, margin, None, False, (_decided(row, moved, kind, margin),))


def _decided(row: Row, moved: Interval | None, kind: Kind, margin: float) -> str:
    if row.min_cost is None:
        return (
            "Every mistake costs the same: minimum-cost decisions are the likeliest classes. Give prices with --cost."
        )
    if moved is None:
        return "The model makes no costly mistake on the test samples: there is nothing to save."
    before, after = _costs(row.argmax["cost"], row.min_cost["cost"])
    shown = f"{percent(moved.estimate)} {interval(moved.low, moved.high)}".removesuffix(" –")
    text = f"Temperature and minimum-cost decisions cost {after} per sample instead of {before}: {shown}"
    if kind == "no difference":
        return f"{text}, inside ±{percent(margin, sign=False)}."
    return f"{text}; accuracy {row.argmax['accuracy']:.3f} → {row.min_cost['accuracy']:.3f}."


def _ends(interval: Interval) -> tuple[float | None, float | None, float | None]:
    return interval.estimate, interval.low, interval.high


def _main(reference: Row, winner: Row, kind: Kind, margin: float, groups: Tensor | None) -> str:
    before, after = _costs(reference.headline["cost"], winner.headline["cost"])
    text = f"{winner.shown} {'cost' if winner.method else 'costs'} {after} per sample"
    if winner.change is None:
        return f"{text}, {reference.label} {before}: no relative change can be given."
    moved = f"{percent(winner.change.estimate)} {interval(winner.change.low, winner.change.high)}".removesuffix(" –")
    if kind == "no difference":
        return f"{text}, {reference.label} {before}: {moved}, inside ±{percent(margin, sign=False)}."
    if kind == "undecided":
        return f"{text}, {reference.label} {before}: {moved}.{_visible(reference, winner)}"
    return f"{text} instead of {before}: {moved}{_accuracy(reference, winner, groups)}."


def _accuracy(reference: Row, winner: Row, groups: Tensor | None) -> str:
    """Return how accuracy moved against plain one-hot labels, where it did beyond chance."""
    moved = metrics.paired_interval(winner.right, reference.plain_right, groups=groups)
    if moved.low is None or moved.high is None or moved.low <= 0 <= moved.high:
        return ""
    verb = "falls" if moved.estimate < 0 else "rises"
    return f"; accuracy {verb} {reference.plain_right.mean():.3f} → {winner.right.mean():.3f}"


def _visible(reference: Row, winner: Row) -> str:
    differences = (winner.costs - reference.costs).mean(dim=1)
    if len(differences) < 2:
        return ""
    least = metrics.smallest_effect(differences) / max(float(reference.costs.mean()), 1e-12)
    return f" These {len(differences)} seeds could have seen a change of about {percent(least, sign=False)}."


def _free(reference: Row) -> str:
    """Return what better decisions alone save, without training anything again."""
    if reference.min_cost is None:
        return ""
    before, after = reference.argmax["cost"], reference.min_cost["cost"]
    moved = f" ({percent(after / before - 1)})" if before > 0 else ""
    shown = " → ".join(_costs(before, after))
    return f"Without retraining, by minimum-cost decisions: {shown}{moved}."


def _costs(*values: float) -> list[str]:
    decimals = decimals_for(values)
    return [fixed(value, decimals) for value in values]


def _cause(rows: Sequence[Row], winner: Row, word: str, groups: Tensor | None) -> tuple[Cause | None, str]:
    """Return what made the winner cheaper: compare it with smoothing that knows nothing of the classes."""
    controls = [row for row in rows if row.of == winner.label]
    blind = controls + [row for row in rows if row.method == "uniform" and row is not winner]
    if winner.method == "uniform":
        return "smoothing", f"Smoothing did it: uniform labels know nothing of the {word}."
    if not blind:
        return None, ""
    against = {row.label: change_of(winner.costs, row.costs, 0.95, groups) for row in blind}
    equals = [row for row in blind if not _below(against[row.label])]
    if equals:
        best = min(equals, key=lambda row: row.headline["cost"])
        return _told_apart(best, rows[0], winner, against[best.label], word)
    if not controls:
        # a space that training data suggest has none, and without them nobody knows
        return ("unclear" if winner.structured else None), ""
    gains = any(row.change is not None and row.change.high is not None and row.change.high < 0 for row in controls)
    return "structure", f"The controls {'gain less' if gains else 'do not gain'}: the {word} did it."


def _below(interval: Interval | None) -> bool:
    """Return whether a change is a saving beyond chance."""
    return interval is not None and interval.high is not None and interval.high < 0


def _told_apart(blind: Row, reference: Row, winner: Row, moved: Interval | None, word: str) -> tuple[Cause, str]:
    """Return what to say of smoothing that knows nothing and is not shown to be worse than the winner."""
    shown = f"{blind.shown} ({_costs(blind.headline['cost'])[0]})"
    gained = reference.headline["cost"] - blind.headline["cost"]
    if gained < HALF * (reference.headline["cost"] - winner.headline["cost"]):
        return "unclear", f"{shown} cannot be told apart from it by these seeds: unclear whether the {word} did it."
    does = "better" if moved is not None and moved.low is not None and moved.low > 0 else "as well"
    return "smoothing", f"{shown} {'does' if blind.control else 'do'} {does}: smoothing did it, not the {word}."


def _few(seeds: int) -> str:
    if seeds >= ENOUGH:
        return ""
    return f"Indicative: {seeds} {'seed' if seeds == 1 else 'seeds'}, fewer than {ENOUGH}."

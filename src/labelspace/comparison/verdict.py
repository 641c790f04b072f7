"""What a comparison says in words: cheaper, dearer, no difference or undecided, and what did it."""

import math
from collections.abc import Sequence
from statistics import NormalDist

from torch import Tensor

from labelspace import metrics
from labelspace.comparison.cause import Found, Shuffles, cause_of
from labelspace.comparison.change import PerSample, resting, unit_of, within
from labelspace.comparison.headline import change_text, costs, helps, saved_by_decisions, size_text, worth
from labelspace.comparison.rows import Judged
from labelspace.metrics import Interval
from labelspace.report.words import THIN, calibrated_by
from labelspace.results import Cause, Kind, Likely, Verdict

USUAL = 0.95  # the level of intervals that need not be named
POWER = 0.8  # a change that "could have been seen" is seen so often


def enough_seeds(level: float) -> int:
    """Return how many seeds can agree beyond doubt: with S of them an exact sign-flip test reaches ``2^(1−S)``.

    Example:
        >>> enough_seeds(0.95), enough_seeds(0.9), enough_seeds(0.99)
        (6, 5, 8)
    """
    # rounded at the ninth digit: 1 − 0.75 must count as a quarter
    return 1 + math.ceil(round(-math.log2(1 - level), 9))


def kind_of(interval: Interval | None, margin: float) -> Kind:
    """Return the verdict that an interval of a change allows.

    Of a change per sample the margin is a share of what is at stake, see ``PerSample``.
    A change that is there beyond doubt, but as likely as not too small to matter, is neither cheaper nor dearer.

    Example:
        >>> kind_of(Interval(-0.3, -0.4, -0.2, 0.95, 6, 9), 0.05), kind_of(Interval(0.0, -0.04, 0.03, 0.95, 6, 9), 0.05)
        ('cheaper', 'no difference')
        >>> kind_of(Interval(-0.034, -0.06, -0.01, 0.95, 6, 9), 0.05)
        'undecided'
    """
    if interval is None or interval.low is None or interval.high is None:
        return "undecided"
    margin = within(interval, margin)
    if metrics.equivalent(interval, margin):
        return "no difference"
    if interval.high < 0 and interval.estimate < -margin:
        return "cheaper"
    return "dearer" if interval.low > 0 and interval.estimate > margin else "undecided"


def judge_rows(
    rows: Sequence[Judged],
    margin: float,
    word: str,
    groups: Tensor | None = None,
    level: float = USUAL,
    best: Judged | None = None,
    shuffles: Shuffles | None = None,
) -> Verdict:
    """Return the verdict on the winner.

    Args:
        rows: the reference first.
        margin: changes within ± this share do not matter.
        word: what the structured space holds: order, tree, groups, …
        groups: of the test samples.
        level: of the intervals, that of the rows' changes among them.
        best: the row to take home, the winner by default.
        shuffles: of the winner's label space, where it has one and they were asked for.
    """
    reference = rows[0]
    winner = next(row for row in rows if row.winner)
    kind = kind_of(winner.moved, margin)
    none = Found(None, "")
    found = cause_of(rows, winner, word, shuffles, groups, level) if kind == "cheaper" else none
    seeds, enough = len(winner.costs), enough_seeds(level)
    sentences = [_main(reference, winner, kind, margin, groups, level), _likely(winner, margin)]
    few = few_words(seeds, enough) if winner.method else ""  # given models are what they are, however they were trained
    parts = helps(rows, groups, level), worth(best or winner, reference), found.text, few
    said = [text for text in (*sentences, *parts) if text]
    verdict = verdict_of(kind, winner.label, winner.moved, margin, found.cause, seeds < enough, said, level)
    return verdict if found.shuffled is None else verdict.model_copy(update={"shuffled": found.shuffled})


def doubted(verdict: Verdict, doubt: str) -> Verdict:
    """Return no verdict: the numbers stay, the reason comes first, and nobody is credited."""
    return verdict.model_copy(update={"kind": "undecided", "cause": None, "sentences": (doubt, *verdict.sentences[:1])})


def judge_decisions(row: Judged, margin: float, level: float, groups: Tensor | None = None) -> Verdict:
    """Return the verdict on one model: what minimum-cost decisions save against argmax."""
    moved = saved_by_decisions(row, level, groups)
    kind = kind_of(moved, margin)
    said = [text for text in (_decided(row, moved, kind, margin), worth(row, row)) if text]
    return verdict_of(kind, "min-cost", moved, margin, None, False, said, level)


def verdict_of(
    kind: Kind,
    subject: str,
    moved: Interval | None,
    margin: float,
    cause: Cause | None,
    indicative: bool,
    sentences: Sequence[str],
    level: float,
) -> Verdict:
    """Return a verdict from an interval and what was made of it."""
    likely = None if moved is None else metrics.chances(moved, within(moved, margin))
    # a winner among several, chosen on the networks that are judged, has an interval of a higher level
    level = level if moved is None else moved.level
    verdict = Verdict(
        kind=kind,
        subject=subject,
        estimate=None if moved is None else moved.estimate,
        low=None if moved is None else moved.low,
        high=None if moved is None else moved.high,
        margin=margin,
        cause=cause,
        indicative=indicative,
        sentences=tuple(sentences),
        level=level,
        chances=None if likely is None else Likely(**likely._asdict()),
    )
    if not isinstance(moved, PerSample):
        return verdict
    return verdict.model_copy(update={"unit": unit_of(moved), "stake": moved.stake})


def _decided(row: Judged, moved: Interval | None, kind: Kind, margin: float) -> str:
    if row.min_cost is None:
        return (
            "Every mistake costs the same: minimum-cost decisions are the likeliest classes. Give prices with --cost."
        )
    if moved is None:
        return "The model makes no costly mistake on the test samples: there is nothing to save."
    before, after = costs(row.argmax.cost, row.min_cost.cost)
    how = calibrated_by(row.calibrations)
    text = f"{how} and minimum-cost decisions cost {after} per sample instead of {before}: {_moved(moved)}"
    if kind == "no difference":
        return f"{text}, inside ±{size_text(within(moved, margin), moved)}."
    # of an action nothing can be right or wrong: the table's number leaves such samples out
    which = "" if _of_all(row) else ", each of the samples that are called a class"
    return f"{text}; accuracy {row.argmax.accuracy:.3f} → {row.min_cost.accuracy:.3f}{which}."


def _moved(change: Interval) -> str:
    """Return a change and its interval; the level is named where it is not the usual one."""
    usual = change.level == USUAL or change.low is None or change.high is None
    return change_text(change) + ("" if usual else f" ({100 * change.level:.4g}{THIN}% interval)")


def _main(reference: Judged, winner: Judged, kind: Kind, margin: float, groups: Tensor | None, level: float) -> str:
    before, after = costs(reference.headline.cost, winner.headline.cost)
    text = f"{winner.shown} {'cost' if winner.method else 'costs'} {after} per sample"
    where = " for this split" if winner.method else ""  # other training data would make other networks
    both = f"{text}, {reference.label} {before}{where}"
    if winner.moved is None:
        return f"{both}: no relative change can be given."
    moved = _moved(winner.moved)
    if kind == "no difference":
        inside = size_text(within(winner.moved, margin), winner.moved)
        return f"{both}: {moved}, inside ±{inside}."
    if kind == "undecided":
        return f"{both}: {moved}.{_open(reference, winner, margin, groups)}"
    return f"{text} instead of {before}{where}: {moved}{_accuracy(reference, winner, groups, level)}."


def _accuracy(reference: Judged, winner: Judged, groups: Tensor | None, level: float) -> str:
    """Return how accuracy moved against plain one-hot labels, where it did beyond chance."""
    times = 2 if len(winner.right) == 1 and not winner.method else 1  # these very models, see change_of
    right, plain = winner.right.repeat(times, 1), reference.plain_right.repeat(times, 1)
    moved = metrics.paired_interval(right, plain, groups=groups, level=level)
    if moved.low is None or moved.high is None or moved.low <= 0 <= moved.high:
        return ""
    if not _of_all(winner):
        return ""  # the samples that are called a class are others in each row
    verb = "falls" if moved.estimate < 0 else "rises"
    since = "" if winner.min_cost is None else f", from plain argmax of {reference.label}"
    return f"; accuracy {verb} {plain.mean():.3f} → {right.mean():.3f}{since}"


def _of_all(row: Judged) -> bool:
    """Return whether the accuracy of a row in the table is that of all samples, not only of those called a class."""
    return abs(float(row.right.mean()) - row.headline.accuracy) <= 1e-9


def _open(reference: Judged, winner: Judged, margin: float, groups: Tensor | None) -> str:
    """Return why nothing is decided: few samples, a change that hardly matters, or one too small to be seen."""
    few = resting(winner.costs, reference.costs, groups)
    if few is not None:
        return f" {few.text[0].upper()}{few.text[1:]}."
    if winner.moved is not None and winner.moved.p_value is not None and winner.moved.p_value < 1 - winner.moved.level:
        return f" It is there, but may well be inside ±{size_text(within(winner.moved, margin), winner.moved)}."
    least = visible(winner.moved)
    return "" if least is None else f" A change of about {size_text(least, winner.moved)} could have been seen."


def _likely(winner: Judged, margin: float) -> str:
    """Return how likely the change is one that matters; of trainings for this split alone, which was said before."""
    moved = winner.moved
    likely = None if moved is None else metrics.chances(moved, within(moved, margin))
    if moved is None or likely is None or moved.p_value is None:  # too few samples to speak of odds
        return ""
    shown = [f"{100 * each:.0f}{THIN}%" for each in likely]
    size = size_text(within(moved, margin), moved)
    begins = "Cheaper" if winner.method else "On data like these: cheaper"
    return f"{begins} by more than {size} {shown[0]} likely, within ±{size} {shown[1]}, dearer {shown[2]}."


def visible(moved: Interval | None) -> float | None:
    """Return the change that would have been seen four times in five; None without an interval."""
    if moved is None or moved.low is None or moved.high is None:
        return None
    # z of 97.5 and of 80 percent, 1.96 and 0.84, at the usual level
    quantile = NormalDist().inv_cdf((1 + moved.level) / 2)
    return (moved.high - moved.low) / 2 * (quantile + NormalDist().inv_cdf(POWER)) / quantile


def few_words(seeds: int, enough: int) -> str:
    """Return that a verdict rests on few seeds, where it does."""
    if seeds >= enough:
        return ""
    return f"Indicative: {seeds} {'seed' if seeds == 1 else 'seeds'}, fewer than {enough}."

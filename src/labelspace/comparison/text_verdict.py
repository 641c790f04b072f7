"""What a comparison of sequences says in words: better, worse, no difference or undecided."""

from collections.abc import Sequence

from labelspace.comparison.rows import Compared
from labelspace.comparison.verdict import USUAL, enough_seeds, few_words, kind_of, verdict_of, visible
from labelspace.metrics import Interval
from labelspace.report.words import THIN, fixed, points, points_interval
from labelspace.results import Kind, Measure, Verdict

# below zero is less of the measure, which is worse
OF_TEXTS: dict[Kind, Kind] = {"cheaper": "worse", "dearer": "better"}


def judge_texts(rows: Sequence[Compared], measure: Measure, margin: float, seeds: int, level: float) -> Verdict:
    """Return the verdict on the winner.

    Args:
        rows: the reference first.
        measure: what texts are judged by.
        margin: differences within ± so many points do not matter.
        seeds: of every row.
        level: of the intervals.
    """
    winner = next(row for row in rows if row.winner)
    below = kind_of(winner.moved, margin)
    kind, enough = OF_TEXTS.get(below, below), enough_seeds(level)
    sentences = [_main(rows[0], winner, measure, kind, margin), few_words(seeds, enough)]
    said = [sentence for sentence in sentences if sentence]
    verdict = verdict_of(kind, winner.label, winner.moved, margin, None, seeds < enough, said, level)
    return verdict.model_copy(update={"unit": "points"})


def _main(reference: Compared, winner: Compared, measure: Measure, kind: Kind, margin: float) -> str:
    after, before = (None if row.quality is None else row.quality.value for row in (winner, reference))
    verb = "reach" if winner.method else "reaches"
    text = f"{winner.shown} {verb} {fixed(after, 1)} {measure.title}"
    if winner.moved is None:
        return f"{text}, {reference.label} {fixed(before, 1)}."
    text += f", {_moved(winner.moved)} against {reference.label} ({fixed(before, 1)})"
    if kind == "no difference":
        return f"{text}, inside ±{margin:g} {measure.unit}."
    least = visible(winner.moved)
    if kind == "undecided" and least is not None:
        return f"{text}. A change of about {points(least, sign=False)} {measure.unit} could have been seen."
    return f"{text}."


def _moved(change: Interval) -> str:
    """Return a change and its interval; the level is named where it is not the usual one."""
    shown = points(change.estimate, change.low, change.high)
    if change.low is None or change.high is None:
        return shown
    named = "" if change.level == USUAL else f" ({100 * change.level:.4g}{THIN}% interval)"
    return f"{shown} {points_interval(change.low, change.high, change.estimate)}{named}"

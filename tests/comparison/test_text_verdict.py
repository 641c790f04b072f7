"""The verdict on sequences, from intervals made by hand."""

import pytest

from labelspace.comparison.rows import Compared, corrected, winner_of
from labelspace.comparison.text_verdict import judge_texts
from labelspace.metrics import Interval
from labelspace.results import Kind, Measure, Verdict
from small_results import of_texts

BLEU = Measure(key="bleu", title="BLEU")


def verdict(low: float | None, high: float | None, seeds: int = 6, level: float = 0.95) -> Verdict:
    rows = [Compared.model_validate(row.model_dump()) for row in of_texts().rows]
    estimate = -0.7 if high is not None and high < 0 else 0.7
    moved = Interval(estimate, low, high, level, seeds, 100, "", None if low is None else 0.02)
    return judge_texts(corrected(rows, [moved], winner_of(rows)), BLEU, 0.5, seeds, level)


@pytest.mark.parametrize(
    ("low", "high", "kind", "sentence"),
    [
        (0.1, 1.3, "better", "Uniform labels reach 31.9 BLEU, +0.7 [+0.1, +1.3] against one-hot (31.2)."),
        (-1.3, -0.1, "worse", "Uniform labels reach 31.9 BLEU, −0.7 [−1.3, −0.1] against one-hot (31.2)."),
        (
            -0.3,
            0.4,
            "no difference",
            "Uniform labels reach 31.9 BLEU, +0.70 [−0.30, +0.40] against one-hot (31.2), inside ±0.5 points.",
        ),
    ],
)
def test_what_an_interval_allows(low: float, high: float, kind: Kind, sentence: str) -> None:
    found = verdict(low, high)
    assert (found.kind, found.sentences, found.indicative) == (kind, (sentence,), False)
    assert (found.subject, found.margin, found.interval) == ("uniform", 0.5, (low, high))


def test_what_could_have_been_seen_is_said() -> None:
    found = verdict(-1.0, 2.4)
    assert found.kind == "undecided"
    # half the width times (1.96 + 0.84)/1.96
    assert found.sentences[0].endswith("(31.2). A change of about 2.4 points could have been seen.")


def test_few_seeds_are_indicative() -> None:
    assert verdict(0.1, 1.3, seeds=3).sentences[1] == "Indicative: 3 seeds, fewer than 6."
    one = verdict(None, None, seeds=1)
    assert one.kind == "undecided"
    assert one.sentences[0] == "Uniform labels reach 31.9 BLEU, +0.70 against one-hot (31.2)."


def test_another_level_is_named() -> None:
    assert "(90\u202f% interval)" in verdict(0.1, 1.3, level=0.9).sentences[0]

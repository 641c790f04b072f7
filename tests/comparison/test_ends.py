"""Strengths at the end of what is usually tried: others further out are tried, and what still is at an end is named."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from comparison.hand_made import row, table
from comparison.small import TINY, UNMIXED, write_table
from labelspace.comparison import Comparison, compare
from labelspace.comparison.ends import at_an_end, beyond
from labelspace.comparison.outcome import Outcome
from labelspace.comparison.rows import against_reference
from labelspace.comparison.summary import caveats
from labelspace.results import Strength, Trial
from labelspace.sweeps.executors import InProcess

NAMES = ["small", "medium", "large"]


@pytest.fixture
def merit(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let trials be as good as a function of their strength says: of one seed, and of several."""
    judged = Outcome.trial

    def set_merit(one: Callable[[float], float], several: Callable[[float], float] | None = None) -> None:
        def trial(self: Outcome, value: float | None, runs: Sequence[Any]) -> Trial:
            good = one if several is None or len(runs) == 1 else several
            return judged(self, value, runs).model_copy(update={"validation_cost": -good(value or 0.0)})

        monkeypatch.setattr(Outcome, "trial", trial)

    return set_merit


def run(folder: Path, **options: Any) -> Comparison:
    found = write_table(folder / "sizes.csv", NAMES, rows=90)
    given = {**TINY, "strengths": UNMIXED, "rivals": "none", "epochs": 1, "seeds": 1, "tuning": 2}
    return compare(found, **{**given, "out": folder / "out", "executor": InProcess(), **options})


def tried(found: Comparison, place: int) -> dict[float, int]:
    return {trial.value: trial.seeds for trial in found.rows[place].trials if trial.value is not None}


@pytest.mark.parametrize(
    ("good", "expected", "chosen"),
    [
        # a share of 1.39 is refused by the method, which ends the search
        (lambda value: value, [0.05, 0.1, 0.2, 0.3, 0.5, 0.833], 0.833),
        (lambda value: -value, [0.0125, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5], 0.0125),
        (lambda value: -abs(value - 0.6), [0.05, 0.1, 0.2, 0.3, 0.5, 0.833], 0.5),
        (lambda value: -abs(value - 0.2), [0.05, 0.1, 0.2, 0.3, 0.5], 0.2),
    ],
)
def test_what_lies_beyond_an_end_is_tried(
    good: Callable[[float], float], expected: list[float], chosen: float, merit: Any, tmp_path: Path
) -> None:
    merit(good)
    found = run(tmp_path)
    assert list(tried(found, 1)) == expected
    assert found.rows[1].strength == Strength(name="smoothing", symbol="σ", value=chosen)
    finalists = [value for value, seeds in tried(found, 1).items() if seeds == 2]
    assert finalists == sorted(sorted(expected, key=good)[-2:])
    named = [text for text in found.warnings if text.startswith("Best at the end")]
    assert len(named) == (chosen in (expected[0], expected[-1]))
    assert all(f"uniform with the {at_an_end(expected, chosen)} σ, {chosen:g}." in text for text in named)


def test_strengths_that_were_asked_for_are_left_as_they_are(merit: Any, tmp_path: Path) -> None:
    merit(lambda value: value)
    found = run(tmp_path, strengths={**UNMIXED, "uniform": [0.1, 0.2, 0.3]})
    assert list(tried(found, 1)) == [0.1, 0.2, 0.3]
    assert any("uniform with the strongest σ, 0.3" in text for text in found.warnings)


def test_the_reference_and_rivals_go_further_too(merit: Any, tmp_path: Path) -> None:
    merit(lambda value: value)
    found = run(tmp_path, strengths={"uniform": [0.1, 0.2, 0.3]}, rivals="LogisticRegression")
    assert list(tried(found, 0)) == [0.0, 0.2, 1.0, 5.0, 25.0]  # three of its five, as the method has
    assert list(tried(found, 2)) == [0.001, 0.1, 10.0, 1000.0, 100000.0]
    (named,) = [text for text in found.warnings if text.startswith("Best at the end")]
    assert "one-hot, tuned with the strongest mixup, 25; uniform with" in named
    assert "LogisticRegression with the strongest C, 100000" in named


def test_what_was_tried_before_is_tried_again_and_no_more(merit: Any, tmp_path: Path) -> None:
    """The best of one seed lies at an end, the best of several does not: the first decided, and does so again."""
    merit(lambda value: -abs(value - 0.45), lambda value: -value)
    first = run(tmp_path)
    assert list(tried(first, 1)) == [0.05, 0.1, 0.2, 0.3, 0.5, 0.833]
    assert first.rows[1].strength is not None
    assert first.rows[1].strength.value == 0.3
    told: list[str] = []
    again = run(tmp_path, report=lambda event, _: told.append(event))
    assert "unchanged" in told
    assert [row.trials for row in again.rows] == [row.trials for row in first.rows]


@pytest.mark.parametrize(
    ("values", "best", "expected"),
    [
        ((0.1, 0.2, 0.4), 0.4, 0.8),
        ((0.0, 1.0, 3.0, 10.0, 30.0), 30.0, 90.0),
        ((0.0, 1.0, 3.0), 0.0, None),
        ((1, 2, 3, 5, 10), 10, 20),
        ((1, 2, 3, 5, 10), 1, None),
        ((4, 6, 10), 4, 3),
        ((0.1, 0.2), 0.2, None),
        ((0.4, 0.1, 0.2), 0.4, 0.8),
    ],
)
def test_the_next_one_out(values: tuple[float, ...], best: float, expected: float | None) -> None:
    found = beyond(values, best)
    assert found == expected
    assert type(found) is type(expected)


def test_every_row_at_an_end_is_named() -> None:
    def trials(*values: float) -> list[Trial]:
        return [Trial(value=value, validation_cost=1.0, run=None) for value in values]

    def at(value: float) -> Strength:
        return Strength(name="smoothing", symbol="σ", value=value)

    rows = [
        row("one-hot", table(1.0, 0.1)),
        row("uniform", table(1.0, 0.1, 1), strength=at(0.1), trials=trials(0.1, 0.2, 0.5)),
        row("lls", table(1.0, 0.1, 2), strength=at(0.2), trials=trials(0.1, 0.2, 0.5)),
        row("ols", table(1.0, 0.1, 3), strength=at(0.5), trials=trials(0.1, 0.2, 0.5)),
    ]
    assert caveats(against_reference(rows, 0.95, None), None) == [
        "Best at the end of what was tried, so that others may be better still: uniform with the weakest σ, 0.1; ols"
        " with the strongest σ, 0.5."
    ]

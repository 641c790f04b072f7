"""A budget buys epochs and trials by plain arithmetic, the same for every method, and never more than there is."""

import itertools
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from labelspace.comparison import budget
from labelspace.comparison.budget import (
    LONGEST,
    OVERHEAD,
    REPEATED,
    SHORTEST,
    Amount,
    Pace,
    affordable,
    pace,
    seconds,
    too_short,
    wanted_epochs,
)
from labelspace.comparison.entries import fewer
from labelspace.comparison.plan import make_plan
from labelspace.data.dataset import Dataset
from labelspace.results import Rehearsed
from labelspace.training.build import Job, prepare
from labelspace.training.config import make_config
from small_corpus import SMALL, write_corpus


@pytest.mark.parametrize(
    ("text", "amount"),
    [("90", 90), ("90s", 90), ("2m", 120), ("1.5h", 5400), (" 3 m ", 180), ("0.5s", 0.5), ("10h", 36000)],
)
def test_spans_of_time(text: str, amount: float) -> None:
    assert seconds(text) == amount


@pytest.mark.parametrize("text", ["soon", "", "-2m", "0", "0m", "2 minutes", "2d", "1m30s", "m", "1e3", "nan", "2,5m"])
def test_what_is_no_span_of_time(text: str) -> None:
    with pytest.raises(ValueError, match="`budget` of compare must be a span of time such as 90s, 2m or 1h") as caught:
        seconds(text)
    assert repr(text) in str(caught.value)


def spent(found: Amount, per_epoch: float, rows: int, seeds: int, workers: int) -> float:
    """Return how long every row's trials and seeds take: all strengths once, two of them with each further seed.

    Every second row has one more trial, beyond the end of its grid.
    """
    runs = rows * (found.trials + 0.5 + 2 * (found.tuning - 1) + seeds)
    return runs * found.epochs * per_epoch * OVERHEAD / workers


amounts = st.tuples(
    st.floats(1, 1e5),
    st.floats(1e-3, 100),
    st.integers(3, 100),
    st.integers(2, 30),
    st.integers(1, 10),
    st.integers(1, 64),
)


@given(amounts)
def test_never_more_than_the_budget(given_amounts: tuple[float, float, int, int, int, int]) -> None:
    budget, per_epoch, wanted, rows, seeds_, workers = given_amounts
    found = affordable(budget, Pace(per_epoch), wanted, rows, seeds_, workers)
    assert SHORTEST <= found.epochs <= wanted
    assert found.trials in (3, 5)
    assert found.tuning in (1, 3)
    cost = spent(found, per_epoch, rows, seeds_, workers)
    if found.enough:
        assert cost <= budget * (1 + 1e-9)
    else:  # it is said, and even the least takes longer
        assert cost > budget * (1 - 1e-9)
        assert (found.epochs, found.trials, found.tuning) == (SHORTEST, 3, 1)


@given(amounts, st.floats(1, 100))
def test_more_money_never_buys_fewer_trials(
    given_amounts: tuple[float, float, int, int, int, int], more: float
) -> None:
    budget, per_epoch, *rest = given_amounts
    less, richer = (affordable(each, Pace(per_epoch), *rest) for each in (budget, budget * more))
    assert (richer.trials, richer.tuning) >= (less.trials, less.tuning)
    assume((less.trials, less.tuning) == (richer.trials, richer.tuning))
    assert richer.epochs >= less.epochs


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        # 10 rows of (5 + ½ + 2·2 + 3) runs at 1.3 s an epoch by two workers: 81.25 s an epoch
        (81.25 * 25, (25, 5, True, 3)),
        (81.25 * 25 - 1, (24, 5, True, 3)),
        (81.25 * 6, (6, 5, True, 3)),  # a quarter of what is wanted is the least for five trials
        # 10 rows of (3 + ½ + 2·2 + 3) runs: 68.25 s an epoch
        (81.25 * 6 - 1, (7, 3, True, 3)),
        (68.25 * 3, (3, 3, True, 3)),
        # 10 rows of (3 + ½ + 3) runs: 42.25 s an epoch
        (68.25 * 3 - 1, (4, 3, True, 1)),
        (42.25 * 3, (3, 3, True, 1)),
        (42.25 * 3 - 1, (3, 3, False, 1)),
    ],
)
def test_worked_by_hand(budget: float, expected: tuple[int, int, bool, int]) -> None:
    assert affordable(budget, Pace(1.0), wanted=25, rows=10, seeds=3, workers=2) == (*expected, 0)


def test_shuffled_forms_have_their_time_unless_there_is_none() -> None:
    # 38 runs more than the 125 of ten rows: 105.95 s an epoch; where one seed chooses, nothing is left for them
    asked = {"pace": Pace(1.0), "wanted": 25, "rows": 10, "seeds": 3, "workers": 2, "shuffles": 19}
    assert affordable(105.95 * 25 + 0.1, **asked) == (25, 5, True, 3, 19)
    assert affordable(105.95 * 25 - 0.1, **asked) == (24, 5, True, 3, 19)
    assert affordable(42.25 * 3, **asked) == (3, 3, True, 1, 0)


def test_epochs_to_train_to_the_end() -> None:
    assert wanted_epochs(64, 64) == LONGEST  # 2000 steps of one would be too many
    assert wanted_epochs(6400, 64) == 20
    assert wanted_epochs(6401, 64) == 19
    assert wanted_epochs(10**7, 64) == SHORTEST


@pytest.fixture(scope="module")
def hundred() -> Dataset:
    return prepare(make_config(data="digits", model="linear", limit=100)).dataset


@pytest.mark.parametrize(
    ("epochs", "tried", "said"),
    [
        # 100 samples in batches of 32, 4 steps an epoch: 200 epochs are usual, an eighth of them is the least
        (25, [], None),
        (24, [], "Trained for 24 epochs, where about 200 would be usual: "),
        (1, [], "Trained for 1 epoch, where"),
        (8, [8, 24], "Trained for at most 24 epochs, where about 200"),  # fewer were chosen, and more were not tried
        (8, [8, 25], None),  # fewer were better, so more would not help
        (200, [], None),
    ],
)
def test_a_budget_that_is_too_small_is_said(hundred: Dataset, epochs: int, tried: list[int], said: str | None) -> None:
    lines = tuple(Rehearsed(learning_rate=0.1, weight_decay=0.0, epochs=each, nll=1.0) for each in tried)
    asked = make_plan(data="digits", methods=["onehot", "uniform"], model="linear", epochs=epochs, batch_size=32)
    found = too_short(asked.model_copy(update={"rehearsal": lines}), hundred)
    assert len(found) == (said is not None)
    assert all(text.startswith(said) and "a larger --budget" in text for text in found)


def test_an_epoch_is_measured() -> None:
    job = prepare(make_config(data="digits", model="linear", limit=100))
    found = pace(job)
    assert 0 < found.epoch < 30
    assert found.after == 0  # nothing is translated


class Slowed:
    """A clock beside trainings that train nothing: an epoch takes 10 ms, a start 5, and others add what they add."""

    def __init__(self, disturbed: list[float]) -> None:
        self.now, self.disturbed, self.trained = 0.0, itertools.chain(disturbed, itertools.repeat(0.0)), 0

    def perf_counter(self) -> float:
        return self.now

    def train(self, job: Job) -> None:
        self.trained += 1
        self.now += 0.005 + 0.010 * job.config.epochs + next(self.disturbed)


def test_what_others_add_to_an_epoch_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    job = prepare(make_config(data="digits", model="linear", limit=100))
    # the first warms up; then runs of one and of two epochs, each undisturbed at least once
    for disturbed, runs in (
        ([9.0, 0.09, 0.07, 0.0, 0.05, 0.08, 0.0], 1 + 2 * REPEATED),
        ([9.0, 0.0, 0.0, 0.0, 2.0], 1 + 2 * 2),  # what took long is not repeated further
        ([9.0, 0.0, 0.0], 1 + 2 * REPEATED),
    ):
        clock = Slowed(disturbed)
        monkeypatch.setattr(budget.time, "perf_counter", clock.perf_counter)
        monkeypatch.setattr(budget, "train_job", clock.train)
        assert pace(job).epoch == pytest.approx(0.010)
        assert clock.trained == runs


def test_translations_are_measured_too(tmp_path: Path) -> None:
    job = prepare(make_config(data=str(write_corpus(tmp_path / "numbers")), **SMALL))
    found = pace(job)
    assert 0 < found.epoch < 60
    assert 0 <= found.after < 60


def test_of_sequences_one_trial_and_time_for_translations() -> None:
    # 4 rows of 3 runs, 10 s of translations and 1.3 s an epoch by two workers: 7.8 s an epoch beside 78 s
    asked = {"wanted": 12, "rows": 4, "seeds": 3, "workers": 2, "most": 1}
    assert affordable(78 + 7.8 * 12 + 0.1, Pace(1.0, 10.0), **asked) == (12, 1, True, 3, 0)
    assert affordable(78 + 7.8 * 5 + 0.1, Pace(1.0, 10.0), **asked) == (5, 1, True, 3, 0)
    assert affordable(78, Pace(1.0, 10.0), **asked) == (SHORTEST, 1, False, 1, 0)
    assert wanted_epochs(29_000, 64, "sequences") == 13


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_fewer_strengths_are_spread_and_keep_their_order(count: int) -> None:
    grid = (0.1, 0.2, 0.3, 0.5, 0.7)
    found = fewer(grid, count)
    assert len(set(found)) == len(found) == count
    assert all(value in grid for value in found)
    assert all(left < right for left, right in itertools.pairwise(found))
    if count > 1:
        assert (found[0], found[-1]) == (grid[0], grid[-1])


def test_enough_strengths_are_left_alone() -> None:
    assert fewer((0.1, 0.2), 3) == (0.1, 0.2)
    assert fewer((0.3, 0.4, 0.5), 1) == (0.4,)

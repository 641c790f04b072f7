"""The simulation of causes: few are named wrongly, with one fixed seed."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def verdict_cause(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import verdict_cause

    return verdict_cause


def test_an_order_without_a_share_is_hardly_ever_credited(verdict_cause) -> None:
    found = verdict_cause.simulate(1.0, 0.05, 0.0, draws=60)
    assert found["the order"] <= 8  # 5 percent of 60 are three; nine or more come once in three hundred times
    assert found["not the order"] >= 40


def test_a_quarter_of_the_gain_is_not_denied(verdict_cause) -> None:
    assert verdict_cause.simulate(0.75, 0.05, 0.0, draws=60)["not the order"] <= 5


def test_an_order_that_did_all_of_it_is_credited(verdict_cause) -> None:
    assert verdict_cause.simulate(0.0, 0.05, 0.0, draws=20)["the order"] >= 18

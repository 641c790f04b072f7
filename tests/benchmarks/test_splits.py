"""The simulation of verdicts over splits: where nothing differs few are given, with one fixed seed."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def splits(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import splits

    return splits


@pytest.mark.parametrize("cell", ["3 splits", "5 splits, 180 samples", "5 splits, dear 0.5 %"])
def test_where_nothing_differs_hardly_any_verdict_is_given(splits, cell: str) -> None:
    found = splits.simulate(splits.CELLS[cell], draws=100)
    # 3 percent of 100 are three; eight or more of them come once in ninety times
    assert found["cheaper"] <= 7
    assert found["dearer"] <= 7


def test_what_differs_is_found_more_often_with_more_splits(splits) -> None:
    few, many = (splits.simulate(splits.CELLS[f"effect, {count} splits"], draws=80) for count in (3, 10))
    assert few["cheaper"] + 10 < many["cheaper"]
    assert many["dearer"] == 0

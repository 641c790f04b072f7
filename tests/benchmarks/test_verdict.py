"""The simulation of verdicts: where nothing differs few are given, where much differs most are, with one fixed seed."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def verdict(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import verdict

    return verdict


@pytest.mark.parametrize(
    "cell",
    [
        "bottleneck",
        "dear 1000, 200 samples",
        "dear 1000, 700 samples",
        "2 samples differ",
        "4 samples differ",
        "1 groups",
        "gains, mean about 0",
    ],
)
def test_where_nothing_differs_hardly_any_verdict_is_given(verdict, cell: str) -> None:
    found = verdict.simulate(verdict.CELLS[cell], "fresh", draws=60)
    # 3 percent of 60 are two; five or more of them come once in thirty times
    assert found.kinds["cheaper"] <= 4
    assert found.kinds["dearer"] <= 4
    assert found.covered >= 0.88 * found.intervals


def test_one_group_gives_none_at_all(verdict) -> None:
    found = verdict.simulate(verdict.CELLS["1 groups"], "fresh", draws=40)
    assert found.kinds == {"undecided": 40}


def test_a_winner_chosen_on_the_networks_that_are_judged_is_lucky(verdict) -> None:
    cell = verdict.CELLS["bottleneck, 5000 samples"]._replace(samples=1500)
    lucky, fresh = (verdict.simulate(cell, chosen, draws=80).kinds["cheaper"] for chosen in ("reused", "fresh"))
    assert lucky > 8 > fresh


def test_a_large_effect_is_found(verdict) -> None:
    found = verdict.simulate(verdict.CELLS["digits, bottleneck, -50"], "fresh", draws=30)
    assert found.kinds["cheaper"] >= 24


def test_it_prints_and_records(verdict, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import results

    kept = []
    monkeypatch.setattr(results, "record", lambda name, row: kept.append((name, row)))
    verdict.main(["--draws", "5", "--cells", "2 samples differ|2 groups", "--record"])
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert [(name, row["cell"], row["draws"]) for name, row in kept] == [
        ("verdict", "2 samples differ", 5),
        ("verdict", "2 groups", 5),
    ]
    assert kept[0][1]["cheaper"] == "0.0 [0.0, 43.4]"  # Wilson's interval of none of five

"""The simulation of verdicts: where nothing differs few are given, where much differs most are, with one fixed seed."""

from pathlib import Path

import numpy as np
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


def test_a_training_set_that_suits_a_method_is_no_false_verdict_about_this_split(verdict) -> None:
    cell = verdict.CELLS["training sets differ, this split"]._replace(training=0.5)
    found = verdict.simulate(cell, "fresh", draws=60)
    assert found.kinds["cheaper"] > 6  # the best of seven suits the training set
    assert found.wrong <= 3
    assert found.covered >= 0.88 * found.intervals
    elsewhere = verdict.simulate(cell._replace(here=False), "fresh", draws=60)
    assert elsewhere.kinds == found.kinds
    assert elsewhere.wrong == found.kinds["cheaper"] + found.kinds["dearer"]


def test_what_is_true_of_a_training_set_is_what_many_networks_and_samples_show(verdict) -> None:
    cell = verdict.CELLS["training sets differ, this split"]._replace(samples=40_000, training=0.5)
    world = verdict.World(cell, np.random.default_rng(0))
    found = [world.costs(m, 0.3 * world.random.normal(size=40) + world.training[m], True).mean() for m in (0, 1)]
    assert found[1] / found[0] == pytest.approx(world.truth(1) / world.truth(0), rel=0.03)


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

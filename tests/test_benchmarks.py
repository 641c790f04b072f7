"""The benchmark that measures default networks runs, on a few samples."""

import csv
import sys
from functools import partial
from pathlib import Path

import pytest

import labelspace
from labelspace.sweeps.executors import InProcess

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.mark.slow
def test_default_networks_are_measured_against_untuned_classifiers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    import untuned

    out = tmp_path / "untuned.csv"
    monkeypatch.setattr(untuned, "RIVALS", {kind: [untuned.LOGISTIC, untuned.FOREST] for kind in untuned.RIVALS})
    monkeypatch.setattr(labelspace, "compare", partial(labelspace.compare, executor=InProcess()))
    untuned.main(["--sets", "wine", "--limit", "60", "--budget", "2s", "--splits", "2", "--out", str(out)])
    with out.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["set"], row["network"], row["splits"]) == ("wine", "table", "2")
    assert row["best rival"].split(",")[0] in (untuned.LOGISTIC, untuned.FOREST)
    assert float(row["its cost"]) >= 0 <= float(row["rival's cost"])
    known = ("average of", "one-hot, tuned", "uniform", untuned.LOGISTIC, untuned.FOREST)
    assert all(any(name in taken for name in known) for taken in row["taken"].split("/"))
    assert capsys.readouterr().out.count("difference") == 1
    for name in ("untuned", "untuned_sets", "results"):
        sys.modules.pop(name)


@pytest.mark.long
def test_what_following_the_recommendation_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    import regret

    out = tmp_path / "regret.csv"
    quick = partial(labelspace.compare, executor=InProcess(), methods=["uniform"], rivals="GaussianNB", model="linear")
    monkeypatch.setattr(labelspace, "compare", quick)
    regret.main(["--sets", "diabetes", "--limit", "100", "--budget", "1s", "--splits", "2", "--out", str(out)])
    with out.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["set"], row["splits"]) == ("diabetes", "2")
    # nothing costs less than the cheapest row of each split
    assert float(row["hindsight"].rstrip("%")) >= 0
    assert float(row["its cost"]) > 0 < float(row["one-hot, argmax"])
    for name in ("regret", "untuned_sets", "results"):
        sys.modules.pop(name)

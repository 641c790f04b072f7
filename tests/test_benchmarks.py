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
    assert row["best rival"] in (untuned.LOGISTIC, untuned.FOREST)
    assert float(row["its cost"]) >= 0 <= float(row["rival's cost"])
    assert set(row["taken"].split("/")) <= {"one-hot", "uniform", untuned.LOGISTIC, untuned.FOREST}
    assert capsys.readouterr().out.count("difference") == 1
    for name in ("untuned", "untuned_sets", "results"):
        sys.modules.pop(name)

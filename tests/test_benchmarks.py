"""The benchmark that measures default networks runs, on a few samples."""

import csv
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.mark.slow
def test_default_networks_are_measured_against_untuned_classifiers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    import untuned

    out = tmp_path / "untuned.csv"
    sets = ["wine", "friedman"]
    monkeypatch.setattr(untuned, "RIVALS", {"table": [untuned.LOGISTIC, untuned.FOREST]})
    untuned.main(["--sets", *sets, "--limit", "60", "--budget", "3s", "--splits", "2", "--out", str(out)])
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["set"], row["network"], row["splits"]) for row in rows] == [
        ("wine", "table", "2"),
        ("friedman", "table", "1"),
    ]
    for row in rows:
        assert row["best rival"] in (untuned.LOGISTIC, untuned.FOREST)
        assert float(row["its cost"]) >= 0 <= float(row["rival's cost"])
        assert set(row["taken"].split("/")) <= {"one-hot", "uniform", untuned.LOGISTIC, untuned.FOREST}
    assert capsys.readouterr().out.count("difference") == 2
    for name in ("untuned", "untuned_sets", "results"):
        sys.modules.pop(name)

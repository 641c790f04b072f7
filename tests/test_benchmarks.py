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
    sets = ["wine", "friedman", "digits"]
    rivals = ["LogisticRegression", "ExtraTrees"]
    untuned.main(
        ["--sets", *sets, "--limit", "60", "--epochs", "2", "--splits", "2", "--rivals", *rivals, "--out", str(out)]
    )
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["set"] for row in rows] == sets
    assert [row["network"] for row in rows] == ["table", "table", "mlp-128"]
    for row in rows:
        assert row["best rival"] in rivals
        assert float(row["cost"]) >= 0 <= float(row["its cost"])
    assert capsys.readouterr().out.count("difference") == 3
    for name in ("untuned", "untuned_sets", "results"):
        sys.modules.pop(name)

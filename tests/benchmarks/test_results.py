"""The tables of benchmarks: each number under its own column, whatever was measured before."""

import csv
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "results.py"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    found = importlib.util.spec_from_file_location("results_of_benchmarks", SCRIPT)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    monkeypatch.setattr(module, "HERE", tmp_path)
    return module


def test_a_row_with_other_columns_stands_under_its_own(results: ModuleType, tmp_path: Path) -> None:
    for row in ({"model": "a, b", "speed": 2.5}, {"speed": 3.5, "threads": 1, "model": "c"}, {"model": "d"}):
        path = results.record("beam", row)
    assert path == tmp_path / "results" / "beam.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["model"], row["speed"], row["threads"]) for row in rows] == [
        ("a, b", "2.5", ""),
        ("c", "3.5", "1"),
        ("d", "", ""),
    ]
    assert {row["torch"] for row in rows} == {results.torch.__version__}
    assert [entry.name for entry in path.parent.iterdir()] == ["beam.csv"]


def test_the_same_columns_change_no_line(results: ModuleType) -> None:
    before = results.record("loop", {"model": "a"}).read_text()
    assert results.record("loop", {"model": "b"}).read_text().startswith(before)

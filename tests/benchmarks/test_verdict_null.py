"""Whole comparisons where nothing can differ: they are trained, differ by chance, and hardly any verdict is given."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import labelspace

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def null(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import verdict_null

    return verdict_null


def test_labels_of_noise_are_never_cheaper_or_dearer(null) -> None:
    found = null.simulate(null.CELLS["labels of noise"], draws=3)
    assert len(found) == 3
    assert not {each.kind for each in found} & {"cheaper", "dearer"}


def test_networks_of_equal_methods_differ_by_chance_alone(null, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise nothing could go wrong, and no rate would say anything."""
    found: list[Any] = []
    compare = labelspace.compare

    def kept(*given: Any, **options: Any) -> Any:
        found.append(compare(*given, **options))
        return found[-1]

    monkeypatch.setattr(labelspace, "compare", kept)
    cell = null.CELLS["the same method seven times"]
    monkeypatch.setattr(cell, "methods", cell.methods[:2])
    monkeypatch.setattr(cell, "strengths", {name: cell.strengths[name] for name in "ab"})
    drawn = cell.verdict(np.random.default_rng(0))
    rows = [row for row in found[0].rows if row.role != "ensemble"]
    assert [row.label for row in rows] == ["one-hot", "a", "b"]
    costs = [row.headline.cost for row in rows]
    assert len(set(costs)) == 3
    assert max(costs) < 1.25 * min(costs)
    assert found[0].rows[0].headline.cost < 1  # it learned something: to call the middle always costs 2
    verdict = found[0].verdict
    assert verdict.low is not None
    assert verdict.high is not None
    assert drawn == (verdict.kind, verdict.low <= 0 <= verdict.high)


def test_it_prints_and_records(null, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import results

    kept = []
    monkeypatch.setattr(results, "record", lambda name, row: kept.append((name, row)))
    for cell in null.CELLS.values():
        monkeypatch.setattr(cell, "verdict", lambda random: null.Drawing("undecided", True))
    null.main(["--draws", "4", "--cells", "labels of noise|random label space", "--record"])
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert [(name, *(row[title] for title in ("cell", "draws", "cheaper", "coverage"))) for name, row in kept] == [
        ("verdict_null", "labels of noise", 4, "0.0 [0.0, 49.0]", "100.0 [51.0, 100.0]"),
        ("verdict_null", "random label space", 4, "0.0 [0.0, 49.0]", "100.0 [51.0, 100.0]"),
    ]

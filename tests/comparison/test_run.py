"""compare() asked again: nothing is trained or judged twice; and few models are in memory at a time."""

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch

from comparison.small import TINY, write_table
from labelspace.comparison import Comparison, compare, run
from labelspace.learner import Learner
from labelspace.sweeps.executors import InProcess

OTHER_DIGITS = bytes.maketrans(b"0123456789", b"1234567890")  # whatever the numbers are, they become others


class NoWorker(InProcess):
    """An executor that must not be asked for anything."""

    def run(self, work: Any, tasks: Any) -> Any:
        pytest.fail("a worker was started")


def asked(place: Path, **options: Any) -> tuple[Comparison, list[str]]:
    """Return a comparison, and the events that it told."""
    events: list[str] = []
    table = place / "sizes.csv"
    given = {"executor": InProcess(), **TINY, "cost": "squared", "space": "small<medium<large", **options}
    found = compare(table, **given, out=place, report=lambda event, numbers: events.append(event))
    return found, events


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_table(tmp_path / "sizes.csv", ["small", "medium", "large"])
    return tmp_path


def test_a_finished_comparison_is_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, events = asked(place)
    assert "analysis" in events
    monkeypatch.setattr(run, "_finish", lambda *given: pytest.fail("it was judged again"))
    monkeypatch.setattr("labelspace.decisions.Temperature.fit", lambda *given: pytest.fail("it was judged again"))
    again, events = asked(place, executor=NoWorker())
    assert again == first
    assert "analysis" not in events
    assert events[-1] == "unchanged"


@pytest.mark.parametrize("name", ["geometry.safetensors", "space.safetensors", "comparison.json", "best/decision.json"])
@pytest.mark.parametrize("what", ["gone", "damaged"])
def test_what_is_missing_or_damaged_is_written_again(place: Path, name: str, what: str) -> None:
    first, _ = asked(place)
    assert first.folder is not None
    path = first.folder / name
    content = path.read_bytes()
    if what == "gone":
        path.unlink()
    else:
        path.write_bytes(content.translate(OTHER_DIGITS))
    again, events = asked(place, executor=NoWorker())
    assert "analysis" in events
    assert again.rows == first.rows
    assert path.read_bytes() == content


def test_other_prices_in_the_same_file_are_another_question(place: Path) -> None:
    prices = place / "prices.csv"
    for price in (3, 9):
        prices.write_text(f"true,called,cost\nsmall,large,{price}\n*,*,1\n")
        found, events = asked(place, cost=str(prices))
        assert "analysis" in events
        assert found.result.cost.example is not None
        assert f"costs {price}" in found.result.cost.example


def test_few_models_are_in_memory_at_a_time(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judging many runs builds the networks one after the other."""
    first, _ = asked(place, seeds=3)
    assert first.folder is not None
    (first.folder / "comparison.json").unlink()
    alive: weakref.WeakSet[Learner] = weakref.WeakSet()
    most, plain = [0], Learner.__init__

    def counted(self: Learner, *given: Any, **options: Any) -> None:
        plain(self, *given, **options)
        alive.add(self)
        gc.collect()
        most[0] = max(most[0], len(alive))

    monkeypatch.setattr(Learner, "__init__", counted)
    found, events = asked(place, seeds=3, executor=NoWorker())
    assert "analysis" in events
    assert sum(len(row.runs) for row in found.rows if row.role != "ensemble") == 6
    assert 1 <= most[0] <= 2
    assert torch.is_grad_enabled()

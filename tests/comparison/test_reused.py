"""Nothing is trained twice: another comparison in the same folder takes over every run that is finished there."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from comparison.small import write_table
from labelspace.comparison import Comparison, compare, planning
from labelspace.comparison.plan import Plan
from labelspace.sweeps.executors import InProcess

ORDER = "small<medium<large"
ASKED: dict[str, Any] = {
    "methods": ["uniform", "semantic"],
    "strengths": {"uniform": [0.2], "semantic": [0.3]},
    "space": ORDER,
    "cost": "squared",
    "model": "linear",
    "seeds": 2,
    "epochs": 2,
}


class Counting(InProcess):
    """Does everything here, and remembers what was trained."""

    def __init__(self) -> None:
        self.trained: list[tuple[str, int]] = []

    def run(self, work: Any, tasks: Any) -> Iterator[tuple[int, Any]]:
        for task in tasks:
            self.trained += [(config.method, config.seed) for config in task.configs]
        yield from super().run(work, tasks)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_table(tmp_path / "sizes.csv", ["small", "medium", "large"])
    return tmp_path


def asked(place: Path, **options: Any) -> tuple[Comparison, list[tuple[str, int]], dict[str, Any]]:
    """Return a comparison, what was trained for it, and the last that was told of each event."""
    executor, told = Counting(), {}
    found = compare(
        place / "sizes.csv", out=place / "out", executor=executor, report=told.__setitem__, **{**ASKED, **options}
    )
    return found, executor.trained, told


def content(folder: Path | None) -> dict[str, tuple[bytes, int]]:
    assert folder is not None
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def numbers(found: Comparison) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "options"} for row in found.content["rows"]]


def test_other_prices_train_nothing(place: Path) -> None:
    first, trained, told = asked(place)
    assert len(trained) == 6  # three rows
    assert told["analysis"] == {"runs": 6, "there": 0}
    before = content(first.folder)
    found, trained, told = asked(place, cost="ordinal")
    assert found.folder != first.folder
    assert trained == []
    assert told["analysis"] == {"runs": 6, "there": 6}
    assert content(first.folder) == before
    assert [row.runs for row in found.rows] == [row.runs for row in first.rows]
    assert [row.argmax.accuracy for row in found.rows] == [row.argmax.accuracy for row in first.rows]
    alone, trained, _ = asked(place, cost="ordinal", fresh=True)  # as if it were the first one
    assert len(trained) == 6
    assert numbers(alone) == numbers(found)


def test_another_strength_is_chosen_among_finished_trials(place: Path) -> None:
    """Prices decide which strength is cheapest: only the further seeds of another choice are new."""
    strengths = {"uniform": [0.1, 0.2, 0.3], "semantic": [0.1, 0.3, 0.7]}
    first, _, _ = asked(place, strengths=strengths, seeds=1)
    found, trained, _ = asked(place, strengths=strengths, seeds=1, cost="ordinal")
    assert trained == []
    tried = [[trial.run for trial in row.trials] for row in found.rows]
    assert tried == [[trial.run for trial in row.trials] for row in first.rows]


@pytest.mark.parametrize("seeds", [(2, 6), (6, 3)])  # one by one, then together; fewer
def test_more_seeds_train_the_new_ones(place: Path, seeds: tuple[int, int]) -> None:
    first, _, _ = asked(place, seeds=seeds[0])
    before = content(first.folder)
    found, trained, told = asked(place, seeds=seeds[1])
    new = range(*seeds)
    assert sorted(trained) == sorted((method, seed) for method in ("onehot", "uniform", "semantic") for seed in new)
    assert told["analysis"] == {"runs": 3 * seeds[1], "there": 3 * min(seeds)}
    for row, earlier in zip(found.rows, first.rows, strict=True):
        assert row.runs[: len(earlier.runs)] == earlier.runs[: len(row.runs)]
    assert content(first.folder) == before
    again, trained, told = asked(place, seeds=seeds[1])
    assert trained == []
    assert list(told)[-1] == "unchanged"
    assert again == found


def test_another_method_trains_its_own_runs(place: Path) -> None:
    asked(place)
    strengths = {**ASKED["strengths"], "focal": [2.0]}
    _, trained, told = asked(place, methods=["uniform", "semantic", "focal"], strengths=strengths)
    assert sorted(trained) == [("focal", 0), ("focal", 1)]
    assert told["analysis"] == {"runs": 8, "there": 6}


def test_another_space_trains_what_depends_on_it(place: Path) -> None:
    asked(place)
    _, trained, _ = asked(place, space="medium<small<large")
    assert {method for method, _ in trained} == {"semantic"}


@pytest.mark.parametrize("name", ["model.safetensors", "result.json"])
def test_a_damaged_run_of_another_comparison_is_trained_anew(place: Path, name: str) -> None:
    first, _, _ = asked(place)
    assert first.folder is not None
    run = first.rows[1].runs[0]
    path = first.folder / "runs" / run / name
    whole, damaged = path.read_bytes(), path.read_bytes()[:-9] + b"something"
    path.write_bytes(damaged)
    with pytest.warns(UserWarning, match=f"{name} is damaged; the run is computed again"):
        found, trained, told = asked(place, cost="ordinal")
    assert trained == [("uniform", 0)]
    assert told["analysis"] == {"runs": 6, "there": 5}
    assert path.read_bytes() == damaged
    assert found.folder is not None
    assert (found.folder / "runs" / run / "scores.safetensors").is_file()
    if "safetensors" in name:  # the others say where data and spaces lie
        assert (found.folder / "runs" / run / name).read_bytes() == whole


def test_the_plan_is_repeated_with_finished_runs_too(place: Path) -> None:
    first, _, _ = asked(place)
    assert first.folder is not None
    executor = Counting()
    found = compare(plan=first.folder / "plan.toml", out=place / "out", executor=executor)
    assert found.folder != first.folder
    assert executor.trained == []
    executor = Counting()
    compare(plan=first.folder / "plan.toml", out=place / "out", executor=executor, fresh=True)
    assert len(executor.trained) == 6


def test_what_was_taken_over_stays_when_the_other_goes(place: Path) -> None:
    """Also after the other was started over: every folder holds its own runs."""
    asked(place)
    found, _, _ = asked(place, cost="ordinal")
    before = content(found.folder)
    asked(place, fresh=True, epochs=2)
    assert content(found.folder) == before
    assert found.folder is not None
    torch.testing.assert_close(found.best.weights, Comparison.load(found.folder).best.weights)


def test_what_a_budget_bought_holds_for_the_next(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured anew it would buy other epochs, and no finished run would be of use."""
    options = {"seeds": 1, "budget": "1s"}
    for name in ("epochs", "strengths"):
        monkeypatch.delitem(ASKED, name)
    pace = planning.budgets.Pace
    monkeypatch.setattr(planning.budgets, "pace", lambda job: pace(0.002))
    first, _, told = asked(place, **options)
    assert first.folder is not None
    epochs = told["plan"]["epochs"]
    assert epochs > 3
    monkeypatch.setattr(planning.budgets, "pace", lambda job: pytest.fail("measured again"))
    found, trained, told = asked(place, **options, methods=["uniform", "semantic", "focal"])
    assert {method for method, _ in trained} == {"focal"}
    assert told["as_before"] == {"name": first.folder.name, "epochs": epochs}
    assert found.folder is not None
    plan = Plan.load(found.folder / "plan.toml")
    assert (plan.trained_as, plan.config.epochs) == (first.folder.name, epochs)
    assert found.result.training.endswith(f", as in {first.folder.name}")
    again, trained, told = asked(place, **options, methods=["uniform", "semantic", "focal"])
    assert (again, trained) == (found, [])
    assert list(told)[-1] == "unchanged"
    monkeypatch.setattr(planning.budgets, "pace", lambda job: pace(0.01))
    anew, trained, told = asked(place, **options, cost="ordinal", fresh=True)
    assert told["plan"]["epochs"] < epochs
    assert "as_before" not in told
    # of what was tried first, the runs that were chosen are some of these; strengths at an end are tried further out
    plan = told["plan"]
    assert plan["runs"] < len(trained) <= plan["runs"] + plan["further"] + len(anew.result.rehearsal)

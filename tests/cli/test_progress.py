"""The bars of a comparison: what is said of its plan, and that runs advance."""

from pathlib import Path

import pytest

from labelspace.cli import progress
from labelspace.cli.progress import ComparisonBars

PLAN = {
    "folder": "runs/x",
    "phases": {"tuning": 4, "seeds": 6},
    "title": "digits, 3 methods",
    "space": "order: 0 < 1",
    "cost": "squared distance",
    "example": "true 0 called 9 costs 81",
    "options": {"lls": {"rank": 2}},
    "trials": (3, 5),
    "runs": 10,
    "further": 4,
    "epochs": 7,
    "rivals": ["SVC"],
    "training": "adam, learning rate 0.01: the best of 7 tried",
    "left_out": ["semantic"],
}


def test_the_plan_is_said_before_training(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(progress.errors, "print", lambda text, **style: said.append(text))
    with ComparisonBars() as bars:
        bars.report("measuring", {"budget": "10m"})
        bars.report("rehearsing", {"folder": "runs/x"})
        bars.report("plan", PLAN)
        bars.report("run", {"phase": "tuning", "done": 3})
        bars.report("analysis", {"runs": 10, "there": 0})
    text = "\n".join(said)
    for part in (
        "a budget of 10m",
        "choosing rate, decay and epochs",
        "the best of 7 tried",
        "order: 0 < 1",
        "true 0 called 9 costs 81",
        "10 runs of 7 epochs, 3 to 5 trials",
        "and at most 4 further out, where the best strength lies at an end",
    ):
        assert part in text
    assert "left out, for want of a label space (--space): semantic" in text
    assert bars.folder == Path("runs/x/runs")
    (task,) = bars.bar.tasks
    assert (task.completed, task.total, task.description) == (3, 4, "tuning strengths")


def test_runs_show_where_they_are(tmp_path: Path) -> None:
    bars = ComparisonBars()
    note = tmp_path / "note"
    note.write_text("2 9")
    bars._show("lls-0a1b-seed3", note)
    (task,) = bars.bar.tasks
    assert (task.completed, task.total, task.description) == (2, 9, "  lls seed 3")
    bars._show("lls-0a1b-seed3", tmp_path / "gone")
    assert len(bars.bar.tasks) == 1


@pytest.mark.parametrize(
    ("there", "said"),
    [
        (0, "judging on test data …"),
        (62, "62 of 96 runs were there already; judging on test data …"),
        (96, "nothing was trained: all 96 runs were there already; judging on test data …"),
    ],
)
def test_what_was_there_already_is_said(there: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    ComparisonBars().report("analysis", {"runs": 96, "there": there})
    assert capsys.readouterr().err == f"{said}\n"


def test_features_have_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    bars = ComparisonBars()
    for done in (256, 512, 700):
        bars.report("features", {"done": done, "of": 700, "seconds": 41.7})
    (task,) = bars.bar.tasks
    assert (task.completed, task.total, task.description) == (700, 700, "computing features")
    first, last = capsys.readouterr().err.splitlines()
    assert first == "computing features of 700 samples, once: they are kept, and the budget pays for them"
    assert last == "features took 42 s"


@pytest.mark.parametrize(
    ("fitting", "said"),
    [
        (201.0, ": 201 s for rivals, which it does not count (--rivals none), 109 s for all else"),
        (0.0, ": how long training takes is estimated before it"),
    ],
)
def test_what_took_longer_than_the_budget_is_said(
    fitting: float, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ComparisonBars().report("overrun", {"budget": "2m", "seconds": 310.2, "fitting": fitting})
    assert f"took 310 s, longer than the budget of 2m{said}" in capsys.readouterr().err


def test_whose_epochs_are_taken_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    ComparisonBars().report("as_before", {"name": "digits-0a1b", "epochs": 12})
    assert capsys.readouterr().err == "trained as in digits-0a1b: 12 epochs (--fresh measures the budget anew)\n"


def test_a_split_begins_with_bars_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(progress.errors, "print", lambda text, **style: said.append(text))
    bars = ComparisonBars()
    bars.report("run", {"phase": "tuning", "done": 3})
    bars.report("split", {"done": 2, "of": 5})
    assert (said, len(bars.bar.tasks)) == (["split 2 of 5"], 0)
    bars.report("run", {"phase": "tuning", "done": 1})
    assert bars.bar.tasks[0].completed == 1

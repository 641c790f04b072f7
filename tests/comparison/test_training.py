"""Runs that fail: one is noted, all of them are an error that says so, and what is missing is never compared with."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from comparison.small import TINY, write_table
from labelspace.comparison import Comparison, compare
from labelspace.sweeps.executors import InProcess, Work, WorkerDied

NAMES = ["small", "medium", "large"]


class Losing:
    """An executor that loses the runs of some methods with a certain seed."""

    def __init__(self, *methods: str, seed: int) -> None:
        self.methods, self.seed = methods, seed

    def run(self, work: Work, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for number, task in enumerate(tasks):
            lost = any(config.method in self.methods and config.seed == self.seed for config in task.configs)
            yield number, WorkerDied("out of memory") if lost else work(task)


def run(folder: Path, executor: Any = None, **options: Any) -> Comparison:
    table = folder / "sizes.csv"
    if not table.exists():
        write_table(table, NAMES)
    return compare(table, **{**TINY, "out": folder, "executor": executor or InProcess(), **options})


def methods(found: Comparison) -> list[str]:
    return [row["method"] for row in found.content["rows"] if row["role"] != "ensemble"]


def test_a_strength_that_cannot_be_trained_is_noted(tmp_path: Path) -> None:
    found = run(tmp_path, strengths={"uniform": [0.1, 0.3, 2.0]})
    told = [warning for warning in found.warnings if "failed" in warning]
    assert len(told) == 1
    assert told[0].startswith("uniform (smoothing 2), seed 1000, failed: InputError: `smoothing`")
    assert [trial["value"] for trial in found.content["rows"][1]["trials"]] == [0.1, 0.3]
    assert told[0].split(":")[0] in found.table()


def test_a_strength_of_a_whole_group_of_runs(tmp_path: Path) -> None:
    """Five runs of one method train together; the one that cannot holds up none of the others."""
    found = run(tmp_path, strengths={"uniform": [0.1, 0.2, 0.3, 0.4, -1.0]})
    assert [trial["value"] for trial in found.content["rows"][1]["trials"]] == [0.1, 0.2, 0.3, 0.4]
    assert any("smoothing -1" in warning for warning in found.warnings)


def test_a_method_without_a_trial_is_left_out(tmp_path: Path) -> None:
    found = run(tmp_path, methods=["uniform", "lls"], strengths={"uniform": [2.0], "lls": [0.1]})
    assert methods(found) == ["onehot", "lls"]
    assert len([warning for warning in found.warnings if warning.startswith("uniform (smoothing 2), seeds 0, 1")]) == 1


def test_a_method_that_lost_a_seed_is_left_out(tmp_path: Path) -> None:
    options = {"methods": ["uniform", "lls"], "strengths": {"uniform": [0.1], "lls": [0.1]}}
    found = run(tmp_path, Losing("uniform", seed=1), **options)
    assert methods(found) == ["onehot", "lls"]
    assert "uniform (smoothing 0.1), seed 1, failed: out of memory" in found.warnings
    again = run(tmp_path, **options)  # the next time only what was lost is done
    assert methods(again) == ["onehot", "uniform", "lls"]
    assert not [warning for warning in again.warnings if "failed" in warning]


def test_all_runs_fail(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="2 runs failed; the finished ones are kept") as caught:
        run(tmp_path, Losing("onehot", "uniform", seed=0), seeds=1, strengths={"uniform": [0.1]})
    assert str(caught.value).count("out of memory") == 2


def test_nothing_else_is_trained_where_no_strength_of_any_method_can_be(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"Too many runs failed.*uniform \(smoothing 0.1\), seed 1000, failed: out"):
        run(tmp_path, Losing("uniform", seed=1000))
    assert not list(tmp_path.glob("*/runs/*/result.json"))


@pytest.mark.parametrize("seed", [0, 1])
def test_nothing_is_compared_without_the_reference(seed: int, tmp_path: Path) -> None:
    with pytest.raises(
        RuntimeError, match=f"Too many runs failed to compare anything.*onehot, seed {seed}, failed: out"
    ):
        run(tmp_path, Losing("onehot", seed=seed))
    assert not list(tmp_path.glob("*/comparison.json"))


@pytest.mark.parametrize("seed", [0, 1])
def test_nothing_is_compared_without_a_method(seed: int, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=f"Too many runs failed to compare anything.*uniform.*seed {seed}, failed"):
        run(tmp_path, Losing("uniform", seed=seed))
    assert not list(tmp_path.glob("*/comparison.json"))


def test_a_strength_for_a_method_that_is_not_compared(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="`strengths` of compare must be one of .*Got 'unifrom'. Did you mean 'uniform'"
    ):
        run(tmp_path, strengths={"unifrom": [0.1]})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seeds": 0}, "`seeds` of compare must be greater than or equal to 1. Got 0."),
        ({"epoch": 3}, "Did you mean 'epochs'"),
        ({"methods": ["unifrom"]}, "Did you mean 'uniform'"),
        ({"budget": "soon", "epochs": None}, "`epochs` of compare must be a valid integer. Got None."),
        ({"model": "resnet-32"}, "resnet32"),
        ({"space": "small<medium"}, "large"),
        ({"space": "nothing-like-it"}, "`space` of labelspace must be"),
        ({"cost": "sqared"}, "Did you mean 'squared'"),
        ({"probabilities": "upside down"}, "`probabilities` of compare must be 'as is' or 'inverted'"),
        ({"limit": 0}, "`limit` of compare must be a whole number of at least 1, or a share such as '50%'. Got 0."),
        ({"plan": "nowhere.toml"}, "`plan` of compare must be a TOML file"),
    ],
)
def test_a_wrong_question_is_refused_before_anything_is_trained(
    options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        run(tmp_path, **options)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob("*/runs/*"))


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, no folder")
    with pytest.raises(ValueError, match="`out` of compare must be a folder that can be written to. Got .*taken"):
        run(tmp_path, out=tmp_path / "taken")


def test_choices_are_made_on_networks_that_are_not_judged(tmp_path: Path) -> None:
    """All strengths with one seed, the best two with two more; a finalist that loses a seed keeps the others."""
    strengths = {"onehot": [0.0], "uniform": [0.1, 0.3, 0.5], "lls": [0.1]}
    found = run(tmp_path, Losing("lls", seed=1002), methods=["uniform", "lls"], strengths=strengths)
    tried = {row.label: {trial.value: trial for trial in row.trials} for row in found.rows[1:3]}
    assert sorted(trial.seeds for trial in tried["uniform"].values()) == [1, 3, 3]
    assert [trial.seeds for trial in tried["LLS"].values()] == [2]
    for row in found.rows[1:3]:
        assert all(name.endswith(("seed0", "seed1")) for name in row.runs)
        assert all(trial.run is not None and trial.run.endswith("seed1000") for trial in row.trials)
        assert row.strength is not None
        best = tried[row.label][row.strength.value]
        assert row.tried_merit == best.merit == max(each.merit for each in tried[row.label].values() if each.seeds > 1)
    winner = next(row for row in found.rows if row.winner)
    assert winner.tried_merit == max(row.tried_merit or -9 for row in found.rows[1:3])

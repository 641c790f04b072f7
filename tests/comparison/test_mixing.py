"""The reference tunes too: mixup as its one number, tried like any strength, and taken over by the methods."""

from pathlib import Path

import pytest

from comparison.small import write_table
from labelspace import InputError, Run, compare
from labelspace.comparison.mixing import MIXUP, mixable, mixed
from labelspace.comparison.plan import TRIALS
from labelspace.sweeps.executors import InProcess


def test_what_can_be_mixed() -> None:
    assert [mixable(kind, []) for kind in ("images", "table", "features", "text", "sequences")] == [True] * 3 + [
        False
    ] * 2
    assert not mixable("images", ["mixup:0.3"])
    assert mixed(["flip"], 0.4) == ["flip", "mixup:0.4"]
    assert mixed(["flip"], 0.0) == ["flip"]


def test_as_many_trials_as_a_method_has() -> None:
    assert len(MIXUP.values) == TRIALS
    assert MIXUP.values[0] == 0


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(tmp_path_factory.mktemp("data") / "steps.csv", ["1", "2", "3"])


OPTIONS = {"model": "linear", "epochs": 2, "seeds": 2, "tuning": 1, "rivals": "none"}


def test_methods_start_from_what_suits_the_reference(table: Path, tmp_path: Path) -> None:
    strengths = {"onehot": [0.2, 1.0], "uniform": [0.1, 0.3], "zipf": [0.1]}
    found = compare(
        table, methods=["uniform", "zipf"], strengths=strengths, out=tmp_path, executor=InProcess(), **OPTIONS
    )
    reference, uniform, _ = found.result.rows[:3]
    assert (reference.label, reference.method, reference.spoken) == ("one-hot, tuned", "onehot", "tuned one-hot labels")
    assert [trial.value for trial in reference.trials] == [0.2, 1.0]
    best = min(reference.trials, key=lambda trial: trial.validation_cost)
    assert reference.strength is not None
    assert reference.strength.value == best.value
    runs = {
        row.label: [Run.load(found.folder / "runs" / name).config for name in row.runs] for row in found.result.rows
    }
    share = ("mixup",) if best.value == 0.2 else ("mixup:1.0",)
    assert {config.augment for label in ("one-hot, tuned", "uniform") for config in runs[label]} == {share}
    assert all(config.method_options == {} for config in runs["one-hot, tuned"])
    assert {config.augment for config in runs["zipf"]} == {()}
    assert "Trained without mixup, whose labels it cannot use: zipf." in found.result.warnings
    assert f"mixup {best.value:g}, chosen for one-hot labels" in found.result.training
    assert uniform.change is not None


def test_nothing_is_tuned_of_the_reference_where_nothing_is_of_methods(table: Path, tmp_path: Path) -> None:
    found = compare(
        table, methods=["uniform"], strengths={"uniform": [0.1]}, out=tmp_path, executor=InProcess(), **OPTIONS
    )
    assert [row.label for row in found.result.rows if row.role != "ensemble"] == ["one-hot", "uniform"]
    assert found.result.rows[0].strength is None


def test_what_is_mixed_already_is_not_tuned(table: Path, tmp_path: Path) -> None:
    options = {"strengths": {"onehot": [0.2], "uniform": [0.1]}, "augment": ["mixup:0.3"]}
    with pytest.raises(
        InputError, match="`strengths` of compare must be left out for one-hot labels where samples are"
    ):
        compare(table, methods=["uniform"], out=tmp_path, **options, **OPTIONS)

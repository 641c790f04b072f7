"""What a budget bought for one comparison holds for the next one beside it."""

import json
import os
from pathlib import Path

import pytest

from labelspace import _files
from labelspace.comparison.earlier import NAME, Bought, taken_over
from labelspace.comparison.plan import Plan, make_plan

DRAFT = make_plan(data="digits", methods=["onehot", "uniform"], model="linear", epochs=1, milestones=[4], gamma=0.5)


def leave(out: Path, name: str, draft: Plan = DRAFT, budget: str = "2m", **chosen: object) -> Path:
    (out / name / "runs").mkdir(parents=True)
    Bought.of(draft, draft.with_training(**chosen), "key", budget, 3).write(out / name)
    return out / name / NAME


def test_what_was_chosen_is_taken_over(tmp_path: Path) -> None:
    leave(tmp_path, "first", epochs=12, learning_rate=0.02)
    draft = make_plan(**{**DRAFT.plain(), "data": "elsewhere", "methods": ["onehot", "focal"], "seeds": 9})
    found = taken_over(draft, "key", "120s", tmp_path / "mine")
    assert found is not None
    plan, bought = found
    assert (plan.config.epochs, plan.config.learning_rate, bought.trials) == (12, 0.02, 3)
    assert plan.trained_as == "first"
    assert (plan.config.data, plan.methods, plan.seeds) == ("elsewhere", ("onehot", "focal"), 9)
    assert plan.config.milestones == (4,)
    assert Plan.load(saved(plan, tmp_path / "plan.toml")) == plan


def saved(plan: Plan, path: Path) -> Path:
    plan.save(path)
    return path


@pytest.mark.parametrize(
    ("key", "budget", "options"),
    [
        ("other", "2m", {}),
        ("key", "3m", {}),
        ("key", "2m", {"batch_size": 7}),
        ("key", "2m", {"model": "mlp-8"}),
        ("key", "2m", {"learning_rate": 0.5}),
    ],
)
def test_another_question_is_measured_anew(tmp_path: Path, key: str, budget: str, options: dict[str, object]) -> None:
    leave(tmp_path, "first", epochs=12)
    assert taken_over(DRAFT, "key", "2m", tmp_path / "mine") is not None
    assert taken_over(make_plan(**{**DRAFT.plain(), **options}), key, budget, tmp_path / "mine") is None
    assert taken_over(DRAFT, "key", "2m", tmp_path / "first") is None  # whose own plan says it


def test_the_last_one_counts(tmp_path: Path) -> None:
    for moment, name in ((30, "b"), (50, "a"), (40, "c")):
        os.utime(leave(tmp_path, name, epochs=moment), (moment, moment))
    found = taken_over(DRAFT, "key", "2m", tmp_path / "mine")
    assert found is not None
    assert (found[0].trained_as, found[0].config.epochs) == ("a", 50)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b'{"digest": "x"}',
        b"[" * 9999,
        json.dumps(_files.sealed({"data": "key"})).encode(),
        json.dumps(
            _files.sealed({**Bought.of(DRAFT, DRAFT, "key", "2m", 3).model_dump(), "chosen": {"epochs": "x"}})
        ).encode(),
        json.dumps(
            _files.sealed({**Bought.of(DRAFT, DRAFT, "key", "2m", 3).model_dump(), "chosen": {"a": 1}})
        ).encode(),
        json.dumps({**Bought.of(DRAFT, DRAFT, "key", "2m", 3).model_dump(), "trials": 5}).encode(),
    ],
)
def test_what_is_unsound_is_passed_over(tmp_path: Path, content: bytes) -> None:
    leave(tmp_path, "first", epochs=12).write_bytes(content)
    assert taken_over(DRAFT, "key", "2m", tmp_path / "mine") is None

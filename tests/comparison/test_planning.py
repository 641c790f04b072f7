"""A plan that lies in a folder answers the question that was asked, or is refused in words."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from comparison.small import TINY, write_table
from labelspace import ordinal
from labelspace.comparison import planning
from labelspace.comparison.plan import Plan
from labelspace.comparison.run import compare
from labelspace.report import write_html
from labelspace.sweeps.executors import InProcess

ASKED: dict[str, Any] = {**TINY, "seeds": 1, "epochs": 1, "executor": InProcess()}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_table(tmp_path / "sizes.csv", ["small", "medium", "large"])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('methods = ["onehot", "focal"]\nstrengths = {}', "methods"),
        ("epochs = 2", "epochs"),
        ("margin = 0.5", "margin"),
        ("strengths = {uniform = [0.9]}", "strengths"),
        ('label_noise = "symmetric:0.5"', "label_noise"),
    ],
)
def test_the_plan_of_another_question_is_refused(table: Path, tmp_path: Path, line: str, words: str) -> None:
    first = compare(str(table), out=tmp_path / "out", **ASKED)
    assert first.folder is not None
    path = first.folder / "plan.toml"
    names = [part.split(" = ")[0] for part in line.splitlines()]
    kept = [old for old in path.read_text().splitlines() if old.split(" = ")[0] not in names]
    path.write_text("\n".join([*kept, line]) + "\n")
    changed = path.read_text()
    expected = rf"`out` of compare must be a folder whose plan answers what was asked\. Got .*plan\.toml, whose {words}"
    with pytest.raises(ValueError, match=expected):
        compare(str(table), out=tmp_path / "out", **ASKED)
    assert path.read_text() == changed
    again = compare(str(table), out=tmp_path / "out", fresh=True, **ASKED)
    assert again.content == first.content


def test_what_a_budget_bought_is_kept(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {name: value for name, value in ASKED.items() if name not in ("epochs", "strengths")}
    monkeypatch.setattr(planning.budgets, "pace", lambda job: planning.budgets.Pace(0.01))
    first = compare(str(table), out=tmp_path / "out", budget="1s", **asked)
    assert first.folder is not None
    short = [text for text in first.result.warnings if text.startswith("Trained for ")]
    assert [" epochs, where about 200 would be usual: training longer" in text for text in short] == [True]
    assert short[0] in json.loads((first.folder / "comparison.json").read_text())["warnings"]
    assert short[0] in " ".join(first.table().split())
    assert short[0] in first.save_html().read_text()

    def measured(job: object) -> float:
        raise AssertionError("measured again")

    monkeypatch.setattr(planning.budgets, "pace", measured)
    again = compare(str(table), out=tmp_path / "out", budget="1s", **asked)
    assert again.content == first.content
    path = first.folder / "plan.toml"
    path.write_text(re.sub(r"(?m)^strengths = .*$", "strengths = {uniform = [0.123]}", path.read_text()))
    with pytest.raises(ValueError, match="whose strengths are others"):
        compare(str(table), out=tmp_path / "out", budget="1s", **asked)


def test_data_that_moved_are_read_from_where_they_are(table: Path, tmp_path: Path) -> None:
    space = ordinal(["small", "medium", "large"])
    first = compare(str(table), out=tmp_path / "out", space=space, **ASKED)
    (tmp_path / "moved").mkdir()
    moved = table.rename(tmp_path / "moved" / table.name)
    write_table(table, ["small", "medium", "large"], rows=60)  # something else, where they were
    again = compare(str(moved), out=tmp_path / "out", space=space, **ASKED)
    assert again.folder == first.folder
    assert again.content["data"] == {**first.content["data"], "name": again.content["data"]["name"]}
    assert first.folder is not None
    assert Plan.load(first.folder / "plan.toml").config.data == str(moved)


def test_what_a_report_is_drawn_from_is_checked(table: Path, tmp_path: Path) -> None:
    found = compare(str(table), out=tmp_path / "out", space="small<medium<large", cost="squared", **ASKED)
    assert found.folder is not None
    for name in ("cost.safetensors", "space.safetensors", "geometry.safetensors", "comparison.json"):
        before = (found.folder / name).read_bytes()
        changed = bytearray(before)
        changed[-20 if name.endswith(".json") else -1] ^= 1
        (found.folder / name).write_bytes(changed)
        with pytest.raises(ValueError, match=name):
            write_html(found.folder)
        (found.folder / name).write_bytes(before)
    assert write_html(found.folder).is_file()


def test_what_killed_processes_left_goes(table: Path, tmp_path: Path) -> None:
    found = compare(str(table), out=tmp_path / "out", **ASKED)
    assert found.folder is not None
    run = next(found.folder.glob("runs/*"))
    litter = [
        found.folder / ".plan.toml.0.part",
        found.folder / "spaces" / ".a.safetensors.0.part",
        found.folder / ".best.0.part" / "config.json",
        run / ".progress.part",
        run / ".model.safetensors.0.part",
        run / "checkpoint.pt",
        run / "checkpoint-previous.pt",
    ]
    for path in litter:
        path.parent.mkdir(exist_ok=True)
        path.write_text("half")
    compare(str(table), out=tmp_path / "out", **ASKED)
    assert [path for path in litter if path.exists()] == []
    assert not (found.folder / ".best.0.part").exists()

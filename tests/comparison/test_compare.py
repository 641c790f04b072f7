"""One small comparison on digits, from the question to the folder: what it leaves, and that it does nothing twice."""

import json
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from comparison.small import SMALL, TINY, single, write_table
from labelspace.comparison import Comparison, classified, compare
from labelspace.comparison.ends import FURTHER
from labelspace.comparison.outcome import Scores
from labelspace.decisions.decision import Decision
from labelspace.records import FILES
from labelspace.space import LabelSpace
from labelspace.sweeps.executors import InProcess, WorkerDied
from labelspace.training.run import Run

CONTENT = [
    "format",
    "title",
    "data",
    "model",
    "backbone",
    "epochs",
    "training",
    "label_noise",
    "seeds",
    "cost",
    "space",
    "decision",
    "decided",
    "extra",
    "rows",
    "verdict",
    "warnings",
    "costliest",
    "constant",
    "best",
    "command",
    "versions",
    "next",
]
DATA = ["name", "kind", "input_shape", "names", "counts", "key", "group_by", "test_groups"]
ROW = [
    "label",
    "method",
    "role",
    "of",
    "control",
    "strength",
    "options",
    "trials",
    "runs",
    "temperatures",
    "validation_cost",
    "argmax",
    "min_cost",
    "ece",
    "ece_after",
    "nll_after",
    "risk_coverage",
    "change",
    "p_value",
    "p_holm",
    "marked",
    "winner",
]
VERDICT = [
    "kind",
    "indicative",
    "subject",
    "sentences",
    "estimate",
    "low",
    "high",
    "cause",
    "margin",
    "level",
    "chances",
    "advice",
]
LABELS = ["one-hot", "uniform", "semantic"]


def again(finished: Comparison, out: Path, **changes: Any) -> Comparison:
    """Return the same comparison, started from a copy of its folder."""
    assert finished.folder is not None
    shutil.copytree(finished.folder, out / finished.folder.name)
    return compare("digits", **{**SMALL, **changes}, out=out, executor=InProcess())


def moments(folder: Path) -> dict[str, int]:
    """Return when each run was finished."""
    return {path.parent.name: path.stat().st_mtime_ns for path in folder.glob("runs/*/result.json")}


def test_the_folder_holds_what_was_agreed(finished: Comparison) -> None:
    folder = finished.folder
    assert folder is not None
    found = {path.name for path in folder.iterdir()}
    needed = [
        "plan.toml",
        "comparison.json",
        "cost.safetensors",
        "space.safetensors",
        "geometry.safetensors",
        "runs",
        "best",
    ]
    assert found >= set(needed)
    assert not [path for path in folder.rglob("*") if path.name.endswith(".part") or path.name == ".writable"]
    assert {path.name for path in (folder / "best").iterdir()} >= {*FILES, "result.json", "decision.json", "README.md"}
    assert folder.name.startswith("digits-")
    assert LabelSpace.load(folder / "cost.safetensors").kind == "cost"
    assert LabelSpace.load(folder / "space.safetensors").kind == "relations"


def test_the_numbers_hold_what_was_agreed(finished: Comparison) -> None:
    assert finished.folder is not None
    content = json.loads((finished.folder / "comparison.json").read_text(encoding="utf-8"))
    assert len(content.pop("digest")) == 32
    assert set(content.pop("files")) == {
        "cost.safetensors",
        "space.safetensors",
        "geometry.safetensors",
        "plan.toml",
    }
    assert content == finished.content
    assert set(content) == set(CONTENT)
    assert set(content["data"]) == set(DATA)
    assert set(content["verdict"]) == set(VERDICT)
    assert [row["label"] for row in single(finished)] == LABELS
    for row in single(finished):
        assert set(row) >= set(ROW)
        assert len(row["runs"]) == len(row["temperatures"]) == len(content["seeds"]) == 2
        assert set(row["argmax"]) == set(row["min_cost"]) > {"cost", "accuracy"}
        assert all((finished.folder / "runs" / name / "result.json").is_file() for name in row["runs"])
    assert content["data"]["counts"] == {"train": 800, "validation": 300, "test": 697}
    assert content["data"]["input_shape"] == [1, 8, 8]
    assert content["decision"] == "min_cost"
    assert [each["name"] for each in content["decided"]] == content["data"]["names"]
    assert sum(each["min_cost"] for each in content["decided"]) == pytest.approx(1)
    # whatever is there beside cost and accuracy is a column; test_outcome says what is there
    assert {"cost", "accuracy", *(extra["key"] for extra in content["extra"])} == set(content["rows"][0]["min_cost"])
    assert len(content["costliest"]) <= 30
    assert set(content["costliest"][0]) == {"true", "predicted", "count", "cost", "share"}


def test_what_each_row_is(finished: Comparison) -> None:
    rows = {row["label"]: row for row in finished.content["rows"]}
    reference = rows["one-hot"]
    nothing = [reference[name] for name in ("change", "p_value", "p_holm", "strength", "marked", "winner")]
    assert nothing == [None, None, None, None, False, False]
    assert len(reference["trials"]) == 1
    for label in LABELS[1:]:
        assert 5 <= len(rows[label]["trials"]) <= 5 + FURTHER  # those beyond an end where the best lies there
        assert rows[label]["strength"]["value"] in [trial["value"] for trial in rows[label]["trials"]]
        assert set(rows[label]["change"]) >= {"estimate", "low", "high", "level", "note"}
    assert sum(row["winner"] for row in rows.values()) == 1


def _tried(row: dict[str, Any]) -> float:
    """Return what the chosen strength cost when it was tried."""
    return next(trial["validation_cost"] for trial in row["trials"] if trial["value"] == row["strength"]["value"])


def test_strengths_and_winner_are_the_cheapest_on_validation_data(finished: Comparison) -> None:
    for row in single(finished)[1:]:
        # one seed for all strengths, three for the two that were best with it
        assert sorted(trial["seeds"] for trial in row["trials"])[-3:] == [1, 3, 3]
        tried = [trial for trial in row["trials"] if trial["seeds"] == 3]
        best = min(tried, key=lambda trial: trial["validation_cost"])
        assert row["strength"]["value"] == best["value"]
    methods = [row for row in finished.content["rows"] if row["role"] == "method"]
    winner = min(methods, key=_tried)
    assert winner["winner"]
    assert finished.verdict.subject == winner["label"]


def test_numbers_come_from_the_runs(finished: Comparison) -> None:
    """Cost and accuracy of a row, computed again from the scores that its runs left."""
    assert finished.folder is not None
    ranks = torch.arange(10.0).double()
    prices = (ranks[:, None] - ranks[None, :]).abs()
    for row in single(finished):
        costs, right = {"argmax": [], "min_cost": []}, []  # type: ignore[var-annotated]
        for name, temperature in zip(row["runs"], row["temperatures"], strict=True):
            scores = load_file(finished.folder / "runs" / name / "scores.safetensors")
            p = torch.softmax(scores["test_scores"].double() / temperature, dim=1)
            y = scores["test_y"]
            costs["argmax"].append(prices[y, p.argmax(dim=1)].mean())
            costs["min_cost"].append(prices[y, (p @ prices).argmin(dim=1)].mean())
            right.append((p.argmax(dim=1) == y).double().mean())
        for rule, values in costs.items():
            assert row[rule]["cost"] == pytest.approx(float(torch.stack(values).mean()), rel=1e-4)
        assert row["argmax"]["accuracy"] == pytest.approx(float(torch.stack(right).mean()))


def test_costliest_confusions_add_up(finished: Comparison) -> None:
    listed = finished.content["costliest"]
    assert [each["cost"] for each in listed] == sorted((each["cost"] for each in listed), reverse=True)
    best = next(row for row in finished.content["rows"] if row["label"] == finished.content["best"]["label"])
    total = best["min_cost"]["cost"] * 697
    for each in listed:
        assert each["cost"] == pytest.approx(each["count"] * abs(int(each["true"]) - int(each["predicted"])))
        assert each["share"] == pytest.approx(each["cost"] / total)


def test_geometry(finished: Comparison) -> None:
    assert finished.folder is not None
    found = load_file(finished.folder / "geometry.safetensors")
    samples = len(found["projection_y"])
    assert found["projection_y"].dtype == torch.int64
    assert samples <= 2000
    for label in ("one-hot", "uniform", "semantic"):
        assert found[f"naa/{label}"].shape == found[f"target/{label}"].shape == (10, 10)
        assert found[f"naa/{label}"].dtype == torch.float32
    for name, picture in found.items():
        if name.startswith("projection/"):
            assert picture.shape == (samples, 2)


def test_the_best_run(finished: Comparison) -> None:
    assert finished.folder is not None
    facts = finished.content["best"]
    cheapest = min(single(finished), key=lambda row: row["validation_cost"])
    row = next(row for row in finished.content["rows"] if row["label"] == facts["label"])
    assert (row["of"], row["runs"]) == (cheapest["label"], cheapest["runs"])  # both its models as one
    stored = [Run.load(finished.folder / "runs" / name) for name in cheapest["runs"]]
    assert [member.config for member in finished.best.members] == [each.config for each in stored]
    decision = Decision.load(finished.folder / "best" / "decision.json")
    assert decision.rule == facts["rule"] == "min_cost"
    assert [decision.temperature] == row["temperatures"]
    called = finished.best.predict(torch.zeros(3, 1, 8, 8, dtype=torch.uint8))
    assert called.shape == (3,)
    assert f"labelspace predict {finished.folder / 'best'} NEW" in finished.content["next"]


def test_nothing_is_done_twice(finished: Comparison, tmp_path: Path) -> None:
    assert finished.folder is not None
    found = again(finished, tmp_path)  # a copy keeps the moments of its files
    assert found.folder is not None
    assert moments(found.folder) == moments(finished.folder)
    assert numbers(found) == numbers(finished)
    assert found.table().partition("Next")[0] == finished.table().partition("Next")[0]


def numbers(comparison: Comparison) -> dict[str, Any]:
    """Return everything but where it lies."""
    return {name: value for name, value in comparison.content.items() if name not in ("next", "command")}


def test_test_samples_influence_no_choice(
    finished: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With garbage for every test score, everything that was chosen stays as it was."""

    def garbled(run: Run) -> Scores:
        scores = honest(run)
        generator = torch.Generator().manual_seed(run.config.seed)
        return scores._replace(test=9 * torch.randn(scores.test.shape, generator=generator))

    honest = classified.scores_of
    monkeypatch.setattr(classified, "scores_of", garbled)
    found = again(finished, tmp_path)
    assert found.content["best"] == finished.content["best"]
    chosen = ("label", "strength", "trials", "runs", "temperatures", "validation_cost", "winner")
    for left, right in zip(found.content["rows"], finished.content["rows"], strict=True):
        assert {name: left[name] for name in chosen} == {name: right[name] for name in chosen}
        assert left["argmax"]["accuracy"] < 0.3 < right["argmax"]["accuracy"]
    assert found.folder is not None
    assert finished.folder is not None
    # its file names the model too, by all that it left, which is what it said of test data as well
    decisions = [Decision.load(each.folder / "best" / "decision.json").plain() for each in (found, finished)]  # type: ignore[operator]
    assert decisions[0] == decisions[1]


def test_a_plan_repeats_it_exactly(finished: Comparison, tmp_path: Path) -> None:
    assert finished.folder is not None
    plan = finished.folder / "plan.toml"
    stored = tomllib.loads(plan.read_text(encoding="utf-8"))
    assert stored["model"] == "linear"
    assert stored["strengths"].pop("onehot") == [0.0]
    assert stored["strengths"] == {"uniform": [0.05, 0.1, 0.2, 0.3, 0.5], "semantic": [0.1, 0.2, 0.3, 0.5, 0.7]}
    found = compare(plan=plan, out=tmp_path, executor=InProcess(), command=finished.content["command"])
    assert numbers(found) == numbers(finished)
    assert found.folder is not None
    assert found.folder != finished.folder
    assert (found.folder / "plan.toml").read_text() == plan.read_text()


def test_fresh_computes_everything_again(tmp_path: Path) -> None:
    table = write_table(tmp_path / "sizes.csv", ["small", "medium", "large"])
    options: dict[str, Any] = {**TINY, "out": tmp_path, "executor": InProcess()}
    first = compare(table, **options)
    assert first.folder is not None
    (first.folder / "note.txt").write_text("of another time")
    (first.folder / "best" / "note.txt").write_text("of another time")
    before = moments(first.folder)
    found = compare(table, **options, fresh=True)
    after = moments(first.folder)
    assert set(after) == set(before)
    assert all(after[name] > before[name] for name in before)
    assert found.content == first.content
    assert (first.folder / "note.txt").read_text() == "of another time"  # not ours to remove
    assert (first.folder / "best" / "note.txt").read_text() == "of another time"


class Broken(InProcess):
    """An executor that loses everything it is given."""

    def run(self, work: Any, tasks: Any) -> Iterator[tuple[int, Any]]:
        yield from ((number, WorkerDied("out of memory")) for number, _ in enumerate(tasks))


@pytest.mark.parametrize("noted", [True, False])
def test_fresh_leaves_nothing_of_the_old_answer(noted: bool, tmp_path: Path) -> None:
    """A comparison that was started over and did not finish has no model to take home."""
    table = write_table(tmp_path / "sizes.csv", ["small", "medium", "large"])
    options: dict[str, Any] = {**TINY, "out": tmp_path}
    folder = compare(table, **options, executor=InProcess()).folder
    assert folder is not None
    Comparison.load(folder).save_html()
    if noted:
        (folder / "best" / "note.txt").write_text("mine")
        (folder / "best" / "model.onnx").write_text("mine too")
    with pytest.raises(RuntimeError, match="runs failed"):
        compare(table, **options, executor=Broken(), fresh=True)
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    left -= {name for name in left if name.startswith(("runs/", "spaces/"))}
    assert left == {"plan.toml", *(["best/note.txt", "best/model.onnx"] if noted else [])}
    assert (folder / "best").exists() == noted


def test_another_question_has_another_folder(finished: Comparison, tmp_path: Path) -> None:
    assert finished.folder is not None
    found = compare("digits", **{**SMALL, "methods": ["uniform"]}, out=tmp_path, cost="squared", executor=InProcess())
    assert found.folder is not None
    assert found.folder.name != finished.folder.name
    assert found.content["cost"]["words"] == "squared distance"


def test_steps_are_told(finished: Comparison, tmp_path: Path) -> None:
    told: list[tuple[str, dict[str, Any]]] = []
    assert finished.folder is not None
    shutil.copytree(finished.folder, tmp_path / finished.folder.name)
    compare(
        "digits", **SMALL, out=tmp_path, executor=InProcess(), report=lambda event, facts: told.append((event, facts))
    )
    assert [event for event, _ in told if event != "run"] == ["reading", "plan", "analysis"]
    plan = dict(told)["plan"]
    assert plan["phases"] == {"reference": 0, "tuning": 10, "finalists": 8, "seeds": 6, "rivals": 0, "shuffles": 38}
    assert (plan["runs"], plan["further"]) == (24, 4)
    assert plan["rows"] == LABELS
    assert plan["left_out"] == []
    for phase, total in plan["phases"].items():
        if phase == "shuffles":  # only where something is cheaper
            continue
        done = [facts["done"] for event, facts in told if event == "run" and facts["phase"] == phase]
        assert done == list(range(1, total + 1))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # 5 trials of 2 rows with one seed, 2 of them with two more; then 3 rows of all seeds
        ({"methods": ["uniform", "semantic"], "seeds": 2}, 2 * (5 + 2 * 2) + 3 * 2),
        ({"methods": ["uniform", "semantic"], "seeds": 1, "tuning": 1}, 2 * 5 + 3),
        # one strength is tried too where others are, for the choice of the winner
        (
            {"methods": ["uniform", "lls"], "seeds": 5, "strengths": {"uniform": [0.1], "lls": [0.1, 0.2]}},
            # and the reference has as many trials as the method with most
            (2 + 2 * 2) + 3 * 3 + 3 * 5,
        ),
        ({"methods": ["uniform", "zipf"], "seeds": 6, "strengths": {"uniform": [0.2], "zipf": [0.1]}}, 3 * 6),
        (
            {"methods": ["semantic"], "seeds": 2, "space": "small<large", "strengths": {"semantic": [0.1, 0.3]}},
            (2 + 2 * 2) + 6 + 2 * 2,
        ),
    ],
)
def test_as_many_runs_are_made_as_are_announced(options: dict[str, Any], expected: int, tmp_path: Path) -> None:
    names = ["small", "large"] if options.get("space") == "small<large" else ["1", "2", "3", "4"]
    table = write_table(tmp_path / "sizes.csv", names)
    told: dict[str, Any] = {}
    found = compare(
        table,
        **{**SMALL, **options},
        out=tmp_path / "out",
        executor=InProcess(),
        report=lambda event, facts: told.setdefault(event, facts),
    )
    assert found.folder is not None
    made = len(list(found.folder.glob("runs/*/result.json")))
    assert told["plan"]["runs"] == expected
    assert expected <= made <= expected + told["plan"]["further"]
    assert bool(told["plan"]["further"]) == ("strengths" not in options)
    of_seeds = [row for row in found.result.rows if not row.mixed]
    assert sum(len(row.runs) for row in of_seeds) == len(of_seeds) * len(found.result.seeds)

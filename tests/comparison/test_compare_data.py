"""Comparisons on what people bring: tables with patients, arrays, spaces and prices made in Python, odd class names."""

import csv
import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import labelspace
from comparison.small import SMALL, TINY, single, write_table
from labelspace.comparison import Comparison, compare
from labelspace.decisions.decision import Decision
from labelspace.metrics import paired_interval
from labelspace.sweeps.executors import InProcess
from memory_forms import Frame

SIZES = ["small", "medium", "large"]
UNKNOWN = ["qqa", "qqb", "qqc"]  # to WordNet too: nothing is known about such classes
ODD = ["<script>alert(1)</script>", "[red]hot[/red]", "a|b"]


def run(data: Any, out: Path, **options: Any) -> Comparison:
    return compare(data, **{**TINY, "out": out, "executor": InProcess(), **options})


class Nothing:
    """An executor that is not asked."""

    def run(self, work: Any, tasks: Any) -> Any:
        raise AssertionError("a worker was started")


def arrays(classes: int = 3, samples: int = 150) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(samples) % classes
    return (y[:, None] + 0.7 * torch.randn(samples, 2, generator=generator)).numpy(), y.numpy()


def test_patients_stay_whole(tmp_path: Path) -> None:
    table = write_table(tmp_path / "scans.csv", SIZES, rows=400, patients=100)
    options: dict[str, Any] = {"label": "label", "group_by": "patient"}
    # so that decisions differ; nothing is fitted on validation data, whose own chance would be in the interval too
    strong = {"strengths": {"uniform": [0.9]}, "learning_rate": 0.2, "calibration": "none"}
    found = run(table, tmp_path, data_options=options, space="small<medium<large", **strong)
    data = found.content["data"]
    assert data["group_by"] == "patient"
    parts = labelspace.data.load(table, **options).parts
    groups = {name: set(part.groups.tolist()) for name, part in parts.items() if part.groups is not None}
    assert groups["train"].isdisjoint(groups["test"])
    assert data["test_groups"] == len(groups["test"]) < data["counts"]["test"]
    change = found.content["rows"][1]["change"]
    assert change["note"] == f"{data['test_groups']} groups of samples drawn whole"
    assert "groups of test samples" in found.table()
    torch.testing.assert_close(
        torch.tensor([change["low"], change["high"]]),
        torch.tensor(interval(found, parts["test"].groups)),
        rtol=0,
        atol=1e-6,
    )


def test_a_frame_is_compared_as_the_file_of_its_content(tmp_path: Path) -> None:
    table = write_table(tmp_path / "scans.csv", SIZES, rows=400, patients=100)
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0]}
    frame = Frame({name: [float(cell) for cell in own] if name in "ab" else own for name, own in columns.items()})
    options: dict[str, Any] = {"label": "label", "group_by": "patient", "space": "small<medium<large"}
    of_file, of_frame = (run(source, tmp_path / "out", **options) for source in (table, frame))
    assert [row["trials"][0]["validation_cost"] for row in single(of_frame)] == [
        row["trials"][0]["validation_cost"] for row in single(of_file)
    ]
    again = run(frame, tmp_path / "out", **{**options, "executor": Nothing()})  # finished: there is nothing to do
    assert again.folder == of_frame.folder != of_file.folder
    assert again.content["rows"] == of_frame.content["rows"]
    repeated = compare(frame, plan=of_frame.folder / "plan.toml", out=tmp_path / "again", executor=InProcess())
    assert repeated.content["rows"] == of_frame.content["rows"]
    best = labelspace.Run.load(of_frame.folder / "best")
    torch.testing.assert_close(best.predict(frame), best.predict(table), rtol=0, atol=0)


def interval(found: Comparison, groups: Any) -> list[float | None]:
    """Return the interval of the change, from the runs' own scores."""
    assert found.folder is not None
    costs = []
    ranks = torch.arange(3.0).double()
    order = [ranks[SIZES.index(name)] for name in found.content["data"]["names"]]
    places = torch.stack(order)
    prices = (places[:, None] - places[None, :]).abs()
    for row in single(found):
        each = []
        for name, temperature in zip(row["runs"], row["temperatures"], strict=True):
            scores = labelspace.Run.load(found.folder / "runs" / name).scores
            p = torch.softmax(scores["test_scores"].double() / temperature, dim=1)
            each.append(prices[scores["test_y"], (p @ prices).argmin(dim=1)])
        costs.append(torch.stack(each))
    moved = paired_interval(costs[1], costs[0], groups=groups, relative=True)
    return [moved.low, moved.high]


def test_an_order_in_one_line(tmp_path: Path) -> None:
    table = write_table(tmp_path / "sizes.csv", SIZES)
    found = run(table, tmp_path, methods=["semantic"], strengths={}, space="small<medium<large")
    assert found.content["space"] == {"words": "order: small < medium < large"}
    assert found.content["cost"]["priced"]
    assert found.content["cost"]["example"] in ("true small called large costs 2", "true large called small costs 2")
    assert [row["label"] for row in single(found)] == ["one-hot, tuned", "semantic"]
    assert "sizes.csv · 3 classes" in found.content["title"]


def test_without_prices_decision_columns_are_left_out(tmp_path: Path) -> None:
    found = run(write_table(tmp_path / "letters.csv", UNKNOWN), tmp_path)
    assert found.content["decision"] == "argmax"
    assert found.content["cost"]["words"] == "every mistake costs 1"
    assert all(row["min_cost"] is None for row in found.content["rows"])
    assert found.content["space"] is None
    assert "min-cost" not in found.table()
    assert found.folder is not None
    assert not (found.folder / "cost.safetensors").exists()
    assert not (found.folder / "space.safetensors").exists()
    assert Decision.load(found.folder / "best" / "decision.json").rule == "argmax"
    for row in found.content["rows"]:
        assert row["argmax"]["cost"] == pytest.approx(1 - row["argmax"]["accuracy"])
    assert {record["decision"] for record in found.records()} == {"argmax"}


def test_methods_that_need_a_space_are_left_out_and_told(tmp_path: Path) -> None:
    told: dict[str, Any] = {}
    table = write_table(tmp_path / "letters.csv", UNKNOWN)
    run(table, tmp_path, methods=["uniform", "semantic"], report=lambda event, facts: told.setdefault(event, facts))
    assert told["plan"]["left_out"] == ["semantic"]
    with pytest.raises(
        ValueError, match="something to compare one-hot labels with. Got one-hot alone. Methods that need"
    ):
        run(table, tmp_path, methods=["semantic"], strengths={})


def test_arrays(tmp_path: Path) -> None:
    found = run(arrays(), tmp_path)
    assert found.content["data"]["names"] == ["0", "1", "2"]
    assert found.content["decision"] == "min_cost"  # numbers have an order
    assert found.folder is not None
    before = {path: path.stat().st_mtime_ns for path in found.folder.glob("runs/*/result.json")}
    repeated = run(arrays(), tmp_path)
    assert repeated.content == found.content
    assert {path: path.stat().st_mtime_ns for path in found.folder.glob("runs/*/result.json")} == before
    other = arrays()
    assert run((other[0] + 1, other[1]), tmp_path).folder != found.folder
    planned = compare(arrays(), plan=found.folder / "plan.toml", out=tmp_path / "plan", executor=InProcess())
    assert planned.content["rows"] == found.content["rows"]


def test_a_plan_about_data_in_memory_needs_the_data(tmp_path: Path) -> None:
    found = run(arrays(), tmp_path)
    assert found.folder is not None
    with pytest.raises(ValueError, match="`data` of compare must be given in memory"):
        compare(plan=found.folder / "plan.toml", out=tmp_path, executor=InProcess())


def test_a_label_space_and_prices_in_memory(tmp_path: Path) -> None:
    names = ["low", "mid", "top"]
    table = write_table(tmp_path / "levels.csv", names)
    space = labelspace.ordinal([*names, "never seen"])  # more classes than the data have
    prices = np.array([[0.0, 1, 7], [2, 0, 1], [9, 2, 0]])
    options = {"methods": ["semantic"], "strengths": {"semantic": [0.3]}, "space": space}
    found = run(table, tmp_path, **options, cost=prices)
    assert found.folder is not None
    stored = labelspace.LabelSpace.load(found.folder / "cost.safetensors")
    assert list(stored.names) == found.content["data"]["names"] == names
    np.testing.assert_allclose(stored.matrix.numpy(), prices)
    assert found.content["cost"]["example"] == "true top called low costs 9"
    plan = tomllib.loads((found.folder / "plan.toml").read_text())
    assert {plan["space"], plan["cost"]} == {
        str(found.folder / f"given-{part}.safetensors") for part in ("space", "cost")
    }
    repeated = run(table, tmp_path, **options, cost=prices)
    assert repeated.content == found.content
    planned = compare(plan=found.folder / "plan.toml", out=tmp_path / "plan", executor=InProcess())
    assert planned.content["rows"] == found.content["rows"]
    other = run(table, tmp_path, **options, cost=2 * prices)
    assert other.folder != found.folder


def test_prices_of_the_wrong_size(tmp_path: Path) -> None:
    table = write_table(tmp_path / "sizes.csv", SIZES)
    with pytest.raises(ValueError, match="4 names, one per row of `matrix`. Got 3"):
        run(table, tmp_path, cost=np.ones((4, 4)) - np.eye(4))


def test_a_space_without_a_class_of_the_data(tmp_path: Path) -> None:
    table = write_table(tmp_path / "sizes.csv", SIZES)
    with pytest.raises(ValueError, match="`classes of the data` of compare must be names of classes. Got 'large'"):
        run(table, tmp_path, space=labelspace.ordinal(["small", "medium"]))


def test_inverted_probabilities(tmp_path: Path) -> None:
    table = write_table(tmp_path / "sizes.csv", SIZES)
    strengths = {"uniform": [0.3], "semantic": [0.2]}
    options = {"methods": ["uniform", "semantic"], "strengths": strengths, "space": "small<medium<large"}
    plain, inverted = (run(table, tmp_path, probabilities=each, **options) for each in ("as is", "inverted"))
    assert plain.folder != inverted.folder
    rows = [{row["label"]: row for row in each.content["rows"]} for each in (plain, inverted)]
    assert rows[0]["one-hot"] == rows[1]["one-hot"]  # nothing was smoothed
    for label in ("uniform", "semantic"):
        # the same trainings, said otherwise
        assert [trial["run"] for trial in rows[0][label]["trials"]] == [
            trial["run"] for trial in rows[1][label]["trials"]
        ]
        assert rows[0][label]["temperatures"] != rows[1][label]["temperatures"]


@pytest.mark.parametrize(
    "probabilities",
    [
        "as is",
        "inverted",
    ],
)
def test_what_is_taken_home_decides_as_it_was_judged(probabilities: str, tmp_path: Path) -> None:
    options = {"strengths": {"uniform": [0.5]}, "cost": "squared", "probabilities": probabilities}
    found = run("digits", tmp_path, seeds=1, **options)
    assert found.folder is not None
    rows = {row["label"]: row for row in found.content["rows"]}
    decision = Decision.load(found.folder / "best" / "decision.json")
    scores = found.best.scores
    called = decision.decide(scores["test_scores"]).classes
    paid = float(decision.prices[scores["test_y"], called].mean())
    assert paid == pytest.approx(rows[found.content["best"]["label"]]["min_cost"]["cost"])


@pytest.mark.parametrize("priced", [True, False])
def test_odd_class_names(priced: bool, tmp_path: Path) -> None:
    table = write_table(tmp_path / "odd.csv", ODD)
    prices = tmp_path / "prices.csv"
    rows = [",".join(["", *ODD])] + [
        ",".join([name, *(str(abs(i - j) * 7) for j in range(3))]) for i, name in enumerate(ODD)
    ]
    prices.write_text("\n".join(rows) + "\n")
    found = run(table, tmp_path, **({"cost": str(prices)} if priced else {}))
    assert found.folder is not None
    assert set(found.content["data"]["names"]) == set(ODD)
    assert json.loads((found.folder / "comparison.json").read_text())["data"]["names"] == found.content["data"]["names"]
    assert {each["true"] for each in found.content["costliest"]} <= set(ODD)
    page = found.save_html().read_text(encoding="utf-8")
    assert ODD[0] not in page.replace(json.dumps(ODD[0]), "")
    assert "<script>alert(1)" not in page


def test_images_are_described_and_a_limit_is_kept(tmp_path: Path) -> None:
    found = run("digits", tmp_path, limit=100)
    assert found.content["data"]["counts"]["train"] == 100
    assert found.content["data"]["kind"] == "images"
    assert "100 train / 300 val / 697 test" in found.content["title"]


def test_one_seed(tmp_path: Path) -> None:
    found = run(write_table(tmp_path / "sizes.csv", SIZES), tmp_path, seeds=1)
    assert (found.verdict.kind, found.verdict.interval, found.verdict.indicative) == ("undecided", None, True)
    assert "1 seed ·" in found.content["title"]
    assert "brackets" not in found.table()


@pytest.mark.slow
def test_all_default_methods_on_a_small_table(tmp_path: Path) -> None:
    table = write_table(tmp_path / "sizes.csv", SIZES)
    options: dict[str, Any] = {**SMALL, "out": tmp_path, "executor": InProcess(), "space": "small<medium<large"}
    del options["methods"]
    found = compare(table, **{**options, "seeds": 1, "epochs": 1})
    labels = [row["label"] for row in found.content["rows"]]
    assert labels[0] == "one-hot"
    methods = [row["method"] for row in found.content["rows"] if row["role"] == "method"]
    assert methods == ["uniform", "maxent", "semantic", "mixed", "lls", "lwal", "labelemb", "ols"]
    # one more or two where the best strength lies at an end
    assert {len(row["trials"]) for row in found.content["rows"] if row["role"] == "method"} <= {5, 6, 7}
    assert not [warning for warning in found.warnings if "failed" in warning]


def test_an_order_as_a_list_and_prices_as_a_frame(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv(write_table(tmp_path / "scans.csv", SIZES, rows=400, patients=100)).drop(columns="patient")
    # true × decided, in another order than that of the data
    prices = pandas.DataFrame([[0, 2, 9], [1, 0, 3], [4, 1, 0]], index=SIZES[::-1], columns=SIZES[::-1])
    found = run(table, tmp_path / "out", label="label", space=SIZES, cost=prices)
    written = run(table, tmp_path / "out", label="label", space="small<medium<large", cost=prices)
    assert found.content["space"]["words"] == written.content["space"]["words"] == "order: small < medium < large"
    assert found.content["rows"] == written.content["rows"]
    decision = Decision.load(found.folder / "best" / "decision.json")
    np.testing.assert_array_equal(
        np.asarray(decision.cost), prices.loc[[*decision.names], [*decision.names]].to_numpy()
    )
    again = run(table, tmp_path / "out", label="label", space=SIZES, cost=prices.copy(), executor=Nothing())
    assert again.folder == found.folder
    repeated = compare(table, plan=found.folder / "plan.toml", out=tmp_path / "again", executor=InProcess())
    assert repeated.content["rows"] == found.content["rows"]


def test_costs_are_multiplied_by_a_column(tmp_path: Path) -> None:
    """Test, validation, card and plan: a mistake about a sample costs its price times its amount."""
    generator = np.random.default_rng(0)
    y = generator.integers(3, size=300)
    names, amounts = np.array(SIZES)[y], np.round(np.exp(generator.normal(size=300)), 3)
    frame = Frame({"a": y + generator.normal(size=300), "amount": amounts, "label": names.tolist()})
    prices = [[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [4.0, 1.0, 0.0]]
    asked: dict[str, Any] = {"label": "label", "cost_column": "amount"}
    found = run(frame, tmp_path, cost="squared", space="small<medium<large", rivals="none", **asked)
    test = labelspace.data.load(frame, **asked).test
    row, runs = (
        found.result.rows[0],
        [labelspace.Run.load(found.folder / "runs" / name) for name in found.result.rows[0].runs],
    )
    paid = [
        torch.tensor(prices, dtype=torch.float64)[test.y, each.scores["test_scores"].argmax(dim=1)] * test.factors
        for each in runs
    ]
    assert row.argmax.cost == pytest.approx(float(torch.stack(paid).mean()))
    assert found.result.cost.words.endswith(", times amount")
    assert "cost_column" in (found.folder / "plan.toml").read_text()
    again = compare(frame, plan=found.folder / "plan.toml", out=tmp_path / "again", executor=InProcess())
    assert [each.min_cost for each in again.result.rows] == [each.min_cost for each in found.result.rows]
    card = (found.folder / "best" / "README.md").read_text()
    best = next(each for each in found.result.rows if each.label == found.result.best.label)
    assert best.min_cost is not None
    assert "amount" in card
    pairs = [(each.true, each.predicted) for each in found.result.costliest]
    assert pairs
    assert sum(each.cost for each in found.result.costliest) == pytest.approx(best.min_cost.cost * len(test.y))


def test_equal_prices_differ_by_their_factors(tmp_path: Path) -> None:
    x, y = arrays()
    found = run((x, y), tmp_path, cost="uniform", rivals="none", cost_factors=np.arange(len(y)) % 5)
    assert found.result.cost.words == "every mistake costs 1, times each sample's factor"
    assert found.result.decision == "min_cost"
    assert found.result.rows[0].argmax.cost > 1 - found.result.rows[0].argmax.accuracy  # a mistake costs 2 on average


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost": "uniform", "capacity": {"small": 0.1}}, "`capacity` of compare must be given beside prices"),
        ({"cost": "squared", "calibration": "isotonic"}, "another for other than 2 classes. Got 'isotonic' for 3"),
        (
            {"cost": "squared", "capacity": {"small": 0.34, "medium": 0.33, "large": 0.33}},
            "can be kept on these samples. Got room for",
        ),
        (  # 27 validation rows have room, 25 of them have not
            {"cost": "squared", "capacity": {"small": 11 / 27, "medium": 8 / 27, "large": 8 / 27}},
            r"Got room for 23 of 24 validation samples that are left where intervals leave some out\. Raise it, or",
        ),
    ],
)
def test_what_cannot_be_decided_is_refused_before_training(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    table = write_table(tmp_path / "t.csv", SIZES)
    with pytest.raises(labelspace.InputError, match=message):
        compare(table, **{**TINY, **options}, space="small<medium<large", out=tmp_path, executor=Nothing())

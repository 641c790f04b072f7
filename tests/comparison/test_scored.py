"""Scores of models trained anywhere: what decisions alone save, worked by hand, and models beside each other."""

import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score
from torch import Tensor

import labelspace
from labelspace import Decision
from labelspace.comparison import Comparison, compare_scores
from labelspace.comparison.change import change_of
from labelspace.results import read

Pair = tuple[Tensor, Tensor]
SQUARED = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]


def part(samples: int, seed: int = 0, noise: float = 1.5, seeds: int | None = None) -> Pair:
    """Return overconfident scores of three ordered classes; the samples depend on nothing but their number."""
    y = torch.randint(3, (samples,), generator=torch.Generator().manual_seed(samples))
    shape = (samples, 3) if seeds is None else (seeds, samples, 3)
    chance = torch.randn(shape, generator=torch.Generator().manual_seed(seed)).double()
    return 3 * (torch.nn.functional.one_hot(y, 3) + noise * chance), y


def both(seed: int = 0, **options: Any) -> list[Pair]:
    return [part(120, seed, **options), part(200, seed + 50, **options)]


def write(path: Path, pair: Pair, **more: Any) -> Path:
    np.savez(path, scores=pair[0].numpy(), y=pair[1].numpy(), **more)
    return path


def test_worked_by_hand() -> None:
    """Right in 3 of 4 cases at a gap of 4: τ = 4/log 3, so the surer class has a probability of 3/4.

    A true second class called first costs 5: calling the first is expected to cost ¼·5, the second ¾·1, so the second
    is called always. Argmax pays 5 + 1 for six samples, minimum-cost decisions 4·1.
    """
    sure, other = [4.0, 0.0], [0.0, 4.0]
    validation = (torch.tensor([sure] * 4), torch.tensor([0, 0, 0, 1]))
    test = (torch.tensor([sure] * 4 + [other] * 2), torch.tensor([0, 0, 0, 1, 1, 0]))
    found = compare_scores([validation, test], cost=[[0, 1], [5, 0]], names=["well", "ill"])
    row = found.content["rows"][0]
    assert row["temperatures"] == pytest.approx([4 / math.log(3)], rel=1e-5)
    assert row["validation_cost"] == pytest.approx(3 / 4)
    assert row["argmax"] == pytest.approx({"cost": 6 / 6, "accuracy": 4 / 6})
    assert row["min_cost"] == pytest.approx({"cost": 4 / 6, "accuracy": 2 / 6})
    assert row["ece_after"] == pytest.approx(abs(4 / 6 - 3 / 4), rel=1e-4)
    assert found.verdict.estimate == pytest.approx(-1 / 3)
    assert found.content["costliest"] == [{"true": "well", "predicted": "ill", "count": 4, "cost": 4, "share": 1}]
    assert found.content["cost"]["example"] == "true ill called well costs 5"
    assert "cost 0.667 per sample instead of 1.00" in found.verdict.sentences[0]
    assert found.verdict.sentences[0].endswith("accuracy 0.667 → 0.333.")


def test_one_model() -> None:
    found = compare_scores(both(), cost="squared")
    assert [row["label"] for row in found.content["rows"]] == ["model"]
    assert found.content["rows"][0]["role"] == "reference"
    assert found.folder is None
    assert found.verdict.subject == "min-cost"
    assert not found.verdict.indicative
    said = "logits of 1 model · 3 classes, 0…2 by column · 120 val / 200 test · 1 seed · cost: squared distance"
    assert found.content["title"] == said
    assert json.loads(json.dumps(found.content, allow_nan=False)) == found.content
    assert "vs model" not in found.table()  # there is nothing it could be compared with


def test_the_best_constant_decision_is_a_line_of_every_table(tmp_path: Path) -> None:
    """Validation labels 0, 0, 0, 1, 2, 2 at squared prices: 0 is the likeliest, 1 is the cheapest for all."""
    labels, prices = np.array([0, 0, 0, 1, 2, 2]), np.array(SQUARED)
    assert prices[labels].mean(axis=0).argmin() == 1
    test_y = np.array([0, 1, 1, 2, 2])
    pairs = [(torch.eye(3)[torch.from_numpy(y)] * 3, torch.from_numpy(y)) for y in (labels, test_y)]
    for models in ({"model": pairs}, {"a": pairs, "b": pairs}):
        found = compare_scores(models, cost=SQUARED, names=["low", "mid", "high"], out=tmp_path)
        constant = found.result.constant
        assert constant is not None
        assert constant.min_cost is not None
        assert constant.options == {"argmax": "low", "min_cost": "mid"}
        assert constant.argmax.cost == pytest.approx(prices[test_y, 0].mean())
        assert constant.min_cost.cost == pytest.approx(prices[test_y, 1].mean())
        assert [row.label for row in found.rows] == list(models)
        assert found.folder is not None
        assert read("report", found.folder)[0].constant == constant
        assert "\nconstant " in found.table()
        assert "constant: always low by argmax, mid by min-cost" in found.table()
        assert 'class="constant"' in found.save_html().read_text()


def test_scores_that_help_no_more_than_a_constant_are_named() -> None:
    blind = [(torch.zeros_like(scores), y) for scores, y in both()]
    cost = np.array(SQUARED)[blind[1][1].numpy(), 1].mean()  # the middle is the cheapest to call where nothing is known
    said = f"model costs {cost:.3f} per sample, the same decision for every sample {cost:.3f}: these samples do not"
    assert compare_scores(blind, cost="squared", kind="logits").result.warnings[0].startswith(said)
    assert not any("help" in text for text in compare_scores(both(noise=0.5), cost="squared").result.warnings)


def test_without_prices_there_is_nothing_to_decide() -> None:
    found = compare_scores(both())
    row = found.content["rows"][0]
    assert found.content["decision"] == "argmax"
    assert row["min_cost"] is None
    assert row["argmax"]["cost"] == pytest.approx(1 - row["argmax"]["accuracy"])
    assert found.verdict.kind == "no difference"
    assert "Give prices with --cost" in found.verdict.sentences[0]


def test_named_models() -> None:
    models = {"ResNet": both(noise=1.5), "ViT": both(1, noise=0.5), "tiny": both(2, noise=3.0)}
    found = compare_scores(models, cost="squared")
    rows = found.content["rows"]
    assert [(row["label"], row["role"]) for row in rows] == [
        ("ResNet", "reference"),
        ("ViT", "method"),
        ("tiny", "method"),
    ]
    assert [row["winner"] for row in rows] == [False, True, False]
    assert (found.verdict.kind, found.verdict.subject, found.verdict.indicative) == ("cheaper", "ViT", True)
    assert found.verdict.sentences[0].startswith("ViT costs ")
    assert "labels" not in " ".join(found.verdict.sentences)
    for row in rows[1:]:
        expected = row["min_cost"]["cost"] / rows[0]["min_cost"]["cost"] - 1
        assert row["change"]["estimate"] == pytest.approx(expected)
        assert row["change"]["low"] < expected < row["change"]["high"]
        assert row["change"]["note"].endswith("over test samples alone: these models, not others")
    assert "brackets: test samples, paired" in found.table()


def test_the_order_of_names_says_which_is_the_reference() -> None:
    models = {"a": both(noise=1.5), "b": both(1, noise=0.5)}
    there = compare_scores(models, cost="squared")
    back = compare_scores(dict(reversed(models.items())), cost="squared")
    assert (there.verdict.kind, back.verdict.kind) == ("cheaper", "dearer")
    changes = [1 + found.content["rows"][1]["change"]["estimate"] for found in (there, back)]
    assert changes[0] * changes[1] == pytest.approx(1)


def test_several_seeds() -> None:
    models = {"a": both(noise=1.5, seeds=6), "b": both(1, noise=0.5, seeds=6)}
    found = compare_scores(models, cost="squared")
    assert found.content["seeds"] == [0, 1, 2, 3, 4, 5]
    assert all(len(row["temperatures"]) == 6 for row in found.content["rows"])
    assert not found.verdict.indicative
    assert found.content["rows"][1]["change"]["note"] == ""
    assert "brackets: seeds × test samples" in found.table()
    alone = [
        compare_scores([(s, y[1]) for s, y in zip(each, both(), strict=True)], cost="squared")
        for each in seeds_of(models["a"])
    ]
    costs = [each.content["rows"][0]["min_cost"]["cost"] for each in alone]
    assert found.content["rows"][0]["min_cost"]["cost"] == pytest.approx(np.mean(costs))


def seeds_of(pairs: list[Pair]) -> list[list[Tensor]]:
    return [[scores[seed] for scores, _ in pairs] for seed in range(len(pairs[0][0]))]


def test_files(tmp_path: Path) -> None:
    validation, test = both()
    first = write(tmp_path / "val.npz", validation, names=["low", "mid", "top"])
    second = write(tmp_path / "test.npz", test)
    found = compare_scores([first, str(second)], cost=SQUARED)
    assert found.content["data"]["names"] == ["low", "mid", "top"]
    in_memory = compare_scores([validation, test], cost=SQUARED, names=["low", "mid", "top"])
    assert rows(found) == rows(in_memory)


def rows(found: Comparison) -> Any:
    return found.content["rows"]


def test_one_file_with_both_parts(tmp_path: Path) -> None:
    validation, test = both()
    parts = {
        "validation_scores": validation[0],
        "validation_y": validation[1],
        "test_scores": test[0],
        "test_y": test[1],
    }
    np.savez(tmp_path / "both.npz", names=["1", "2", "3"], **{name: value.numpy() for name, value in parts.items()})
    found = compare_scores({"mine": [tmp_path / "both.npz"]}, cost="squared")
    assert found.content["data"]["names"] == ["1", "2", "3"]
    assert {**rows(found)[0], "label": "model"} == rows(compare_scores(both(), cost="squared"))[0]
    alone = compare_scores(tmp_path / "both.npz", cost="squared")  # type: ignore[arg-type]
    assert rows(alone) == rows(compare_scores(both(), cost="squared"))


def test_an_order_of_names() -> None:
    options: dict[str, Any] = {"names": ["mid", "low", "top"], "space": "low<mid<top"}
    found = compare_scores(both(), **options, cost="squared")
    assert found.content["cost"]["example"] in ("true low called top costs 4", "true top called low costs 4")
    assert found.content["space"] == {"words": "order: low < mid < top"}
    prices = [[0, 1, 1], [1, 0, 4], [1, 4, 0]]
    plain = compare_scores(both(), cost=prices)
    assert without_kappa(found) == without_kappa(plain) == rows(plain)
    implied = compare_scores(both(), **options)
    assert implied.content["cost"]["words"] == "distance in the order"


def without_kappa(found: Comparison) -> Any:
    return [
        {**row, **{rule: {k: v for k, v in row[rule].items() if k != "kappa"} for rule in ("argmax", "min_cost")}}
        for row in rows(found)
    ]


def shown(found: Comparison) -> dict[str, str]:
    """Return the titles of what is shown beside cost and accuracy."""
    return {extra["key"]: extra["title"] for extra in found.content["extra"]}


def test_an_order_gives_kappa_and_a_tree_the_accuracy_of_its_levels(tmp_path: Path) -> None:
    """The same measures as where something is trained, beside those of scikit-learn and of a count by hand."""
    y = both()[1][1]
    called = both()[1][0].argmax(dim=1)
    ordered = compare_scores(both(), names=["mid", "low", "top"], space="low<mid<top", cost="uniform")
    ranks = np.array([1, 0, 2])
    kappa = cohen_kappa_score(ranks[y], ranks[called], weights="quadratic")
    assert rows(ordered)[0]["argmax"]["kappa"] == pytest.approx(kappa)
    assert shown(ordered)["kappa"] == "κ² ↑"
    assert f"{kappa:.3f}" in ordered.table()
    numbers = compare_scores(both(), cost="squared")  # prices per step of numbers know an order too
    assert "kappa" in shown(numbers)
    assert "kappa" not in shown(compare_scores(both()))
    (tmp_path / "tree.txt").write_text("pets > cat\npets > dog\nthings > car\n")
    nested = compare_scores(both(), names=["cat", "dog", "car"], space=tmp_path / "tree.txt", cost="uniform")
    group = np.array([0, 0, 1])
    levels = {key: value for key, value in rows(nested)[0]["argmax"].items() if key.startswith("level_")}
    assert levels["level_1"] == pytest.approx((group[y] == group[called]).mean())
    assert [key for key in shown(nested) if key.startswith("level_")] == list(levels)
    assert [shown(nested)[key] for key in levels] == ["pets or things ↑", "class ↑"]
    assert "kappa" not in shown(nested)


def test_classes_of_unequal_size_have_a_balanced_accuracy() -> None:
    parts = [(scores[y != 0], y[y != 0]) for scores, y in both()]
    pairs = [(torch.cat([s, t[0][:9]]), torch.cat([y, t[1][:9]])) for (s, y), t in zip(parts, zeros(), strict=True)]
    found = compare_scores(pairs, cost="uniform")
    y, called = pairs[1][1], pairs[1][0].argmax(dim=1)
    assert rows(found)[0]["argmax"]["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y, called))


def zeros() -> list[Pair]:
    return [(scores[y == 0], y[y == 0]) for scores, y in both()]


@pytest.mark.parametrize("models", [1, 2])
def test_the_level(models: int) -> None:
    given: Any = both() if models == 1 else {"a": both(noise=1.5), "b": both(1, noise=0.5)}
    usual, sure = (compare_scores(given, cost="squared", level=level) for level in (0.95, 0.99))
    assert (usual.verdict.level, sure.verdict.level) == (0.95, 0.99)
    assert usual.verdict.interval is not None
    assert sure.verdict.interval is not None
    assert sure.verdict.interval[0] < usual.verdict.interval[0] < usual.verdict.interval[1] < sure.verdict.interval[1]
    assert "interval)" in sure.verdict.sentences[0]
    assert ("99 % interval" in sure.table()) == (models == 2)


@pytest.mark.parametrize(("option", "value"), [("level", 1.0), ("level", 0.0), ("margin", 0.0), ("margin", 2.0)])
def test_levels_and_margins_that_are_none(option: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"`{option}` of compare must be a number in"):
        compare_scores(both(), cost="squared", **{option: value})


def test_groups(tmp_path: Path) -> None:
    validation, test = both()
    groups = np.array([f"patient {number // 10:02}" for number in range(200)])
    write(tmp_path / "val.npz", validation)
    write(tmp_path / "test.npz", test, groups=groups)
    found = compare_scores([tmp_path / "val.npz", tmp_path / "test.npz"], cost="squared")
    assert (found.content["data"]["group_by"], found.content["data"]["test_groups"]) == ("groups", 20)
    plain = compare_scores(both(), cost="squared")
    assert found.verdict.estimate == plain.verdict.estimate
    assert found.verdict.interval != plain.verdict.interval
    scores, y = test
    prices = torch.tensor(SQUARED).double()
    p = torch.softmax(scores / rows(found)[0]["temperatures"][0], dim=1)
    paid = [prices[y, called][None] for called in ((p @ prices).argmin(dim=1), scores.argmax(dim=1))]
    expected = change_of(paid[0], paid[1], 0.95, torch.arange(200) // 10, fixed=True)
    assert expected is not None
    assert found.verdict.interval is not None
    assert expected.low is not None
    assert expected.high is not None
    low, high = found.verdict.interval  # wider by what other validation samples would change
    assert expected.low - 0.02 < low < expected.low
    assert expected.high < high < expected.high + 0.02


def test_groups_of_any_of_the_files_count(tmp_path: Path) -> None:
    write(tmp_path / "val.npz", both(1)[0])
    write(tmp_path / "test.npz", both(1)[1], groups=np.arange(200) // 10)
    found = compare_scores({"a": both(), "b": [tmp_path / "val.npz", tmp_path / "test.npz"]}, cost="squared")
    assert found.content["data"]["test_groups"] == 20
    assert "groups of test samples" in found.table()


def test_test_samples_influence_no_choice() -> None:
    models = {"a": both(), "b": both(1, noise=1.4), "c": both(2, noise=1.6)}
    honest = compare_scores(models, cost="squared")
    garbage = {name: [pairs[0], (100 - pairs[1][0], pairs[1][1])] for name, pairs in models.items()}
    other = compare_scores(garbage, cost="squared")
    for left, right in zip(rows(honest), rows(other), strict=True):
        for name in ("temperatures", "validation_cost", "winner"):
            assert left[name] == right[name]
        assert left["argmax"]["accuracy"] > right["argmax"]["accuracy"]


def test_a_model_that_makes_no_costly_mistake() -> None:
    y = torch.arange(60) % 3
    perfect = (10.0 * torch.nn.functional.one_hot(y, 3), y)
    found = compare_scores([perfect, perfect], cost="squared")
    assert found.verdict.kind == "undecided"
    assert "nothing to save" in found.verdict.sentences[0]
    beside = compare_scores({"perfect": [perfect, perfect], "other": [perfect, (-perfect[0], y)]}, cost="squared")
    assert (beside.verdict.kind, beside.verdict.estimate) == ("undecided", None)
    assert "perfect 0.00: no relative change can be given" in beside.verdict.sentences[0]
    assert found.content["costliest"] == []


@pytest.mark.slow
def test_large_scores_take_seconds() -> None:
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(200, (10_000,), generator=generator)
    scores = 3 * torch.nn.functional.one_hot(y, 200) + torch.randn(10_000, 200, generator=generator)
    prices = 1 + torch.rand(200, 200, generator=generator).fill_diagonal_(-1)
    started = time.perf_counter()
    found = compare_scores([(scores, y), (scores.flip(0), y.flip(0))], cost=prices)
    spent = time.perf_counter() - started
    print(f"10,000 × 200 scores: {spent:.1f} s")
    assert found.verdict.interval is not None
    assert spent < 10


def test_actions_from_a_file_to_the_folder(tmp_path: Path) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_text("true,0,1,2,order a test\n0,0,1,4,0.3\n1,1,0,1,0.3\n2,4,1,0,0.3\n")
    given = both()
    found = compare_scores(given, cost=prices, out=tmp_path / "runs", capacity={"order a test": 0.2})
    decision = Decision.load(found.folder / "best" / "decision.json")
    taken = decision.decide(given[1][0]).actions
    y = given[1][1]
    table = torch.tensor([[0, 1, 4, 0.3], [1, 0, 1, 0.3], [4, 1, 0, 0.3]], dtype=torch.float64)
    row = found.result.rows[0]
    assert row.min_cost is not None
    assert row.min_cost.cost == pytest.approx(float(table[y, taken].mean()))
    assert row.min_cost.accuracy == pytest.approx(float((taken == y)[taken < 3].double().mean()))
    assert row.argmax.cost == pytest.approx(float(table[y, given[1][0].argmax(dim=1)].mean()))
    assert "order a test" in found.verdict.sentences[-1]
    assert [each.name for each in found.result.decided] == ["0", "1", "2", "order a test"]
    assert "order a test" in (found.folder / "best" / "README.md").read_text()
    page = found.save_html()
    assert page is not None
    assert "order a test" in page.read_text()
    # other actions of the same cost to take a class for another are another comparison
    prices.write_text(prices.read_text().replace("0.3", "0.4"))
    assert compare_scores(given, cost=prices, out=tmp_path / "runs").folder != found.folder


def test_nodes_of_groups_are_actions() -> None:

    draw = torch.Generator().manual_seed(0)
    parts = []
    for samples in (200, 300):
        y = torch.randint(4, (samples,), generator=draw)
        parts.append((torch.nn.functional.one_hot(y, 4) + torch.randn(samples, 4, generator=draw), y))
    found = compare_scores(parts, space=labelspace.groups({"low": ["0", "1"], "high": ["2", "3"]}), actions="tree")

    assert {each.name for each in found.result.decided} == {"0", "1", "2", "3", "low", "high", "any"}


def test_factors_of_costs_come_with_scores(tmp_path: Path) -> None:
    (scores, y), (other, z) = both()
    amounts = [torch.arange(len(each)).double() % 4 for each in (y, z)]
    tables = []
    for place, (rows, labels, stakes) in enumerate([(scores, y, amounts[0]), (other, z, amounts[1])]):
        lines = [
            ",".join(map(str, [*row, label, stake]))
            for row, label, stake in zip(rows.tolist(), labels.tolist(), stakes.tolist(), strict=True)
        ]
        tables.append(tmp_path / f"{place}.csv")
        tables[-1].write_text("\n".join(["0,1,2,y,amount", *lines]))
    found = compare_scores(tables, cost=SQUARED, cost_column="amount", out=tmp_path)
    paid = torch.tensor(SQUARED).double()[z, other.argmax(dim=1)] * amounts[1]
    assert found.result.rows[0].argmax.cost == pytest.approx(float(paid.mean()))
    parts = [
        {"scores": rows, "y": labels, "cost_factors": stakes}
        for rows, labels, stakes in [(scores, y, amounts[0]), (other, z, amounts[1])]
    ]
    same = compare_scores(parts, cost=SQUARED)
    assert same.result.rows[0].min_cost == found.result.rows[0].min_cost
    with pytest.raises(labelspace.InputError, match="cost_column.*for validation and test samples. Got none in"):
        compare_scores([{"scores": scores, "y": y}, parts[1]], cost=SQUARED)
    with pytest.raises(labelspace.InputError, match="a table with a column 'amout'"):
        compare_scores(tables, cost=SQUARED, cost_column="amout")


def test_one_model_ends_with_what_to_do_and_names_its_calibrator() -> None:
    found = compare_scores(both(), cost=SQUARED, calibration="vector")
    assert found.verdict.advice.startswith("Take model with minimum-cost decisions: ")
    assert found.verdict.sentences[0].startswith("Calibration (vector scaling) and minimum-cost decisions cost ")
    said = found.table()
    assert "Temperature" not in said
    assert "after T" not in said
    assert "Do  " in said
    plain = compare_scores(both(), cost=SQUARED, calibration="temperature")
    assert plain.verdict.sentences[0].startswith("Temperature and minimum-cost decisions cost ")
    assert "after T" in plain.table()

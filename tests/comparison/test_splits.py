"""One comparison over several splits: what they say together, real ones, and what is refused before training."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from comparison.small import TINY, write_table
from labelspace import InputError, data
from labelspace.comparison import Comparison, Splits, compare
from labelspace.results import Result
from labelspace.sweeps.executors import InProcess
from split_results import COSTS, of_splits, summed_up

QUICK: dict[str, Any] = {**TINY, "rivals": "none", "executor": InProcess()}


def test_the_verdict_by_hand() -> None:
    splits = summed_up()
    mine, reference = np.array(COSTS["uniform"]), np.array(COSTS["one-hot"])
    verdict = splits.verdict
    assert (verdict.kind, verdict.subject, verdict.indicative) == ("cheaper", "uniform", False)
    assert splits.test_share == pytest.approx(200 / 800)
    assert verdict.estimate == pytest.approx(mine.mean() / reference.mean() - 1)
    apart = (mine - reference) / reference.mean()
    error = np.sqrt((1 / 5 + 200 / 800) * apart.var(ddof=1))  # Nadeau and Bengio's
    ends = stats.t(4, verdict.estimate, error).interval(0.95)
    assert (verdict.low, verdict.high) == pytest.approx(ends)
    assert "instead of 0.550" in verdict.sentences[0]


def test_the_recommendation_and_its_regret() -> None:
    splits = summed_up()
    least = np.array(list(COSTS.values())).min(axis=0)
    assert splits.recommendation is not None
    assert splits.recommendation.cost == pytest.approx(np.mean(COSTS["SVC"]))
    assert splits.regret is not None
    assert splits.regret.estimate == pytest.approx(np.mean(COSTS["SVC"]) / least.mean() - 1)
    assert splits.regret.low == 0  # never less than nothing
    assert [place.cheapest for place in splits.places] == ["uniform", "SVC", "uniform", "SVC", "uniform"]
    assert [place.regret for place in splits.places] == pytest.approx((np.array(COSTS["SVC"]) / least - 1).tolist())


def test_two_splits_decide_nothing() -> None:
    table = {"one-hot": [0.5, 0.502], "uniform": [0.2, 0.201], "SVC": [0.2, 0.2]}
    splits = summed_up(of_splits(table))
    assert splits.verdict.high is not None
    assert splits.verdict.high < 0  # however sure it looks
    assert (splits.verdict.kind, splits.verdict.indicative) == ("undecided", True)


def test_splits_that_agree_for_want_of_samples_show_no_equivalence() -> None:
    table = {"one-hot": [0.5, 0.6, 0.4], "uniform": [0.5, 0.6, 0.4], "SVC": [0.2, 0.2, 0.3]}
    found = of_splits(table)
    assert summed_up(found).verdict.kind == "no difference"
    for name, each in found.items():
        rows = [{**row, "p_value": None} for row in each.plain()["rows"]]
        found[name] = Result.model_validate({**each.plain(), "rows": rows})
    splits = summed_up(found)
    assert splits.verdict.kind == "undecided"
    assert "agree by that alone" in splits.verdict.sentences[0]
    assert splits.warnings[0].startswith("In 3 of 3 splits")


def test_a_split_without_a_recommendation() -> None:
    found = of_splits()
    content = {**found["seed 0"].plain(), "best": None}
    found["seed 0"] = Result.model_validate(content)
    splits = summed_up(found)
    assert (splits.recommendation, splits.regret, splits.places[0].taken) == (None, None, None)


def test_real_splits_are_ordinary_comparisons_and_resumed(tmp_path: Path) -> None:
    table = write_table(tmp_path / "sizes.csv", ["1", "2", "3"], rows=120)
    events: list[tuple[str, Any]] = []
    options = {**QUICK, "label": "label", "out": tmp_path / "runs"}
    splits = compare(table, splits=2, report=lambda event, told: events.append((event, told)), **options)
    assert [told for event, told in events if event == "split"] == [{"done": 1, "of": 2}, {"done": 2, "of": 2}]
    assert [place.name for place in splits.places] == ["seed 0", "seed 2"]
    each = [Comparison.load(place.folder) for place in splits.places]
    assert len({one.result.data.key for one in each}) == 2
    costs = {row.label: [one.rows[number].headline.cost for one in each] for number, row in enumerate(each[0].rows[:2])}
    assert {row.label: list(row.costs) for row in splits.rows[:2]} == costs
    assert splits == Splits.load(splits.folder)

    # a split alone is the same comparison, and nothing is trained again
    events.clear()
    alone = compare(table, report=lambda event, told: events.append((event, told)), **options)
    assert alone.folder == Path(splits.places[0].folder)
    assert compare(table, splits=2, report=lambda event, told: events.append((event, told)), **options) == splits
    assert [event for event, _ in events].count("unchanged") == 3


def test_data_in_memory_and_two_splits(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    y = np.arange(90) % 3
    x = (y + generator.normal(0, 0.7, 90))[:, None].astype(np.float32)
    splits = compare((x, y), splits=2, data_options={"seed": 7}, out=tmp_path, **QUICK)
    assert [place.name for place in splits.places] == ["seed 7", "seed 9"]
    assert splits.verdict.kind == "undecided"
    assert "2 splits say too little" in splits.verdict.sentences[0]


PARTS = {
    "train": ([[float(n)] for n in range(40)], [0, 1] * 20),
    "test": ([[float(n)] for n in range(50, 70)], [0, 1] * 10),
}


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        ("digits", {"splits": 1}, "`splits` of compare must be a whole number of at least 2. Got 1"),
        ("digits", {"splits": 2.5}, "`splits` of compare must be a whole number of at least 2. Got 2.5"),
        (
            PARTS,
            {"splits": 3},
            "test part of its own: other splits would redraw nothing that is measured. Leave splits",
        ),
        (data.load("digits"), {"splits": 3}, "left out for a Dataset. Got one whose parts are what they are"),
        ("nowhere", {"splits": 3}, "nowhere"),
    ],
)
def test_refused_before_anything_is_trained(given: object, options: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        compare(given, out=tmp_path / "runs", **options)
    assert not (tmp_path / "runs").exists()


def test_a_plan_decides_the_split(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('data = "digits"\nmethods = ["onehot", "uniform"]\nmodel = "linear"\nepochs = 1\n')
    with pytest.raises(InputError, match="given without what it decides. Got it with splits"):
        compare(plan=plan, splits=3)

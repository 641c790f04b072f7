"""What a result says that no single row holds: its title, its costliest confusions and its warnings."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from comparison.hand_made import SAMPLES, row, table
from labelspace import data, tree
from labelspace.comparison.outcome import Judge, Outcome, Scores
from labelspace.comparison.plan import make_plan
from labelspace.comparison.rows import against_reference
from labelspace.comparison.summary import LISTED, caveats, costliest, data_facts, level_titles, title_of, training_words
from labelspace.data.dataset import Dataset, Split
from labelspace.report.words import THIN
from labelspace.training.config import make_config


@pytest.fixture(scope="module")
def digits() -> Dataset:
    return data.load("digits")


def test_the_title_counts_what_was_compared(digits: Dataset) -> None:
    shared = {"methods": ["onehot", "uniform"], "model": "linear", "epochs": 3}
    plan = make_plan(**shared, data="somewhere/digits", seeds=[3, 5], label_noise="pairwise:0.1")
    assert title_of(plan, "cost: squared", digits) == (
        "digits · 10 classes · linear · 800 train / 300 val / 697 test · label noise pairwise:0.1 · 2 seeds: 3, 5"
        " · cost: squared"
    )
    assert "1 seed ·" in title_of(make_plan(**shared, data="digits", seeds=1), "judged by BLEU", digits)
    texts = replace(digits, kind="sequences", source={"languages": ["en", "de"]})
    assert "digits · en→de · 10 tokens · linear" in title_of(plan, "judged by BLEU", texts)
    facts = data_facts(plan.config, digits)
    assert (facts.name, facts.counts, facts.test_groups) == (
        "digits",
        {"train": 800, "validation": 300, "test": 697},
        None,
    )
    grouped = replace(digits, test=replace(digits.test, groups=torch.arange(697) // 2))
    assert data_facts(plan.config, grouped).test_groups == 349


def test_what_was_set_is_said_and_what_is_usual_only_briefly() -> None:
    assert training_words(make_config()) == "adam, learning rate 0.001, constant schedule, batches of 128"
    assert training_words(make_config(epochs=3, model="linear", clip=2.0)).endswith("batches of 128, clip 2.0")
    kept = training_words(make_config(best_by="calibrated"))
    assert kept.endswith("batches of 128, of each run the epoch of least validation NLL after temperature")


def test_the_costliest_confusions_by_counting() -> None:
    chance, classes, seeds = np.random.default_rng(0), 8, 3
    y = torch.from_numpy(chance.integers(classes, size=300))
    cost = torch.from_numpy(chance.uniform(1, 9, size=(classes, classes))).fill_diagonal_(0)
    scores = [torch.from_numpy(chance.normal(size=(300, classes))) for _ in range(seeds)]
    outcome = Outcome([Scores(each, y, each, y) for each in scores], Judge(cost, priced=False))
    names = [f"class {number}" for number in range(classes)]
    found = costliest(outcome, names)
    counts = np.zeros((classes, classes))
    for each in scores:
        np.add.at(counts, (y.numpy(), each.argmax(1).numpy()), 1 / seeds)
    total = counts * cost.numpy()
    expected = sorted(((total[i, j], i, j) for i in range(classes) for j in range(classes) if i != j), reverse=True)
    assert len(found) == LISTED
    for confusion, (price, i, j) in zip(found, expected, strict=False):
        assert (confusion.true, confusion.predicted) == (names[i], names[j])
        assert confusion.cost == pytest.approx(price)
        assert confusion.count == pytest.approx(counts[i, j])
        assert confusion.share == pytest.approx(price / total.sum())


def test_classes_without_test_samples_are_named_after_what_failed(digits: Dataset) -> None:
    kept = digits.test.y < 4
    cut = replace(digits, test=Split(digits.test.x[kept], digits.test.y[kept]))
    found = caveats([row("one-hot", table(1.0, 0.1)), row("uniform", table(1.0, 0.1, 1))], cut, ["lls failed."])
    assert found[0] == "lls failed."
    assert found[1] == "No test sample is of class 4, 5, 6, 7, 8 and 1 more: nothing is known about mistakes there."
    assert len(found) == 2


def test_a_method_that_knows_less_what_to_doubt_is_told() -> None:
    worse = [0.2, 0.21, 0.19, 0.2, 0.22, 0.18]
    rows = [
        row("one-hot", table(2.0, 0.4)),
        row("lls", table(1.0, 0.4, 1), selective=worse),
        row("ols", table(3.0, 0.4, 2), selective=worse),  # dearer: that it is worse here too is no news
        row("uniform", table(1.0, 0.4, 3)),
        row("semantic random", table(1.0, 0.4, 4), selective=worse),
    ]
    found = caveats(against_reference(rows, 0.95, None), None)
    assert len(found) == 1
    assert found[0].startswith("lls costs less, but selective prediction gets worse")


def test_prices_that_a_model_cannot_use_are_told() -> None:
    reference = row("one-hot", table(2.0, 0.4), argmax={"cost": 1.5, "accuracy": 0.8}, plain_costs=table(1.5, 0.4))
    rows = against_reference([reference, row("lls", table(1.0, 0.4, 1))], 0.95, None)
    found = caveats(rows, None, ["a run failed"])
    assert found[0] == "a run failed"  # the gravest first
    assert "Minimum-cost decisions cost one-hot labels 2.0" in found[1]
    assert "Against argmax, lls: −3" in found[1]


def test_prices_that_a_model_cannot_use_with_one_seed() -> None:
    costs = table(1.5, 0.4, seeds=1)
    reference = row("one-hot", costs + 0.5, argmax={"cost": 1.5, "accuracy": 0.8}, plain_costs=costs)
    found = caveats(against_reference([reference, row("lls", costs / 2)], 0.95, None), None)
    assert found[0].endswith(f"Against argmax, lls: −50{THIN}%.")


def test_selective_prediction_that_may_be_chance_is_not_told() -> None:
    wild = [0.02, 0.4, 0.05, 0.3, 0.08, 0.2]  # worse on average, and better in half of the seeds
    rows = [row("one-hot", table(2.0, 0.4)), row("lls", table(1.0, 0.4, 1), selective=wild)]
    assert caveats(against_reference(rows, 0.95, None), None) == []


def test_warnings_follow_the_level() -> None:
    generator = torch.Generator().manual_seed(3)
    dearer = 1 + 0.05 * torch.randn(6, SAMPLES, generator=generator).double() + torch.tensor(0.004).double()
    reference = row("one-hot", dearer, plain_costs=torch.ones(6, SAMPLES).double())
    rows = [reference, row("lls", table(1.0, 0.1, 2))]
    low, high = (caveats(against_reference(rows, level, None), None, level=level) for level in (0.6, 0.9999))
    assert any("its probabilities mislead" in text for text in low)
    assert not any("its probabilities mislead" in text for text in high)


def test_levels_are_called_by_their_groups() -> None:
    nested = tree({"animal": {"pet": ["cat", "dog"], "bird": ["owl"]}, "vehicle": ["car"]})
    assert level_titles(nested) == {"level_1": "animal or vehicle ↑", "level_2": "pet or bird ↑", "level_3": "class ↑"}
    many = tree({f"a long name {number}": [f"{number}a", f"{number}b"] for number in range(5)})
    assert level_titles(many)["level_1"] == "a long name 0 or 4 more ↑"

"""Changes against the reference, luck corrected for, and a winner that no control can be."""

import json

import numpy as np
import pytest
import torch
from torch import Tensor

from comparison.hand_made import SAMPLES, SEEDS, row, table
from labelspace import metrics
from labelspace.comparison.change import change_of
from labelspace.comparison.rows import Judged, against_reference


def rows(**levels: float) -> list[Judged]:
    """Return rows of these mean costs; underscores stand for blanks."""
    names = {"onehot": "one-hot"}
    return [
        row(names.get(name, name.replace("_", " ")), table(level, 0.4, seed))
        for seed, (name, level) in enumerate(levels.items())
    ]


def test_relative_changes() -> None:
    given = rows(onehot=2.0, uniform=1.5, semantic=1.0, semantic_shuffled=2.2)
    found = against_reference(given, 0.95, None)
    assert found[0].change is None
    for before, after in zip(given[1:], found[1:], strict=True):
        assert after.change is not None
        assert after.change.estimate == pytest.approx(before.costs.numpy().mean() / given[0].costs.numpy().mean() - 1)
        assert after.change.low < after.change.estimate < after.change.high  # type: ignore[operator]
        assert (after.change.seeds, after.change.samples) == (SEEDS, SAMPLES)


def test_exact_without_chance() -> None:
    found = against_reference([row("one-hot", table(2.0)), row("uniform", table(1.5))], 0.95, None)[1]
    assert found.change is not None
    assert (found.change.estimate, found.change.low, found.change.high) == pytest.approx((-0.25, -0.25, -0.25))
    assert found.marked


def holm(p_values: list[float]) -> list[float]:
    """Return corrected p-values, the rule word by word: sorted, times how many are left, never falling."""
    corrected, worst = [0.0] * len(p_values), 0.0
    for rank, number in enumerate(np.argsort(p_values, kind="stable")):
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[number]))
        corrected[number] = worst
    return corrected


def test_the_winner_comes_first_then_holm_and_no_controls() -> None:
    levels = {
        "onehot": 2.0,
        "uniform": 1.98,
        "semantic": 1.96,
        "lls": 2.03,
        "semantic_shuffled": 1.0,
        "semantic_random": 1.0,
    }
    found = against_reference(rows(**levels), 0.95, None)
    uniform, winner, lls = (each.change.p_value or 0.0 for each in found[1:4] if each.change is not None)
    first = min(1.0, 3 * winner)  # chosen among three on the networks that are judged
    assert found[2].winner
    assert found[2].p_holm == pytest.approx(first)
    assert [found[1].p_holm, found[3].p_holm] == pytest.approx([max(first, p) for p in holm([uniform, lls])])
    assert len({each.p_holm for each in found[1:4]}) > 1
    for control in found[4:]:
        assert control.p_holm is None
        assert not control.marked
        assert control.change is not None
        assert control.change.high < 0  # type: ignore[operator]


def test_marked_only_below_five_percent_after_correction() -> None:
    reference, costs = table(2.0, 1.0, 0), table(2.0, 1.0, 1)
    # a shift whose own p-value is 3 percent: alone it is marked, among three methods that no longer holds
    low, high = float(costs.mean() - reference.mean()), 1.0
    for _ in range(12):
        middle = (low + high) / 2
        p_value = metrics.paired_interval(costs - middle, reference, relative=True).p_value
        assert p_value is not None
        low, high = (middle, high) if p_value > 0.03 else (low, middle)
    method = row("semantic", costs - high)
    alone = against_reference([row("one-hot", reference), method], 0.95, None)
    assert alone[1].marked
    others = [row("uniform", table(2.0, 1.0, 2)), row("lls", table(2.0, 1.0, 3))]
    among = against_reference([row("one-hot", reference), method, *others], 0.95, None)
    assert among[1].p_value == alone[1].p_value
    assert not among[1].marked


def test_the_winner_is_chosen_on_validation_cost() -> None:
    given = [
        row("one-hot", table(2.0), validation_cost=0.1),
        row("uniform", table(0.5), validation_cost=0.9),
        row("semantic", table(3.0), validation_cost=0.8),
        row("semantic shuffled", table(0.1), validation_cost=0.2),
    ]
    assert [each.label for each in against_reference(given, 0.95, None) if each.winner] == ["semantic"]


def test_groups_are_drawn_whole() -> None:
    generator = torch.Generator().manual_seed(0)
    groups = torch.arange(SAMPLES) // 20
    shared = torch.randn(SAMPLES // 20, generator=generator).double()[groups]  # what all samples of a group share
    reference, costs = table(2.0, 0.1), table(2.0, 0.1, 1) + shared
    apart = against_reference([row("one-hot", reference), row("uniform", costs)], 0.95, None)[1].change
    whole = against_reference([row("one-hot", reference), row("uniform", costs)], 0.95, groups)[1].change
    assert apart is not None
    assert whole is not None
    assert whole.estimate == apart.estimate
    assert width(whole) > 2 * width(apart)


def width(interval: metrics.Interval) -> float:
    assert interval.low is not None
    assert interval.high is not None
    return interval.high - interval.low


def test_one_seed_has_no_interval() -> None:
    found = against_reference(
        [row("one-hot", table(2.0, 0.5, seeds=1)), row("uniform", table(1.0, 0.5, 1, seeds=1))], 0.95, None
    )[1]
    assert found.change is not None
    assert (found.change.low, found.change.high, found.p_holm, found.marked) == (None, None, None, False)


def test_a_reference_that_costs_nothing() -> None:
    found = against_reference([row("one-hot", table(0.0)), row("uniform", table(1.0))], 0.95, None)
    assert found[1].change is None
    assert not found[1].marked
    assert found[1].winner
    assert found[1].row().p_value is None


@pytest.mark.parametrize("grouped", [False, True])
def test_these_very_models(grouped: bool) -> None:
    """The question about given models is one about samples alone: a bootstrap of samples gives nearly the same."""
    reference, costs = table(2.0, 1.0, 0, seeds=1), table(1.8, 1.0, 1, seeds=1)
    groups = torch.arange(SAMPLES) // 4 if grouped else None
    found = change_of(costs, reference, 0.95, groups, fixed=True)
    assert found is not None
    drawn = bootstrap(costs[0], reference[0], torch.arange(SAMPLES) if groups is None else groups)
    assert found.estimate == pytest.approx(float(costs.mean() / reference.mean() - 1))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.012)
    assert (found.seeds, found.samples) == (1, SAMPLES)
    assert "these models" in found.note


def bootstrap(costs: Tensor, reference: Tensor, groups: Tensor) -> list[float]:
    chance, units = np.random.default_rng(0), int(groups.max()) + 1
    above, below = (np.bincount(groups.numpy(), weights=each.numpy()) for each in (costs, reference))
    draws = (chance.integers(units, size=units) for _ in range(4000))
    return [above[each].sum() / below[each].sum() - 1 for each in draws]


def test_one_group_says_nothing_about_others() -> None:
    found = change_of(
        table(1.0, 0.3, seeds=1), table(2.0, 0.3, 1, seeds=1), 0.95, torch.zeros(SAMPLES).long(), fixed=True
    )
    assert found is not None
    assert (found.low, found.high, found.p_value) == (None, None, None)


def test_several_trainings_of_given_models_count_as_seeds() -> None:
    reference, costs = table(2.0, 0.4), table(1.0, 0.4, 1)
    assert change_of(costs, reference, 0.95, fixed=True) == change_of(costs, reference, 0.95)


def test_a_row_is_plain_data() -> None:
    plain = against_reference(rows(onehot=2.0, uniform=1.5), 0.95, None)[1].row().model_dump(mode="json")
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert {"costs", "right", "plain_right", "plain_costs"}.isdisjoint(plain)


def tried(label: str, test: float, validation: float, trial: float, run: str) -> Judged:
    """Return a row whose trial cost so much on validation data, in a run of its own."""
    trials = [{"value": None, "validation_cost": trial, "run": run, "seeds": 3}]
    return row(label, table(test, 0.4), validation_cost=validation, trials=trials, runs=["judged-0", "judged-1"])


def test_the_winner_is_chosen_on_networks_that_are_not_judged() -> None:
    reference = row("one-hot", table(2.0, 0.4))
    given = [tried("uniform", 1.5, 0.1, 0.9, "a"), tried("lls", 1.7, 0.2, 0.8, "b")]
    found = against_reference([reference, *given], 0.95, None)
    assert [each.label for each in found if each.winner] == ["lls"]
    assert [each.change.level for each in found[1:] if each.change] == [0.95, 0.95]
    assert found[2].p_holm == found[2].p_value


def test_a_winner_of_the_judged_networks_has_an_interval_for_all_of_them() -> None:
    """Without trials of its own the choice is on the very networks that are judged: 1 − 0.05/2 for two methods."""
    reference = row("one-hot", table(2.0, 0.4))
    given = [tried("uniform", 1.5, 0.1, 0.9, "judged-0"), tried("lls", 1.7, 0.2, 0.8, "b")]
    found = against_reference([reference, *given], 0.95, None)
    assert [each.label for each in found if each.winner] == ["uniform"]
    assert [each.change.level for each in found[1:] if each.change] == pytest.approx([0.975, 0.95])
    only = against_reference([reference, given[0]], 0.95, None)[1]
    assert only.change is not None
    assert only.change.level == 0.95

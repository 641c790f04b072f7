"""What is taken home: the cheapest, and beside it what cannot be told from it."""

import numpy as np
import pytest
import torch

from labelspace.comparison.chosen import MOST, Offer, is_worth_several, told_by
from labelspace.comparison.chosen import alike as chosen


def alike(costs: list[torch.Tensor], nll: list[float]) -> list[int]:
    return chosen([Offer(*each) for each in zip(costs, nll, strict=True)])


def table(*rows: list[float]) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def test_a_clear_difference_is_told() -> None:
    good, bad = table([0.0] * 90 + [1.0] * 10), table([0.0] * 50 + [1.0] * 50)
    assert alike([bad, good], [0.1, 9.0]) == [1]


def test_one_standard_error_by_hand() -> None:
    # 16 samples, the second wrong on 2 more and right on 1 more: the mean of differences is 1/16
    one, other = table([1.0] + [0.0] * 15), table([0.0, 1.0, 1.0] + [0.0] * 13)
    differences = np.array([-1.0, 1.0, 1.0] + [0.0] * 13)
    assert differences.mean() < differences.std(ddof=1) / 4
    assert alike([other, one], [0.5, 0.4]) == [1, 0]
    third = table([0.0, 1.0, 1.0, 1.0, 1.0] + [0.0] * 11)  # 3/16 more: 2 more, and right on none
    differences = np.array([-1.0, 1.0, 1.0, 1.0, 1.0] + [0.0] * 11)
    assert differences.mean() > differences.std(ddof=1) / 4
    assert alike([other, one, third], [0.5, 0.4, 0.3]) == [1, 0]


def test_of_rows_that_cost_the_same_everywhere_the_surest_stands_for_all() -> None:
    one, seeds = table([1.0, 0.0, 0.0]), table([2.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    assert alike([one, seeds, one], [0.3, 0.2, 0.4]) == [1]
    assert alike([table([0.0])], [0.3]) == [0]


def test_no_more_than_a_few_are_averaged() -> None:
    rows = [torch.eye(12, dtype=torch.float64)[place : place + 1] for place in range(12)]
    assert alike(rows, list(range(12))) == list(range(MOST))


@pytest.mark.parametrize("cost", [0.1, 1 / 3, 2.0, 3e7])
def test_one_sample_tells_nothing_whichever_way_its_standard_error_is_rounded(cost: float) -> None:
    for samples in range(2, 400):
        one, other = table([0.0] * samples), table([cost] + [0.0] * (samples - 1))
        assert alike([other, one], [0.5, 0.5]) == [1, 0], samples
        assert not is_worth_several(Offer(other, 0.5), Offer(one, 0.5)), samples


def test_rounding_tells_nothing_either() -> None:
    seeds = table([0.1] * 4, [0.2] * 4, [0.3] * 4)
    assert sorted(alike([seeds, seeds.flip(0)], [0.5, 0.4])) == [0, 1]
    assert not is_worth_several(Offer(seeds.flip(0), 0.5), Offer(seeds, 0.5))


def test_several_models_are_worth_it_where_as_many_samples_tell_as_a_verdict_needs() -> None:
    free = Offer(table([0.0] * 300), 0.5)
    for differing, worth in ((2, False), (19, False), (20, True)):
        assert is_worth_several(Offer(table([2.0] * differing + [0.0] * (300 - differing)), 0.5), free) is worth
    dear = table([1000.0] + [1.0] * 50 + [0.0] * 249)  # one sample outweighs the others
    assert not is_worth_several(Offer(dear, 0.5), free)
    many = Offer(table([2.0] * 60 + [0.0] * 240), 0.5)
    assert is_worth_several(many, free, torch.arange(300) // 2)
    assert not is_worth_several(many, free, torch.arange(300) // 10)


def apart(differing: int, samples: int = 100) -> list[Offer]:
    """Return two rows, of which the second costs 1 on so many samples on which the first costs nothing."""
    other = table([1.0] * differing + [0.0] * (samples - differing))
    return [Offer(torch.zeros(3, samples), 0.5), Offer(other.expand(3, -1), 0.5)]


def test_too_few_rows_are_said_to_have_chosen() -> None:
    names = ["LLS", "one-hot"]
    said = told_by(apart(19), names, 0)
    assert said == "Too few rows chose it: about 19 of 100 validation samples tell it from one-hot."
    assert told_by(apart(20), names, 0) == ""
    assert told_by(apart(0), names, 0).startswith("Too few rows chose it: none of 100 validation samples tell")
    assert told_by(apart(1)[:1], names[:1], 0) == ""


def test_one_dear_sample_is_one_sample_and_groups_are_counted() -> None:
    dear = table([1000.0] + [1.0] * 50 + [0.0] * 49)
    offers = [Offer(torch.zeros(1, 100), 0.5), Offer(dear, 0.5)]
    assert "about 1 of 100 validation samples tells it from one-hot" in told_by(offers, ["LLS", "one-hot"], 0)
    groups = torch.arange(100) // 10
    said = told_by(apart(100), ["LLS", "one-hot"], 0, groups)
    assert "about 10 of 10 validation groups tell it from one-hot" in said


def test_the_next_best_is_the_one_that_counts() -> None:
    offers = [*apart(50), Offer(table([1.0] * 5 + [0.0] * 95), 0.5)]
    assert told_by(offers, ["LLS", "one-hot", "ols"], 0).endswith("about 5 of 100 validation samples tell it from ols.")

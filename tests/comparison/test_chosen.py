"""What is taken home: the cheapest, and the surest of those that cannot be told apart."""

import numpy as np
import torch

from labelspace.comparison.chosen import Offer, told_by
from labelspace.comparison.chosen import cheapest as chosen


def cheapest(costs: list[torch.Tensor], nll: list[float], priced: bool) -> int:
    return chosen([Offer(*each) for each in zip(costs, nll, strict=True)], priced)


def table(*rows: list[float]) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def test_a_clear_difference_is_not_overruled() -> None:
    good, bad = table([0.0] * 90 + [1.0] * 10), table([0.0] * 50 + [1.0] * 50)
    assert cheapest([bad, good], [0.1, 9.0], priced=False) == 1


def test_one_standard_error_by_hand() -> None:
    # 16 samples, the second wrong on 2 more and right on 1 more: the mean of differences is 1/16
    one, other = table([1.0] + [0.0] * 15), table([0.0, 1.0, 1.0] + [0.0] * 13)
    differences = np.array([-1.0, 1.0, 1.0] + [0.0] * 13)
    assert differences.mean() < differences.std(ddof=1) / 4
    assert cheapest([one, other], [0.5, 0.4], priced=False) == 1
    assert cheapest([one, other], [0.4, 0.5], priced=False) == 0


def test_under_prices_only_equal_costs_are_a_draw() -> None:
    one, other = table([4.0, 0.0, 0.0, 0.0]), table([0.0, 1.0, 1.0, 2.0])
    assert cheapest([one, other], [0.5, 0.4], priced=True) == 1
    assert cheapest([one + 0.01, other], [0.1, 0.4], priced=True) == 1


def test_a_finer_measure_errs_less() -> None:
    """Of two models, one truly better by 1 in 100: 200 samples choose it more often with the likelihood's help."""
    random = np.random.default_rng(0)
    by_count = by_both = 0
    for _ in range(400):
        costs, nll = [], []
        for right in (0.93, 0.94):  # how sure they are of the true class: a logit around a mean that fits
            logit = random.normal(size=200) * 1.2 + 1.2 * {0.93: 1.476, 0.94: 1.555}[right]
            costs.append(table((logit < 0).astype(float).tolist()))
            nll.append(float(np.log1p(np.exp(-logit)).mean()))
        by_both += cheapest(costs, nll, priced=False)
        by_count += cheapest(costs, nll, priced=True)
    assert by_both > by_count + 20


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

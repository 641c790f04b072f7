"""What is taken home: the cheapest, and the surest of those that cannot be told apart."""

import numpy as np
import torch

from labelspace.comparison.chosen import Offer
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

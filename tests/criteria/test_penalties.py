"""Penalties of free mixtures, by hand; their optimum and their gradients are looked at with the method."""

import torch
from torch.testing import assert_close

from labelspace.criteria.penalties import Weights, class_penalty, entry_box, entry_penalty, off_diagonal

ONES = Weights(1.0, 1.0, 1.0, 1.0, 2.0)


def test_by_hand() -> None:
    relations = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    # ε = −½: |3/2| + |−½| = 2, a row penalty of 1, and a box of (½ + ½)² + ½²
    assert_close(class_penalty(torch.tensor([0.25, -0.5]), relations, ONES), torch.tensor(0.125 + 1 + 1 + 0.25))
    assert_close(off_diagonal(torch.tensor([[5.0, 1.0], [2.0, 7.0]])), torch.tensor([[0.0, 1.0], [2.0, 0.0]]))


def test_rows_that_sum_to_one_pay_for_their_box_alone() -> None:
    high, low = entry_box(2, 2.0)
    assert_close(torch.tensor(high + low), torch.tensor(1.0))
    nothing = Weights(1.0, 0.0, 0.0, 0.0, 2.0)
    assert entry_penalty(torch.tensor([[0.7, 0.3], [0.2, 0.8]]), torch.tensor(0.1), nothing).item() < 1e-12
    assert_close(entry_penalty(torch.full((2, 2), 1.0), torch.tensor(0.1), nothing), torch.tensor(2.0))

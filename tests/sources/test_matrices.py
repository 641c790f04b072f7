"""Matrices that follow at once from an order, from nothing, from prices or from counts, by their formulas."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from labelspace import confusion, cost, ordinal, uniform
from labelspace.compressed import TopRows
from labelspace.sources.matrices import even


@pytest.mark.parametrize("power", [0.0, 1.0, 2.5])
def test_an_order_falls_with_the_power_of_the_distance(power: float) -> None:
    ranks = np.arange(6.0)
    steps = np.abs(ranks[:, None] - ranks[None, :])
    weights = np.where(steps > 0, np.maximum(steps, 1) ** -power, 0)
    space = ordinal(6, power=power)
    assert_close(space.matrix.double(), torch.tensor(weights / weights.sum(1, keepdims=True)), rtol=0, atol=1e-7)
    assert space.hops is not None
    assert space.hops.tolist() == steps.astype(int).tolist()


def test_even_rows_are_the_same_as_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    dense = even(["a", "b", "c", "d"], {"builder": "mine"}, own=0.4)
    assert_close(dense.matrix, torch.full((4, 4), 0.2).fill_diagonal_(0.4))
    assert_close(uniform(4).matrix, torch.full((4, 4), 1 / 3).fill_diagonal_(0))
    monkeypatch.setattr("labelspace.compressed.rows.LIMIT", 4)
    ruled = even(["a", "b", "c", "d"], {"builder": "mine"}, own=0.4)
    assert isinstance(ruled.rule, TopRows)
    assert_close(ruled.rows(torch.arange(4)).float(), dense.matrix)
    assert even(["alone"], {}).rows(torch.tensor([0])).tolist() == [[1.0]]


def test_prices_and_mistakes_are_read_row_by_row() -> None:
    assert cost([[0, 1], [5, 0]], ["well", "ill"]).matrix.tolist() == [[0, 1], [5, 0]]
    counts = np.array([[90, 8, 2], [10, 90, 0], [0, 0, 50]])
    mistakes = counts * (1 - np.eye(3))
    expected = np.where(
        mistakes.sum(1, keepdims=True) > 0, mistakes / np.maximum(mistakes.sum(1, keepdims=True), 1), np.eye(3)
    )
    assert_close(confusion(counts).matrix.double(), torch.tensor(expected), rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: cost([[0, 1], [5, 0]], ["a"]), "`names` of cost must be 2 names, one per row of `matrix`. Got 1"),
        (lambda: confusion([[1, -2], [0, 1]]), "`matrix` of confusion must be counts that are not negative. Got -2"),
        (lambda: cost("prices"), "`matrix` of cost must be a two-dimensional array of numbers. Got str"),
        (lambda: ordinal(3, power=-1), r"`power` of ordinal must be a number in \[0, inf\)"),
    ],
)
def test_bad_input(build, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()

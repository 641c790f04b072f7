"""Prices and weights that come with samples: applied, and refused where they do not fit."""

from typing import Any

import numpy as np
import pytest
import torch

from labelspace import Decision, cost
from labelspace.decisions.tables import Tables, sample_tables, table_of, weigh
from labelspace.spec.actions import given

NAMES = ("mild", "severe")


def test_weights_multiply_rows() -> None:
    tables = Tables(None, torch.tensor([1.0, 3.0], dtype=torch.float64))
    assert tables.scaled(torch.tensor([[1.0, 2.0], [1.0, 2.0]])).tolist() == [[1, 2], [3, 6]]
    assert tables.scaled(torch.tensor([5.0, 5.0])).tolist() == [5, 15]


def test_one_table_or_one_of_each_sample() -> None:
    draw = np.random.default_rng(0)
    p, table = draw.dirichlet(np.ones(2), size=5), draw.normal(size=(5, 2, 3))
    np.testing.assert_allclose(weigh(torch.tensor(p), torch.tensor(table)), np.einsum("nj,nja->na", p, table))
    np.testing.assert_allclose(weigh(torch.tensor(p), torch.tensor(table[0])), p @ table[0])


@pytest.mark.parametrize(
    ("prices", "weights", "message"),
    [
        (np.zeros((3, 2, 3)), None, r"`prices` of Decision must be of shape \(4, 2, 3\): samples, classes and actions"),
        (np.zeros((2, 3)), None, r"Got shape \(2, 3\)"),
        (np.full((4, 2, 3), np.nan), None, "`prices` of Decision must be finite. Got nan of sample 0"),
        (None, [1.0, 2.0], r"`weights` of Decision must be of shape \(4,\). Got shape \(2,\)"),
        (None, [1.0, 2.0, np.nan, 1.0], "`weights` of Decision must be finite. Got nan at position 2"),
        (None, [1.0, -2.0, 1.0, 1.0], "`weights` of Decision must be 0 or more. Got -2 at position 1"),
    ],
)
def test_what_does_not_fit_the_samples(prices: Any, weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        sample_tables((4, 2, 3), prices, weights)
    assert "\n" not in str(error.value)


def test_where_a_decision_reads_its_prices() -> None:
    assert table_of(None, NAMES, None) is None
    plain = table_of(cost([[0, 1], [5, 0]], NAMES), NAMES, None)
    assert plain is not None
    assert plain.names == NAMES
    space = given([[0, 1, 2], [3, 4, 5]], NAMES, ["a", "b", "c"])
    found = table_of(space, NAMES, None)
    assert found is not None
    assert found.names == ("a", "b", "c")
    with pytest.raises(ValueError, match="prices of the classes, in their order. Got those of 'mild', 'severe'"):
        Decision("min_cost", 1.0, space, ["severe", "mild"])
    with pytest.raises(ValueError, match="`actions` of Decision must be left out beside prices that name them"):
        Decision("min_cost", 1.0, space, NAMES, actions=["a", "b", "c"])

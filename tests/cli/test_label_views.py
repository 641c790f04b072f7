"""Label spaces on a terminal: shades by value, and differences against sums by hand."""

import numpy as np
import pytest
import torch

from labelspace import LabelSpace, cost, ordinal, uniform
from labelspace.cli.label_views import SHADES, cheapest, difference, heat_map, nearest, shortened, title


def test_darker_is_more() -> None:
    space = ordinal(5)
    lines = heat_map(space)
    assert len(lines) == 7
    shades = [
        [line[3 + 2 * column] if len(line) > 3 + 2 * column else " " for column in range(5)] for line in lines[1:6]
    ]
    for row in range(5):
        others = [column for column in range(5) if column != row]
        order = sorted(others, key=lambda column: float(space.matrix[row, column]))
        levels = [SHADES.index(shades[row][column]) for column in order]
        assert levels == sorted(levels)


def test_amounts_are_the_mass_that_moved() -> None:
    one, two = ordinal(["low", "mid", "high", "top"]), uniform(["top", "high", "mid", "low"])
    found = difference(one, two)
    moved = np.abs(one.matrix.numpy() - two.subset(one.names).matrix.numpy()).sum(1) / 2
    for row in found.rows:
        assert row.amount == pytest.approx(moved[one.index(row.name)], abs=1e-6)
    assert [row.amount for row in found.rows] == sorted((row.amount for row in found.rows), reverse=True)
    assert found.agreement is None
    assert found.lines(1)[0].startswith("agreement cannot be measured: `second` of labels diff must be of distances")


def test_prices_are_compared_as_prices_and_read_by_direction() -> None:
    one, two = (
        cost([[0, 1, 9], [2, 0, 3], [1, 1, 0]], ["a", "b", "c"]),
        cost([[0, 1, 4], [2, 0, 3], [1, 1, 0]], ["a", "b", "c"]),
    )
    (row,) = difference(one, two).rows
    assert (row.name, row.about, row.amount) == ("a", "c", 5.0)
    assert cheapest(one, ["a", "b"], 1) == {"a": [("b", 1.0)], "b": [("a", 2.0)]}


def test_vectors_are_near_by_plain_distances() -> None:
    points = torch.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    space = LabelSpace(("a", "b", "c"), points, "vectors", {"metric": "euclidean"})
    assert nearest(space, ["a"], 2) == {"a": [("c", 1.0), ("b", 5.0)]}
    assert title(space)[1] == "vectors of 3 classes"


def test_names_are_one_short_line() -> None:
    assert shortened("a\nb   c") == "a b c"
    assert len(shortened("x" * 99)) == 24

"""Rows that name a few classes, against the matrix written out."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from labelspace.compressed import TopRows

RULE = TopRows(
    torch.tensor([[1, 2], [0, -1], [3, 0], [2, -1]]), [[0.5, 0.2], [0.4, 0], [0.9, 0.1], [0.3, 0]], [0.3, 0.6, 0, 0.7]
)


def written_out(places: list[int]) -> np.ndarray:
    table = np.zeros((4, 4))
    for row, (named, mass, rest) in enumerate(
        zip([[1, 2], [0], [3, 0], [2]], [[0.5, 0.2], [0.4], [0.9, 0.1], [0.3]], [0.3, 0.6, 0, 0.7], strict=True)
    ):
        table[row] = rest / (4 - len(named))
        table[row, named] = mass
    part = table[np.ix_(places, places)]
    return part / part.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("places", [[0, 1, 2, 3], [2, 0], [3, 1, 0]])
def test_a_part_is_that_of_the_matrix(places: list[int]) -> None:
    part = RULE.subset(torch.tensor(places))
    assert_close(part.matrix().double(), torch.tensor(written_out(places)), rtol=0, atol=1e-6)


def test_tensors_and_facts_make_it_again() -> None:
    again = TopRows(**RULE.tensors(), **RULE.facts())
    assert_close(again.matrix(), RULE.matrix(), rtol=0, atol=0)


def test_a_class_named_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="`indices` of TopRows must be each class at most once a row. Got 1 twice in"):
        TopRows(torch.tensor([[1, 1], [0, -1]]), [[0.5, 0.5], [1, 0]], [0, 0])

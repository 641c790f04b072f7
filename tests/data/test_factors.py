"""What the prices of samples are multiplied by: numbers, 0 or more, of every sample."""

import numpy as np
import pytest
import torch

from labelspace import InputError
from labelspace.data import factors


def test_numbers_in_any_form() -> None:
    np.testing.assert_array_equal(factors.checked("load", "cost_column", ["1.5", 2, 0.0]), [1.5, 2, 0])
    assert factors.listed(torch.tensor([[1.5], [2.0]])) == [1.5, 2.0]


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf"), "much", None, True, "1_000"])
def test_what_is_no_factor_is_named_with_its_row(wrong: object) -> None:
    with pytest.raises(InputError, match="0 or more, in every row. Got .* in row 2"):
        factors.checked("load", "cost_column", [1.0, 2.0, wrong])
    assert factors.problem(wrong)


def test_nothing_at_stake_anywhere() -> None:
    with pytest.raises(InputError, match="more than 0 for some sample. Got 0 for all"):
        factors.checked("load", "cost_column", [0.0, 0.0])

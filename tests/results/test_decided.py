"""How often a class is called, as it is written."""

import pytest
from pydantic import ValidationError

from labelspace.results import Called


def test_without_prices_and_without_samples_nothing_is_known() -> None:
    called = Called(name="cat", share=0.0, argmax=0.25)
    assert (called.min_cost, called.recall_argmax, called.recall_min_cost) == (None, None, None)


def test_shares_are_numbers() -> None:
    with pytest.raises(ValidationError, match="valid number"):
        Called.model_validate({"name": "cat", "share": "half", "argmax": 0.25})

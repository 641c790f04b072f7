"""From values per sample to one loss, against sums written out."""

import pytest
import torch
from torch.testing import assert_close

from labelspace import OneHot
from labelspace.criteria import reducing
from labelspace.criteria.layout import Batch
from labelspace.criteria.targets import Term

VALUES = torch.tensor([1.0, 2.0, 4.0, 8.0])
Y = torch.tensor([0, 1, 0, -1])
WEIGHT = torch.tensor([3.0, 0.5])


def batch(*, ignored: bool) -> Batch:
    y = Y if ignored else Y.clamp_min(0)
    return Batch(torch.zeros(4, 2), y, y >= 0 if ignored else None, {}, y.shape)


@pytest.mark.parametrize(
    ("ignored", "weight", "reduction", "expected"),
    [
        (False, None, "mean", 15 / 4),
        (False, None, "sum", 15.0),
        (True, None, "mean", 7 / 3),
        (True, None, "sum", 7.0),
        (True, WEIGHT, "mean", (3 + 1 + 12) / 6.5),
        (True, WEIGHT, "sum", 16.0),
    ],
)
def test_terms_and_shares_say_the_same(ignored: bool, weight: torch.Tensor, reduction: str, expected: float) -> None:
    here = batch(ignored=ignored)
    loss = reducing.reduced([Term(VALUES)], here, weight, reduction)
    assert_close(loss, torch.tensor(expected))
    share = reducing.shares(here, weight, reduction)
    assert_close((VALUES * share).sum(), torch.tensor(expected))


def test_weighed_terms_divide_by_their_own_weights() -> None:
    kept = torch.tensor([1.0, 0.0, 1.0, 0.0])
    infinite = torch.tensor([1.0, torch.inf, 4.0, torch.inf])
    terms = [Term(VALUES), Term(infinite, kept), Term(VALUES, kept, total=True)]
    expected = torch.tensor(15 / 4 + 5 / 2 + 4 * 5 / 2)
    assert_close(reducing.reduced(terms, batch(ignored=False), None, "mean"), expected)
    nobody = [Term(infinite, torch.zeros(4))]
    assert_close(reducing.reduced(nobody, batch(ignored=False), None, "mean"), torch.tensor(0.0))


def test_what_is_not_validated_is_not_refused() -> None:
    soft = torch.tensor([[3.0, 1.0]])
    with pytest.raises(ValueError, match="`y` of OneHot must be probabilities"):
        OneHot(2)(torch.zeros(1, 2), soft)
    assert_close(OneHot(2, validate=False)(torch.zeros(1, 2), soft), torch.tensor(2.0).log())
    with pytest.raises(ValueError, match="`y` of OneHot must be class indices from 0 to 1"):
        OneHot(2)(torch.zeros(1, 2), torch.tensor([2]))
    with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
        OneHot(2, validate=False)(torch.zeros(1, 2), torch.tensor([2]))

"""Class frequencies of unlabelled samples, as a decision sees them."""

import pytest
import torch
from torch.testing import assert_close

from labelspace import InputError
from labelspace.decisions import Decision, estimate_prior
from labelspace.decisions.prior import settled_prior
from labelspace.decisions.shifted import adapted


def test_it_starts_from_what_the_decision_says_without_a_prior():
    draw = torch.Generator().manual_seed(0)
    scores = torch.randn(100, 3, generator=draw).double()
    decision = Decision("argmax", 0.5, None, ["a", "b", "c"], frequencies=[0.2, 0.3, 0.5])
    expected = settled_prior((scores / 0.5).softmax(dim=1), torch.tensor([0.2, 0.3, 0.5]).double())
    assert_close(estimate_prior(scores, decision), expected)
    # a prior that it has already is not counted twice
    assert_close(estimate_prior(scores, decision.with_prior([0.9, 0.05, 0.05])), expected)


def test_it_needs_to_know_where_it_starts():
    scores = torch.eye(2)
    with pytest.raises(InputError, match="`decision` of estimate_prior must be one that knows the frequencies"):
        estimate_prior(scores, Decision("argmax", 1.0, None, ["a", "b"]))
    with pytest.raises(
        InputError, match="`decision` of estimate_prior must be with frequencies above 0. Got 0 for 'b'"
    ):
        estimate_prior(scores, Decision("argmax", 1.0, None, ["a", "b"], frequencies=[1.0, 0.0]))


def test_a_decision_is_adapted_to_enough_samples_alone() -> None:
    decision = Decision("argmax", 1.0, None, ["well", "ill"], frequencies=[0.5, 0.5])
    scores = torch.tensor([[2.0, 0.0]] * 80 + [[0.0, 2.0]] * 20)
    torch.testing.assert_close(adapted(scores, decision).prior, estimate_prior(scores, decision))
    with pytest.raises(InputError, match="at least 40 samples, 20 for each class, .*Got 39"):
        adapted(scores[:39], decision)

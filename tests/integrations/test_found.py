"""Criteria are found inside modules, held against optimizers, and written into checkpoints."""

import pytest
import torch
from torch import nn

from labelspace import InputError, LearnableSmoothing, Learner, OneHot, OnlineSmoothing
from labelspace._distributed import Ranks
from labelspace.integrations._found import (
    check_criterion,
    check_optimized,
    criteria_in,
    put_statistics,
    say_nothing_of_ranks,
)


def test_criteria_are_found_by_their_place() -> None:
    inner, outer = OneHot(3), OnlineSmoothing(3)
    module = nn.ModuleDict({"learner": Learner(nn.Linear(2, 3), inner), "other": outer})
    assert criteria_in(module) == {"learner.criterion": inner, "other": outer}
    assert criteria_in(inner) == {"": inner}
    assert criteria_in(nn.Linear(2, 3)) == {}


def test_label_parameters_must_be_in_an_optimizer() -> None:
    criterion, head = LearnableSmoothing(3), nn.Linear(2, 3)
    early = torch.optim.SGD(head.parameters(), lr=0.1)
    check_optimized("mine", criterion, [early, torch.optim.SGD(criterion.parameters(), lr=0.1)], "")
    check_optimized("mine", OneHot(3), [early], "")
    with pytest.raises(
        InputError, match="`optimizer` of mine must be one that has .* without label_logits of Learnable"
    ):
        check_optimized("mine", criterion, [early], "Do this.")
    criterion.requires_grad_(False)
    check_optimized("mine", criterion, [early], "")


def test_what_is_no_criterion_is_refused() -> None:
    with pytest.raises(InputError, match="`criterion` of mine must be a labelspace criterion. Got CrossEntropyLoss"):
        check_criterion("mine", nn.CrossEntropyLoss())


def test_a_checkpoint_gets_what_was_counted_and_nothing_else() -> None:
    learner = Learner(nn.Linear(2, 3), OnlineSmoothing(3))
    state = learner.state_dict()
    learner(torch.eye(2), torch.tensor([0, 1])).backward()
    del state["criterion.statistics.mass"]  # as in a checkpoint that leaves something out
    put_statistics(learner, state)
    torch.testing.assert_close(state["criterion.statistics.seen"], torch.tensor(2.0))
    assert "criterion.statistics.mass" not in state


def test_a_checkpoint_that_is_completed_later_warns_of_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ranks, "size", lambda self: 2)
    learner = Learner(nn.Linear(2, 3), OnlineSmoothing(3, global_mean=False, reduction="sum"))
    learner(torch.eye(2), torch.tensor([0, 1])).backward()
    say_nothing_of_ranks(learner)
    learner.state_dict()
    other = Learner(nn.Linear(2, 3), OnlineSmoothing(3, global_mean=False, reduction="sum"))
    other.state_dict()  # nothing was observed
    other(torch.eye(2), torch.tensor([0, 1])).backward()
    with pytest.warns(UserWarning, match="has observed on this rank"):
        other.state_dict()
    other.state_dict()  # said once

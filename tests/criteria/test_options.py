"""Options keep their numbers, constants move and are saved, and DistributedDataParallel is told to leave them alone."""

import pytest
import torch
from torch import nn

from labelspace import Learner, SemanticSmoothing, ordinal
from labelspace.criteria.options import OptionsModule, ignored_by_ddp


def made() -> OptionsModule:
    module = OptionsModule()
    module.option("strength", 0.1, low=0)
    module.constant("relations", torch.tensor([[1.0, 0.3], [0.3, 1.0]]))
    module.constant("nothing", None)
    module.register_buffer("counted", torch.zeros(2))
    return module


def test_options_keep_their_numbers_through_casts() -> None:
    module = nn.Sequential(made()).half().bfloat16().float()[0]
    assert module.number("strength") == 0.1
    assert module.strength.dtype == torch.float64
    assert module.relations.tolist() == torch.tensor([[1.0, 0.3], [0.3, 1.0]]).tolist()
    assert set(module.state_dict()) == {"relations", "counted"}


def test_an_option_is_checked() -> None:
    with pytest.raises(ValueError, match="`strength` of OptionsModule must be a number in"):
        made().option("strength", -1.0, low=0)


def test_ddp_is_told_what_to_leave_alone() -> None:
    assert ignored_by_ddp(made(), "part") == ["part.strength", "part.relations", "part.nothing"]
    assert ignored_by_ddp(nn.Linear(2, 2), "part") == []
    learner = Learner(nn.Linear(2, 3), SemanticSmoothing(ordinal(3)))
    told = learner._ddp_params_and_buffers_to_ignore
    assert {"criterion.relations", "criterion.smoothing"} <= set(told)
    assert not {name for name, _ in learner.named_parameters()} & set(told)
    assert "criterion.relations" in learner.state_dict()

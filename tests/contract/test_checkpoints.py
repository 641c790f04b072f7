"""torch.distributed.checkpoint saves and loads every method in the middle of an epoch, in one process."""

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.distributed import checkpoint
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, set_model_state_dict

from contract.harness import METHODS, plain, state_of
from labelspace import Learner

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled:UserWarning")
OPTIONS = {"as it is": StateDictOptions(), "whole": StateDictOptions(full_state_dict=True, cpu_offload=True)}


def learner_of(method: str, steps: int) -> Learner:
    """Return a learner that has seen so many batches of its epoch."""
    torch.manual_seed(steps)
    inputs = plain(method)
    learner = Learner(nn.Linear(3, inputs.criterion.output_dim).double(), inputs.criterion)
    for step in range(steps):
        inputs.loss(output=(inputs.output * (1 + step)).requires_grad_()).backward()
    return learner


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("options", OPTIONS)
def test_a_checkpoint_within_an_epoch_holds_everything(method: str, options: str, tmp_path: Path) -> None:
    one, two = learner_of(method, 2), learner_of(method, 1)
    saved = get_model_state_dict(one, options=OPTIONS[options])
    assert saved.keys() == one.state_dict().keys()
    checkpoint.save({"learner": saved}, checkpoint_id=tmp_path / "saved", no_dist=True)
    state = {"learner": get_model_state_dict(two, options=OPTIONS[options])}
    checkpoint.load(state, checkpoint_id=tmp_path / "saved", no_dist=True)
    set_model_state_dict(two, state["learner"], options=OPTIONS[options])
    for name, value in one.state_dict().items():
        torch.testing.assert_close(two.state_dict()[name], value, rtol=0, atol=0, msg=lambda m, n=name: f"{n}: {m}")
    inputs = plain(method)
    for learner in (one, two):
        learner.criterion(inputs.output.clone().requires_grad_(), inputs.y, **inputs.extras)
        learner.end_epoch()
    for name, value in state_of(one.criterion).items():
        torch.testing.assert_close(state_of(two.criterion)[name], value, rtol=0, atol=0)

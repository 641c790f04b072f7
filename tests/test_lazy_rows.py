"""Missed steps of a row as one matrix, against taking them one by one."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from labelspace._lazy_rows import LazyRows, Missed, Rule, attach, read


@pytest.mark.parametrize("nesterov", [0.0, 1.0])
def test_the_product_of_missed_steps_is_taking_them(nesterov: float) -> None:
    rates = [0.5 / (1 + step) for step in range(30)]
    parameter = nn.Parameter(torch.randn(3, 2, dtype=torch.float64))
    fast, slow = parameter.detach()[0].clone(), parameter.detach()[2].clone()
    ahead = velocity = torch.zeros_like(slow)
    missed = attach(parameter, None, None)
    gradient = torch.sparse_coo_tensor(
        torch.tensor([[0]]), torch.ones(1, 2, dtype=torch.float64), (3, 2), check_invariants=True
    )
    for place, rate in enumerate(rates):
        rule = Rule(rate, 0.9, 0.2, 0.1, nesterov)
        with torch._C.DisableTorchFunctionSubclass():
            missed.step(parameter, gradient, rule)
        decayed = 0.1 * slow
        velocity = decayed if place == 0 else 0.9 * velocity + 0.8 * decayed
        slow = slow - rate * (decayed + 0.9 * velocity if nesterov else velocity)
        met = 0.1 * fast + 1
        ahead = met if place == 0 else 0.9 * ahead + 0.8 * met
        fast = fast - rate * (met + 0.9 * ahead if nesterov else ahead)
    # the gradient of the last step waits in the momentum, where nobody looks ahead of it
    assert missed.since.tolist() == [30 if nesterov else 29, 0, 0]
    assert_close(read(parameter, torch.tensor([0])).detach()[0], fast)
    assert_close(read(parameter, torch.tensor([2]))[0].detach(), slow)
    assert missed.since.tolist() == [30, 0, 30]
    assert missed.momentum is not None
    assert_close(missed.momentum[2], velocity)


def test_steps_that_change_nothing_are_not_remembered() -> None:
    parameter = nn.Parameter(torch.ones(3, 2))
    missed = attach(parameter, None, None)
    gradient = torch.sparse_coo_tensor(torch.tensor([[1]]), torch.ones(1, 2), (3, 2), check_invariants=True)
    with torch._C.DisableTorchFunctionSubclass():
        missed.step(parameter, gradient, Rule(0.5, 0.0, 0.0, 0.0, 0.0))
    assert (missed.taken, missed.momentum) == (0, None)
    assert parameter.tolist() == [[1, 1], [0.5, 0.5], [1, 1]]


def test_the_parameter_stays_the_object_it_was() -> None:
    module = nn.Linear(2, 3, bias=False)
    weight = module.weight
    assert isinstance(attach(weight, None, None), Missed)
    assert module.weight is weight
    assert isinstance(module.weight, LazyRows)
    assert_close(module(torch.ones(1, 2)), torch.ones(1, 2) @ weight.detach().T)


def test_a_row_met_twice_gets_both_gradients_and_momentum_too_small_to_wait_in() -> None:
    for momentum in (0.9, 0.01, 0.0):
        parameter, dense = (nn.Parameter(torch.ones(3, 2)) for _ in range(2))
        missed = attach(parameter, None, None)
        twice = torch.sparse_coo_tensor(torch.tensor([[1, 1]]), torch.ones(2, 2), (3, 2), check_invariants=True)
        optimizer = torch.optim.SGD([dense], lr=0.5, momentum=momentum)
        for _ in range(3):
            with torch._C.DisableTorchFunctionSubclass():
                missed.step(parameter, twice, Rule(0.5, momentum, 0.0, 0.0, 0.0))
            dense.grad = twice.to_dense()
            optimizer.step()
        assert_close(read(parameter, torch.arange(3)).detach(), dense.detach())

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
    slow = parameter.detach()[2].clone()
    velocity = torch.zeros_like(slow)
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
    assert missed.since.tolist() == [30, 0, 0]
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

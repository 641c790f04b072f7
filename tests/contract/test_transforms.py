"""``torch.func``: gradients of single samples and second derivatives of every method, or a refusal on the page."""

import re
from pathlib import Path

import pytest
import torch
from torch import Tensor

from contract.harness import METHODS, Inputs, plain
from labelspace.criteria import criterion_class, methods

# torch.func.jacfwd prepares its own decompositions with it
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
PAGE = (Path(__file__).parents[2] / "docs" / "torch.md").read_text(encoding="utf-8")


def observes(inputs: Inputs) -> bool:
    return bool(inputs.criterion.statistics)


def of_sample(inputs: Inputs, output: Tensor, y: Tensor, *extras: Tensor) -> Tensor:
    """Return the loss of a batch of one."""
    given = {name: value[None] for name, value in zip(inputs.extras, extras, strict=True)}
    return inputs.criterion(output[None], y[None], **given)


def in_mode(method: str, training: bool) -> Inputs:
    inputs = plain(method)
    inputs.criterion.train(training)
    return inputs


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_gradients_of_single_samples(method: str, training: bool) -> None:
    inputs = in_mode(method, training)

    def gradient(output: Tensor, y: Tensor, *extras: Tensor) -> Tensor:
        return torch.func.grad(lambda one: of_sample(inputs, one, y, *extras))(output)

    rows = (inputs.output, inputs.y, *inputs.extras.values())
    if training and observes(inputs):
        before = inputs.fresh().criterion.state_dict()
        with pytest.raises(ValueError, match=r"a whole batch while it trains.*torch.func.vmap. Call eval\(\)"):
            torch.func.vmap(gradient)(*rows)
        for name, value in inputs.criterion.state_dict().items():
            torch.testing.assert_close(value, before[name], rtol=0, atol=0)
        return
    found = torch.func.vmap(gradient)(*rows)
    for place, one in enumerate(zip(*rows, strict=True)):
        output = one[0].clone().requires_grad_()
        (wanted,) = torch.autograd.grad(of_sample(inputs, output, *one[1:]), output)
        torch.testing.assert_close(found[place], wanted)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_second_derivatives(method: str, training: bool) -> None:
    inputs, other = in_mode(method, training), in_mode(method, training)
    soft = inputs.soft() if criterion_class(method).soft_targets else inputs
    for here, there in ((inputs, other), (soft.fresh(), soft.fresh())):
        found = torch.func.hessian(lambda output, here=here: here.loss(output=output))(here.output)
        wanted = torch.autograd.functional.hessian(lambda output, there=there: there.loss(output=output), there.output)
        torch.testing.assert_close(found, wanted)
        for name, value in here.criterion.state_dict().items():  # what was observed is as it would be without
            torch.testing.assert_close(value, there.criterion.state_dict()[name])


@pytest.mark.parametrize("method", METHODS)
def test_second_derivatives_of_what_is_learned(method: str) -> None:
    """By parameters, against reverse mode taken twice."""
    inputs = in_mode(method, False)
    parameters = {name: value.detach() for name, value in inputs.criterion.named_parameters()}
    if not parameters:
        pytest.skip("learns nothing")
    arguments = ((inputs.output, inputs.y), inputs.extras)

    def loss(values: dict[str, Tensor]) -> Tensor:
        return torch.func.functional_call(inputs.criterion, values, *arguments)

    twice = torch.func.jacrev(torch.func.jacrev(loss))(parameters)
    torch.testing.assert_close(torch.func.hessian(loss)(parameters), twice)


def test_the_page_names_those_that_want_eval() -> None:
    (sentence,) = re.findall(r"in training all but (.*?) have", PAGE)
    named = re.findall(r"`(\w+)`", sentence)
    assert named == [name for name in methods() if observes(plain(name))]

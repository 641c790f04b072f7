"""Finite values and gradients where arithmetic is hard, and vmap over float options."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from contract.harness import IGNORED, METHODS, Inputs, each_variant, plain, variants
from labelspace.criteria import criterion_class


def single(inputs: Inputs) -> Inputs:
    extras = {name: v.float() if v.is_floating_point() else v for name, v in inputs.extras.items()}
    return Inputs(inputs.criterion.float(), inputs.output.float(), inputs.y, extras)


def finite_step(inputs: Inputs) -> tuple[Tensor, Tensor]:
    output = inputs.output.detach().requires_grad_()
    loss = inputs.loss(output=output)
    loss.backward()
    assert output.grad is not None
    assert bool(torch.isfinite(loss)), f"loss is {loss}"
    assert bool(torch.isfinite(output.grad).all()), "the gradient of the output is not finite"
    for name, parameter in inputs.criterion.named_parameters():
        assert parameter.grad is None or bool(torch.isfinite(parameter.grad).all()), name
    return loss.detach(), output.grad


@pytest.mark.parametrize(("method", "variant"), each_variant())
@pytest.mark.parametrize("scale", [1e4, -1e4])
def test_huge_logits(method: str, variant: str, scale: float) -> None:
    inputs = single(variants(method)[variant])
    peak = inputs.output.nan_to_num().abs().max()
    finite_step(replace(inputs, output=inputs.output * (scale / peak)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32(method: str, dtype: torch.dtype) -> None:
    inputs = single(plain(method))
    lowered = inputs.output.to(dtype)
    extras = {name: v.to(dtype) if v.is_floating_point() else v for name, v in inputs.extras.items()}
    raised = {name: v.float() if v.is_floating_point() else v for name, v in extras.items()}
    loss, gradient = finite_step(replace(inputs.fresh(), output=lowered, extras=extras))
    expected, expected_gradient = finite_step(replace(inputs, output=lowered.float(), extras=raised))
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(gradient, expected_gradient.to(dtype))


@pytest.mark.parametrize("method", METHODS)
def test_autocast_changes_nothing(method: str) -> None:
    inputs = single(plain(method))
    expected = inputs.fresh().loss()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = inputs.loss()
    torch.testing.assert_close(loss, expected, rtol=0, atol=0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("soft", [False, True])
def test_no_valid_sample_gives_zero_loss_and_gradient(method: str, soft: bool) -> None:
    if soft and not criterion_class(method).soft_targets:
        pytest.skip("takes class indices only")
    inputs = single(plain(method))
    inputs = replace(inputs, y=torch.full_like(inputs.y, IGNORED), output=torch.full_like(inputs.output, torch.nan))
    inputs = inputs.soft() if soft else inputs
    before = {name: value.clone() for name, value in inputs.criterion.state_dict().items()}
    loss, gradient = finite_step(inputs)
    torch.testing.assert_close(loss, torch.tensor(0.0), rtol=0, atol=0)
    torch.testing.assert_close(gradient, torch.zeros_like(gradient), rtol=0, atol=0)
    for _, parameter in inputs.criterion.named_parameters():
        assert parameter.grad is None or not bool(parameter.grad.any())
    for name, axes in criterion_class(method).class_axes.items():
        if axes and name in before:
            torch.testing.assert_close(inputs.criterion.state_dict()[name], before[name], rtol=0, atol=0)


@pytest.mark.parametrize("method", METHODS)
def test_empty_batch(method: str) -> None:
    inputs = single(plain(method)).rows(slice(0, 0))
    loss, _ = finite_step(inputs)
    torch.testing.assert_close(loss, torch.tensor(0.0), rtol=0, atol=0)


@pytest.mark.parametrize("method", METHODS)
def test_minus_infinity_where_the_target_has_no_mass(method: str) -> None:
    """A class has no mass for a sample if pushing its logit from −1e4 to −2e4 leaves the loss alone."""
    if "output" not in criterion_class(method).class_axes:
        pytest.skip("the output is a point, not logits")
    inputs = plain(method)
    checked = 0
    for sample, column in [(s, c) for s in range(len(inputs.y)) for c in range(inputs.output.shape[1])]:

        def pushed(value: float, sample: int = sample, column: int = column) -> Inputs:
            output = inputs.output.clone()
            output[sample, column] = value
            return replace(inputs.fresh(), output=output)

        if abs(pushed(-2e4).loss() - pushed(-1e4).loss()) < 1e-9:
            finite_step(pushed(-torch.inf))
            checked += 1
    relations = inputs.criterion.label_space().matrix + torch.eye(len(inputs.criterion.names))
    assert checked or bool((relations > 0).all()), "some class should have had no mass"


@pytest.mark.parametrize("method", METHODS)
def test_vmap_over_float_options_equals_a_loop(method: str) -> None:
    inputs = plain(method)
    for name in inputs.criterion.float_options:
        value = getattr(inputs.criterion, name)
        values = torch.stack([value * 0.5, value * 0.9, value])

        def loss(option: Tensor, output: Tensor, name: str = name) -> Tensor:
            here = inputs.fresh()
            return torch.func.functional_call(here.criterion, {name: option}, (output, here.y), here.extras)

        looped = torch.stack([loss(option, inputs.output) for option in values])
        torch.testing.assert_close(torch.func.vmap(loss, in_dims=(0, None))(values, inputs.output), looped)
        gradient = torch.func.grad(loss, argnums=1)
        expected = torch.stack([gradient(option, inputs.output) for option in values])
        torch.testing.assert_close(torch.func.vmap(gradient, in_dims=(0, None))(values, inputs.output), expected)

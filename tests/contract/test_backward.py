"""What a user may do between a loss and its gradients, in small batches and in those that kernels take for large."""

import weakref
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from contract.harness import METHODS, Inputs, plain
from labelspace.criteria import criterion_class, kernels, known

EACH = torch.tensor([1.0, -0.5, 2.0], dtype=torch.float64)


@pytest.fixture(autouse=True, params=["small batch", "large batch"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every batch for a small one, or for a large one of which two samples fit into the cache."""
    if request.param == "large batch":
        monkeypatch.setattr(known, "FEW", 0)
        monkeypatch.setattr(kernels, "LARGE", 0)
        monkeypatch.setattr(known, "AT_A_TIME", 8)


def gradient(inputs: Inputs, output: Tensor) -> Tensor:
    output = output.detach().requires_grad_()
    return torch.autograd.grad(inputs.loss(output=output), output)[0]


def again(loss: Tensor, learned: Sequence[Tensor], twice: bool) -> Sequence[Tensor | None] | str:
    """Return the gradients, or why there are none."""
    try:
        return torch.autograd.grad(loss, learned, retain_graph=True, create_graph=twice, allow_unused=True)
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("method", METHODS)
def test_many_gradients_at_once(method: str) -> None:
    inputs = plain(method)
    output = inputs.output.requires_grad_()
    loss = inputs.loss(output=output)
    (found,) = torch.autograd.grad(loss, output, EACH, is_grads_batched=True)
    one = gradient(plain(method), inputs.output)
    assert_close(found, EACH.reshape(-1, *[1] * one.ndim) * one)


@pytest.mark.parametrize("method", METHODS)
def test_labels_that_change_after_the_loss_are_told_or_do_not_matter(method: str) -> None:
    inputs = plain(method)
    output, y = inputs.output.requires_grad_(), inputs.y.clone()
    loss = inputs.loss(output=output, y=y)
    learned = [output, *inputs.criterion.parameters()]
    first = torch.autograd.grad(loss, learned, retain_graph=True, allow_unused=True)
    y.copy_(y.roll(1))
    for twice in (False, True):  # with a graph it is computed from the equations
        second = again(loss, learned, twice)
        if isinstance(second, str):
            assert "modified by an inplace operation" in second
        else:
            assert_close(second, first)


@pytest.mark.parametrize("method", METHODS)
def test_a_loss_does_not_hold_the_output_when_backward_is_done(method: str) -> None:
    inputs = plain(method)
    leaf = inputs.output.requires_grad_()
    output = leaf * 1
    held = weakref.ref(output)
    loss = inputs.loss(output=output)
    loss.backward()
    del output
    assert held() is None, "what computes the gradient keeps the output alive as long as the loss"


@pytest.mark.parametrize("method", METHODS)
def test_an_output_that_is_a_negative_in_name_only(method: str) -> None:
    inputs = plain(method)
    lazy = torch.complex(inputs.output, -inputs.output).conj().imag
    assert lazy.is_neg()
    assert_close(inputs.fresh().loss(output=lazy), inputs.fresh().loss())
    found = inputs.fresh()
    numbers = torch.complex(inputs.output, -inputs.output).requires_grad_()
    found.loss(output=numbers.conj().imag).backward()
    assert numbers.grad is not None
    assert_close(-numbers.grad.imag, gradient(inputs, inputs.output))


@pytest.mark.parametrize("lowest", [-torch.inf, torch.finfo(torch.float32).min])
@pytest.mark.parametrize("method", METHODS)
def test_classes_ruled_out_give_no_warning_and_no_nan(method: str, lowest: float) -> None:
    """As with a mask: the lowest number, or −inf where a target has no mass there, is a gradient like others."""
    if "output" not in criterion_class(method).class_axes:
        pytest.skip("the output is a point, not logits")
    inputs = plain(method)
    inputs.criterion.float()
    output = inputs.output.float().clone()
    output[0, (inputs.y[0] + 1) % output.shape[1]] = lowest
    extras = {name: each.float() if each.is_floating_point() else each for name, each in inputs.extras.items()}
    inputs = replace(inputs, extras=extras)
    leaf = output.requires_grad_()
    loss = inputs.loss(output=leaf)
    loss.backward()
    if torch.isfinite(loss):
        assert leaf.grad is not None
        assert torch.isfinite(leaf.grad).all()

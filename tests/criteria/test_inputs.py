"""What kernels make of learned tensors themselves: the numbers and gradients that autograd finds."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace.criteria import known as module
from labelspace.criteria import products
from labelspace.criteria.inputs import Layer, Product, Table, may_be_read
from labelspace.criteria.known import known
from labelspace.criteria.maths import Array, Maths, Numbers

Y = torch.tensor([2, 0, 2, 1])


@pytest.fixture(autouse=True, params=["small batch", "large batch"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every batch for a small one, or for a large one of which two samples fit into the cache."""
    if request.param == "large batch":
        monkeypatch.setattr(module, "FEW", 0)
        monkeypatch.setattr(module, "AT_A_TIME", 10)


def drawn(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64).requires_grad_()


MADE = {
    "table": (Table, (drawn(3, 5),), lambda rows: rows[Y]),
    "product": (Product, (drawn(3, 2), drawn(2, 5)), lambda left, right: left[Y] @ right),
    "layer": (Layer, (drawn(4, 6), drawn(5, 6), drawn(5)), torch.nn.functional.linear),
}


def cross(do: Maths[Numbers], output: Numbers, made: Numbers) -> Array:
    """Return ``log Σ e^z − Σ_k z_k·made_k``, whose gradient by z is made of both."""
    kept, to_output = do.dot(output, made), do.gradient(0)
    soft = do.softmax(output, e=to_output)
    do.add_(do.times_(to_output, do.share / soft.total), made, -1.0 * do.share)
    to_made = do.softmax(output, e=do.gradient(1)).e  # any numbers, of which nothing is left
    do.add_(do.times_(to_made, 0.0), output, -1.0 * do.share)
    values: Array = np.log(soft.total) + soft.top - kept
    return values


def careful(output: Tensor, made: Tensor) -> Tensor:
    return output.logsumexp(dim=1) - (output * made).sum(dim=1)


@pytest.mark.parametrize("share", [0.25, torch.tensor([0.5, 2.0, 0.25, 0.0], dtype=torch.float64)])
@pytest.mark.parametrize("name", MADE)
def test_numbers_and_gradients(name: str, share: Tensor | float) -> None:
    kind, tensors, read = MADE[name]
    output = drawn(4, 5)
    loss = known(cross, careful, Y.clone(), share, output, kind(*tensors))
    expected = (careful(output, read(*tensors)) * share).sum()
    assert_close(loss, expected)
    learned = (output, *tensors)
    wanted = torch.autograd.grad(expected, learned, create_graph=True)
    assert_close(torch.autograd.grad(loss, learned, create_graph=True), wanted)
    for _ in range(2):  # as it was computed, and again
        found = torch.autograd.grad(3 * loss, learned, retain_graph=True)
        assert_close(found, tuple(3 * each for each in wanted))
    both = torch.tensor([1.0, -2.0], dtype=torch.float64)
    many = torch.autograd.grad(loss, learned, both, is_grads_batched=True, retain_graph=True)
    assert_close(many, tuple(torch.stack([each, -2 * each]) for each in wanted))


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("name", ["product", "layer"])
def test_what_asks_for_no_gradient_gets_none(name: str, place: int) -> None:
    kind, tensors, read = MADE[name]
    if place >= len(tensors):
        pytest.skip("is made of fewer tensors")
    held = [each.detach().requires_grad_(other != place) for other, each in enumerate(tensors)]
    output = drawn(4, 5).detach()
    known(cross, careful, Y, 0.25, output, kind(*held)).backward()
    assert held[place].grad is None
    learned = [each for other, each in enumerate(held) if other != place]
    expected = torch.autograd.grad((careful(output, read(*held)) * 0.25).sum(), learned)
    assert_close([each.grad for each in learned], list(expected))


def test_a_survey_sees_the_whole_batch_before_anything_is_computed() -> None:
    seen: list[Tensor] = []

    def survey(output: Tensor, made: Tensor) -> None:
        seen.append(made.clone())

    def told(do: Maths[Numbers], output: Numbers, made: Numbers) -> Array:
        assert len(seen) == 1
        return cross(do, output, made)

    kind, tensors, read = MADE["product"]
    known(told, careful, Y, 0.25, drawn(4, 5), kind(*tensors), survey=survey)
    assert_close(seen[0], read(*tensors).detach())


def test_parameters_that_a_kernel_may_read() -> None:
    own, other = torch.nn.Parameter(drawn(3, 3).detach()), torch.nn.Parameter(drawn(3, 3).detach().float())
    assert may_be_read(drawn(2, 3), own, own)
    assert not may_be_read(drawn(2, 3), own, other)
    assert not may_be_read(drawn(2, 3), own, drawn(3, 3))


@pytest.mark.parametrize("avx", [True, False])
@pytest.mark.parametrize("name", MADE)
def test_going_back_inside_autocast_keeps_the_precision_of_the_loss(
    name: str, avx: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "LEAST", 0 if avx else 2**60)
    kind, tensors, read = MADE[name]
    held, output = [each.detach().float().requires_grad_() for each in tensors], drawn(4, 5).float()
    learned = [output.detach().requires_grad_(), *held]
    loss = known(cross, careful, Y, 0.25, learned[0], kind(*held))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = [torch.autograd.grad(loss, learned, retain_graph=True) for _ in range(2)]
    expected = torch.autograd.grad((careful(learned[0], read(*held)) * 0.25).sum(), learned)
    for each in found:
        assert_close(each, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("name", "place", "allowed"), [("table", 0, True), ("layer", 1, True), ("product", 0, False)])
def test_steps_between_a_loss_and_its_gradients(name: str, place: int, allowed: bool) -> None:
    """As with autograd's own: what a gradient does not depend on may be another by then."""
    kind, tensors, _ = MADE[name]
    held, output = [each.detach().clone().requires_grad_() for each in tensors], drawn(4, 5)
    if name == "layer":
        held[0] = held[0].detach()  # features that nothing behind learns from
    learned = [each for each in held if each.requires_grad]
    losses = [known(cross, careful, Y, 0.25, output, kind(*held)) for _ in range(2)]
    expected = torch.autograd.grad(losses[0], learned)
    with torch.no_grad():
        held[place].add_(1)
    if allowed:
        assert_close(torch.autograd.grad(losses[1], learned, retain_graph=True), expected)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(losses[1], learned)

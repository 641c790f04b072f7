"""Losses with their gradients against the per-sample forms, and second derivatives."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace.criteria import kernels

SHARES = [0.25, torch.tensor([0.5, 0.0, 2.0, 0.125], dtype=torch.float64)]


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("share", SHARES, ids=["one share", "a share each"])
@pytest.mark.parametrize("mass", [1.0, None])
def test_soft_cross_entropy(share: Tensor | float, mass: float | None) -> None:
    target = torch.softmax(numbers(4, 3, seed=1), dim=1) * (1 if mass else torch.tensor([[1.0], [2], [0], [0.5]]))

    def loss(output: Tensor) -> Tensor:
        return kernels.soft_cross_entropy(output, target, share, mass)

    output = numbers(4, 3).requires_grad_()
    expected = (-(target * output.log_softmax(dim=1)).sum(dim=1) * share).sum()
    assert_close(loss(output), expected)
    assert torch.autograd.gradcheck(loss, output)
    assert torch.autograd.gradgradcheck(loss, output)


@pytest.mark.parametrize("share", SHARES, ids=["one share", "a share each"])
def test_cross_entropy(share: Tensor | float) -> None:
    output, y = numbers(4, 3), torch.tensor([2, 0, 1, 1])
    expected = (-output.log_softmax(dim=1)[torch.arange(4), y] * share).sum()
    assert_close(kernels.cross_entropy(output, y, share), expected)
    with pytest.raises(IndexError):
        kernels.cross_entropy(output, torch.tensor([2, 0, -100, 1]), share)


def test_a_gradient_can_be_taken_twice_and_scaled() -> None:
    output, target = numbers(4, 3).requires_grad_(), torch.softmax(numbers(4, 3, seed=1), dim=1)
    loss = kernels.soft_cross_entropy(output, target, 0.25, 1.0)
    first, second = (torch.autograd.grad(loss * 3, output, retain_graph=True)[0] for _ in range(2))
    assert_close(first, second)
    assert_close(first, 0.75 * (torch.softmax(output, dim=1) - target))
    with torch.no_grad():
        assert_close(kernels.soft_cross_entropy(output, target, 0.25, 1.0), loss)

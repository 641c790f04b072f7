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
def test_cross_entropy(share: Tensor | float) -> None:
    output, y = numbers(4, 3), torch.tensor([2, 0, 1, 1])
    expected = (-output.log_softmax(dim=1)[torch.arange(4), y] * share).sum()
    assert_close(kernels.cross_entropy(output, y, share), expected)
    with pytest.raises(IndexError):
        kernels.cross_entropy(output, torch.tensor([2, 0, -100, 1]), share)


@pytest.mark.parametrize("share", SHARES, ids=["one share", "a share each"])
@pytest.mark.parametrize("coefficients", [(0.5, 0.5, 0.5, 0.5), (1.0, 0.25, 0.0, 2.0)])
@pytest.mark.parametrize("alpha", [0.3, 1.0])
def test_learnt_terms(share: Tensor | float, coefficients: tuple[float, ...], alpha: float) -> None:
    y, options = torch.tensor([2, 0, 1, 1]), (torch.tensor(alpha).double(), torch.tensor(coefficients).double())
    a, b, c, d = coefficients

    def loss(output: Tensor, logits: Tensor) -> Tensor:
        return kernels.learnt_terms(output, logits, y, *options, share)

    output, logits = numbers(4, 3).requires_grad_(), numbers(4, 3, seed=1).requires_grad_()
    p = output.softmax(dim=1)
    t = (1 - alpha) * torch.nn.functional.one_hot(y, 3) + alpha * logits.softmax(dim=1)
    expected = ((a * t * t.log() - b * t * p.log() + c * p * p.log() - d * p * t.log()).sum(dim=1) * share).sum()
    assert_close(loss(output, logits), expected)
    assert torch.autograd.gradcheck(loss, (output, logits))
    assert torch.autograd.gradgradcheck(loss, (output, logits))
    first, second = (torch.autograd.grad(3 * loss(output, logits), logits)[0] for _ in range(2))
    assert_close(first, second)
    with torch.no_grad():
        assert_close(loss(output, logits), expected)

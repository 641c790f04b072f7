"""The loss of learned label smoothing: in few steps of small batches and with its gradients of large ones."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace.criteria import divergences, learnt_kernel
from labelspace.criteria import known as parts
from labelspace.criteria.inputs import Product, Table

SHARES = [0.25, torch.tensor([0.5, 0.0, 2.0, 0.125], dtype=torch.float64)]
TERMS = [(0.5, 0.5, 0.5, 0.5), (1.0, 0.25, 0.0, 2.0)]
Y = torch.tensor([2, 0, 1, 1])


@pytest.fixture(autouse=True, params=["small batch", "large batch"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Take every batch for a small one, or for a large one of which one or two samples fit into the cache."""
    monkeypatch.setattr(parts, "FEW", 0 if request.param == "large batch" else 2**30)
    monkeypatch.setattr(parts, "AT_A_TIME", 8)
    return str(request.param)


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def of(*given: Any) -> Tensor:
    found = learnt_kernel.learnt_terms(*given)
    assert found is not None
    return found


@pytest.mark.parametrize("share", SHARES, ids=["one share", "a share each"])
@pytest.mark.parametrize("coefficients", TERMS)
@pytest.mark.parametrize("alpha", [0.3, 1.0])
def test_rows_that_were_looked_up(share: Tensor | float, coefficients: tuple[float, ...], alpha: float) -> None:
    y, options = torch.tensor([2, 0, 1, 1]), (torch.tensor(alpha).double(), torch.tensor(coefficients).double())
    a, b, c, d = coefficients

    def loss(output: Tensor, logits: Tensor) -> Tensor:
        return of(output, logits, y, *options, share)

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


@pytest.mark.parametrize("samples", [2, 8], ids=["fewer samples than classes", "more"])
@pytest.mark.parametrize("terms", TERMS)
def test_tables_and_products(terms: tuple[float, ...], samples: int) -> None:
    classes, y = 5, torch.randint(5, (samples,), generator=torch.Generator().manual_seed(0))
    options = torch.tensor(0.3).double(), torch.tensor(terms).double()
    output, factors = numbers(samples, classes).requires_grad_(), (numbers(5, 2), numbers(2, 5))
    for made, tensors in ((Table, (factors[0] @ factors[1],)), (Product, factors)):
        learned = [each.clone().requires_grad_() for each in tensors]
        rows = (learned[0] if made is Table else learned[0] @ learned[1])[y]
        expected = of(output, rows, y, *options, 0.1)
        found = of(output, made(*learned), y, *options, 0.1)
        assert_close(found, expected)
        wanted = torch.autograd.grad(expected, [output, *learned])
        assert_close(torch.autograd.grad(found, [output, *learned]), wanted)


@pytest.mark.parametrize("alpha", [0.3, 1e-12])
@pytest.mark.parametrize("low", [-40.0, -65.0, -80.0, -200.0, -3e38])
def test_labels_that_all_but_rule_a_class_out(low: float, alpha: float, size: str) -> None:
    """A slope of ``log t`` that is no number must not become one of a gradient: the careful form takes over."""
    output, logits = numbers(4, 3).float().requires_grad_(), numbers(4, 3, seed=1).float()
    logits[:, 0] = torch.where(Y == 0, 0, low)  # of other classes
    options = torch.tensor(alpha).double(), torch.tensor(TERMS[0])
    found = learnt_kernel.learnt_terms(output, logits.requires_grad_(), Y, *options, 0.25)
    if size == "small batch" and (low <= -80 or (alpha < 1e-9 and low <= -65)):
        assert found is None
    if found is None or not found.isfinite():
        return
    expected = (divergences.learnt_terms(output, logits, Y, *options) * 0.25).sum()
    assert_close(found, expected, rtol=1e-4, atol=1e-5)
    wanted = torch.autograd.grad(expected, (output, logits))
    assert_close(torch.autograd.grad(found, (output, logits)), wanted, rtol=1e-3, atol=1e-6)

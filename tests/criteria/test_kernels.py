"""Losses with their gradients against the per-sample forms, and second derivatives."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace.criteria import kernels
from labelspace.criteria.targets import TargetRows

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


def rival(output: Tensor, target: Tensor, share: Tensor | float) -> Tensor:
    return (-(target * output.log_softmax(dim=1)).sum(dim=1) * share).sum()


@pytest.mark.parametrize("share", SHARES, ids=["one share", "a share each"])
@pytest.mark.parametrize("classes", [5, 40, 2**14])  # the last is a large batch, of which torch's own is not asked
def test_cross_entropies_of_targets(share: Tensor | float, classes: int) -> None:
    output, y = 3 * numbers(4, classes), torch.tensor([2, 0, 1, 1])
    target = 2 * numbers(4, classes, seed=1).softmax(dim=1)
    two = torch.full_like(target, 0.3).scatter(1, y.unsqueeze(1), 0.6)
    careful = lambda output: -(two * output.log_softmax(dim=1)).sum(dim=1)  # noqa: E731
    for mine, of in (
        (lambda output: kernels.soft_cross_entropy(output, target, share), target),
        (lambda output: kernels.even_cross_entropy(output, y, 0.6, 0.3, TargetRows(), share, careful), two),
    ):
        here, there = (output.clone().requires_grad_() for _ in range(2))
        first, second = mine(here), rival(there, of, share)
        assert_close(first, second)
        assert_close(torch.autograd.grad(first, here), torch.autograd.grad(second, there))
    assert kernels.LARGE in range(4 * 40, 4 * 2**14 + 1)


def test_cross_entropies_of_large_batches_differentiate_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "LARGE", 0)
    output, y, target = numbers(4, 3).requires_grad_(), torch.tensor([2, 0, 1, 1]), numbers(4, 3, seed=1).softmax(dim=1)
    two = torch.full_like(target, 0.25).scatter(1, y.unsqueeze(1), 0.5)
    careful = lambda output: -(two * output.log_softmax(dim=1)).sum(dim=1)  # noqa: E731
    soft = lambda output: kernels.soft_cross_entropy(output, target, 0.25)  # noqa: E731
    even = lambda output: kernels.even_cross_entropy(output, y, 0.5, 0.25, TargetRows(), 0.25, careful)  # noqa: E731
    for loss in (soft, even):
        assert torch.autograd.gradcheck(loss, output)
        assert torch.autograd.gradgradcheck(loss, output)


@pytest.mark.parametrize("label", [-100, -1, 3])
def test_a_label_that_is_no_class_is_an_error_of_every_form(monkeypatch: pytest.MonkeyPatch, label: int) -> None:
    monkeypatch.setattr(kernels, "LARGE", 0)
    output, y = numbers(2, 3), torch.tensor([0, label])
    careful = lambda output: output[:, 0]  # noqa: E731
    for form in (
        lambda: kernels.even_cross_entropy(output, y, 0.5, 0.25, TargetRows(), 0.5, careful),
        lambda: kernels.focal(output, y, 2.0, 0.5, careful),
        lambda: kernels.confident(output, y, 2.0, 0.5, careful),
        lambda: kernels.ranked(output, y, output.exp(), 1.0, 2.0, 0.5, careful),
    ):
        with pytest.raises((IndexError, RuntimeError)):
            form()


def test_focal_and_ranked_where_a_class_is_far_ahead_or_far_behind() -> None:
    output = torch.tensor([[200.0, 0.0, -1.0], [-200.0, 0.0, 1.0], [0.5, 0.0, 0.0]])
    y, mass = torch.tensor([0, 0, 0]), torch.tensor([[1.0, 1 / 2, 1 / 3]]).repeat(3, 1)
    exact = output.double().requires_grad_()
    log_p = exact.log_softmax(dim=1)[:, 0]
    rest = -torch.expm1(log_p)
    others = exact[:, 1:].log_softmax(dim=1)
    target = torch.tensor([0.6, 0.4], dtype=torch.float64)
    divergence = (target * (target.log() - others)).sum(dim=1)
    known_sum = float(torch.xlogy(mass[0], mass[0]).sum())
    unused = lambda output: output[:, 0]  # noqa: E731
    for expected, form in (
        (-(rest**2.5 * log_p), lambda z: kernels.focal(z, y, 2.5, 1.0, unused)),
        (0.7 * divergence - log_p, lambda z: kernels.ranked(z, y, mass, known_sum, 0.7, 1.0, unused)),
    ):
        mine = output.clone().requires_grad_()
        loss = form(mine)
        assert_close(loss, expected.sum().float())
        gradient = torch.autograd.grad(expected.sum(), exact, retain_graph=True)[0]
        assert_close(torch.autograd.grad(loss, mine)[0], gradient.float(), rtol=1e-5, atol=1e-6)

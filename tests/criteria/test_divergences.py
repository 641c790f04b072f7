"""The analytic Functions: first and second derivatives, and the corners of −inf."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from labelspace import LearnableSmoothing, MixedCrossEntropy, groups
from labelspace.criteria import divergences


def rows(count: int, width: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, width, dtype=torch.float64, generator=generator).requires_grad_()


def excess(output: Tensor) -> Tensor:
    target = torch.eye(4, dtype=torch.float64)[[0, 1, 2]]
    return divergences.probability_excess(output, target, torch.tensor(0.1, dtype=torch.float64))


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (divergences.soft_cross_entropy, (rows(3, 4, 0), rows(3, 4, 1))),
        (
            lambda z, t: divergences.entropy_terms(z, t, torch.tensor([0.3, 1.0, 0.7, 2.0])),
            (rows(3, 4, 0), rows(3, 4, 1)),
        ),
        (
            lambda z, t: divergences.entropy_terms(z, t, torch.tensor([0.0, 1.0, 0.0, 2.0])),
            (rows(3, 4, 0), rows(3, 4, 1)),
        ),
        (excess, (rows(3, 4, 0),)),
        (divergences.euclidean, (rows(3, 4, 0), rows(5, 4, 1))),
    ],
)
def test_first_and_second_derivatives(function: Callable[..., Tensor], inputs: tuple[Tensor, ...]) -> None:
    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)


def test_distances_far_from_the_origin_have_accurate_gradients() -> None:
    points, centres = rows(6, 3, 0).detach() + 1e4, rows(4, 3, 1).detach() + 1e4
    exact, single = points.clone().requires_grad_(), points.float().requires_grad_()
    weights = rows(6, 4, 2).detach()
    (divergences.euclidean(exact, centres) * weights).sum().backward()
    (divergences.euclidean(single, centres.float()) * weights.float()).sum().backward()
    torch.testing.assert_close(single.grad, exact.grad.float(), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(
    "options", [{"learn": "class"}, {"learn": "class", "preset": "paper"}, {"learn": "entry", "preset": "paper"}]
)
def test_minus_infinity_leaves_learned_targets_finite(options) -> None:  # type: ignore[no-untyped-def]
    criterion = MixedCrossEntropy(groups([["a", "b"], ["c", "d"]]), **options)
    output = torch.tensor([[1.0, 0.0, -torch.inf, 0.0]], requires_grad=True)
    loss = criterion(output, torch.tensor([0]))
    loss.backward()
    assert bool(torch.isfinite(loss))
    for parameter in criterion.parameters():
        assert bool(torch.isfinite(parameter.grad).all())


@pytest.mark.parametrize("terms", [("-H(p)",), ("-H(t)",), ("-H(p)", "H(p,t)")])
def test_terms_that_are_switched_off_meet_no_infinity(terms: tuple[str, ...]) -> None:
    criterion = LearnableSmoothing(3, terms=terms)
    output = torch.tensor([[1.0, 0.0, -torch.inf]], requires_grad=True)
    loss = criterion(output, torch.tensor([0]))
    loss.backward()
    assert bool(torch.isfinite(loss))
    assert bool(torch.isfinite(output.grad).all())
    assert bool(torch.isfinite(criterion.label_logits.grad).all())

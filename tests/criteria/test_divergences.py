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


def learnt(output: Tensor, logits: Tensor) -> Tensor:
    smoothing, weights = torch.tensor(0.3, dtype=torch.float64), torch.tensor([0.3, 1.0, 0.7, 2.0])
    return divergences.learnt_terms(output, logits, torch.tensor([0, 3, 1]), smoothing, weights)


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
        (learnt, (rows(3, 4, 0), rows(3, 4, 1))),
        (divergences.euclidean, (rows(3, 4, 0), rows(5, 4, 1))),
    ],
)
def test_first_and_second_derivatives(function: Callable[..., Tensor], inputs: tuple[Tensor, ...]) -> None:
    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)


@pytest.mark.parametrize("count", [0, 1, 7, 8])
def test_rows_taken_a_few_at_a_time_are_the_same(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> list[Tensor]:
        z, q = rows(count, 5, 0), rows(count, 5, 1)
        y = torch.arange(count) % 5
        smoothing, weights = torch.tensor(0.2, dtype=torch.float64), torch.ones(4)
        values = [
            divergences.soft_cross_entropy(z, q),
            divergences.entropy_terms(z, q, weights),
            divergences.learnt_terms(z, q, y, smoothing, weights),
        ]
        first = torch.autograd.grad(sum(value.sum() for value in values), (z, q), create_graph=True)
        second = torch.autograd.grad(sum(gradient.square().sum() for gradient in first), (z, q))
        return [*values, *first, *second]

    whole = found()
    monkeypatch.setattr(divergences, "IN_CACHE", 15)  # three rows
    torch.testing.assert_close(found(), whole, rtol=1e-14, atol=1e-12)


def test_mass_where_an_output_is_minus_infinity_costs_everything_and_no_mass_costs_nothing() -> None:
    output = torch.tensor([[0.0, -torch.inf], [0.0, -torch.inf]])
    target = torch.tensor([[1.0, 0.0], [1.0, 1e-30]])
    torch.testing.assert_close(divergences.soft_cross_entropy(output, target), torch.tensor([0.0, torch.inf]))
    torch.testing.assert_close(divergences.soft_cross_entropy(output, -target), torch.tensor([0.0, -torch.inf]))
    every = divergences.entropy_terms(output, target.log(), torch.tensor([0.0, 1.0, 0.0, 0.0]))
    torch.testing.assert_close(every, torch.tensor([0.0, torch.inf]))
    unasked = divergences.entropy_terms(output, target.log(), torch.tensor([1.0, 0.0, 1.0, 0.0]))
    torch.testing.assert_close(unasked, torch.tensor([0.0, 0.0]))


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

"""Semantic target smoothing: limits and what it needs."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from labelspace import LabelSpace, SemanticSmoothing, cost, groups, ordinal


@given(st.integers(2, 8), st.integers(0, 1000))
def test_no_smoothing_is_one_hot_exactly(count: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    output = 10 * torch.randn(9, count, generator=generator, dtype=torch.float64)
    y = torch.randint(count, (9,), generator=generator)
    torch.testing.assert_close(SemanticSmoothing(ordinal(count), smoothing=0)(output, y), cross_entropy(output, y))


@given(st.integers(2, 6), st.floats(0, 1), st.integers(0, 1000))
def test_the_loss_is_smallest_where_p_is_the_target(count: int, sigma: float, seed: int) -> None:
    criterion = SemanticSmoothing(ordinal(count), smoothing=sigma, reduction="none")
    y = torch.arange(count)
    best = criterion(ordinal(count).targets(sigma).double().clamp_min(1e-30).log(), y)
    other = criterion(torch.randn(count, count, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)), y)
    assert bool((best <= other + 1e-9).all())


def test_hand_made_example() -> None:
    # σ = 0.4 on three ordered classes, true class 0: target (0.6, 0.4·2/3, 0.4·1/3) = (0.6, 0.26667, 0.13333);
    # logits (ln 4, ln 3, ln 1) give p = (0.5, 0.375, 0.125): −Σ t ln p = 0.41589 + 0.26155 + 0.27726 = 0.95470
    output = torch.log(torch.tensor([[4.0, 3.0, 1.0]], dtype=torch.float64))
    loss = SemanticSmoothing(ordinal(3), smoothing=0.4)(output, torch.tensor([0]))
    torch.testing.assert_close(loss, torch.tensor(0.95470, dtype=torch.float64), rtol=0, atol=1e-5)


def test_any_kind_of_space_will_do() -> None:
    points = LabelSpace(("a", "b", "c"), torch.tensor([[1.0, 0], [1.0, 1.0], [0, 1.0]]), "vectors")
    for space in (points, cost([[0, 1, 4], [1, 0, 1], [4, 1, 0]])):
        criterion = SemanticSmoothing(space, smoothing=0.2)
        torch.testing.assert_close(criterion.label_space().matrix, space.relations().matrix)


def test_masked_classes_of_other_groups() -> None:
    space = groups({"pets": ["cat", "dog"], "vehicles": ["car", "bus"]})
    output = torch.tensor([[1.0, 2.0, -torch.inf, -torch.inf]], requires_grad=True)
    loss = SemanticSmoothing(space, smoothing=0.2)(output, torch.tensor([0]))
    loss.backward()
    assert bool(torch.isfinite(loss))
    assert bool(torch.isfinite(output.grad).all())


@pytest.mark.parametrize("labels", [3, ["a", "b"]])
def test_needs_a_label_space(labels: object) -> None:
    with pytest.raises(TypeError, match=r"`labels` of SemanticSmoothing must be a LabelSpace.*labelspace.ordinal"):
        SemanticSmoothing(labels)  # type: ignore[arg-type]


@pytest.mark.parametrize("samples", [3, 10])  # on both sides of what a kernel of our own is for
def test_an_order_of_many_classes_is_the_equation(samples: int) -> None:
    classes, sigma = 9000, 0.3
    criterion = SemanticSmoothing(ordinal(classes), smoothing=sigma, weight=torch.linspace(0.5, 2, classes))
    generator = torch.Generator().manual_seed(0)
    output = torch.randn(samples, classes, generator=generator, dtype=torch.float64).requires_grad_()
    y = torch.randint(classes, (samples,), generator=generator)
    y[0] = -100
    loss = criterion(output, y)
    loss.backward()
    z, weight = output.detach().numpy(), np.linspace(0.5, 2, classes)
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    expected, gradient, total = 0.0, np.zeros_like(z), weight[y[1:]].sum()
    for row in range(1, samples):
        away = np.abs(np.arange(classes) - int(y[row])).astype(float)
        spread = np.divide(1, away, out=np.zeros(classes), where=away > 0)
        target = sigma * spread / spread.sum() + (1 - sigma) * (away == 0)
        share = weight[y[row]] / total
        expected -= share * (target * np.log(p[row])).sum()
        gradient[row] = share * (p[row] - target)
    # relations and class weights are held in single precision
    torch.testing.assert_close(loss.item(), expected, rtol=1e-6, atol=0)
    torch.testing.assert_close(output.grad.numpy(), gradient, rtol=1e-4, atol=1e-9)
    with pytest.raises(ValueError, match="`y` of SemanticSmoothing must be class indices from 0 to 8999"):
        criterion(output, torch.full_like(y, classes))

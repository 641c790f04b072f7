"""Uniform smoothing against torch's own."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from labelspace import OneHot, UniformSmoothing


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("shape", [(7, 5), (3, 5, 4), (2, 5, 3, 2)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equals_torch_to_the_last_bits(
    smoothing: float, reduction: str, shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    generator = torch.Generator().manual_seed(0)
    ours = (3 * torch.randn(shape, generator=generator, dtype=dtype)).requires_grad_()
    theirs = ours.detach().clone().requires_grad_()
    y = torch.randint(5, (shape[0], *shape[2:]), generator=generator)
    y.view(-1)[1] = -100
    mine = UniformSmoothing(5, smoothing=smoothing, reduction=reduction)(ours, y)
    expected = cross_entropy(theirs, y, label_smoothing=smoothing, reduction=reduction)
    bits = 4 * torch.finfo(dtype).eps
    torch.testing.assert_close(mine, expected, rtol=bits, atol=bits)
    mine.sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=16 * bits, atol=bits)


def test_equals_torch_for_soft_targets_and_for_weighted_hard_labels() -> None:
    generator = torch.Generator().manual_seed(0)
    output = torch.randn(6, 4, generator=generator, dtype=torch.float64)
    soft = torch.softmax(torch.randn(6, 4, generator=generator, dtype=torch.float64), dim=1)
    torch.testing.assert_close(
        UniformSmoothing(4, smoothing=0.2)(output, soft), cross_entropy(output, soft, label_smoothing=0.2)
    )
    y, weight = torch.tensor([0, 1, 2, 3, 3, -100]), torch.tensor([1.0, 2.0, 0.5, 0.0], dtype=torch.float64)
    torch.testing.assert_close(OneHot(4, weight=weight).double()(output, y), cross_entropy(output, y, weight=weight))


def test_weights_do_not_leak_into_the_smoothing_mass() -> None:
    # torch weighs each entry of the soft target; ours weighs the sample. With two samples of one class the weight must
    # cancel from a mean: ours does, torch's does not.
    output, y = torch.tensor([[2.0, 0.0, -1.0], [0.5, 0.0, 0.0]]), torch.tensor([0, 0])
    weight = torch.tensor([3.0, 1.0, 0.1])
    plain = UniformSmoothing(3, smoothing=0.3)(output, y)
    torch.testing.assert_close(UniformSmoothing(3, smoothing=0.3, weight=weight)(output, y), plain)
    assert not torch.isclose(cross_entropy(output, y, weight=weight, label_smoothing=0.3), plain)


def test_label_space_gives_the_targets_of_the_loss() -> None:
    criterion = UniformSmoothing(4, smoothing=0.2)
    output, y = torch.randn(5, 4), torch.tensor([0, 1, 2, 3, 0])
    target = criterion.label_space().targets(0.2)[y]
    torch.testing.assert_close(criterion(output, y), -(target * output.log_softmax(1)).sum(1).mean())


@pytest.mark.parametrize("smoothing", [-0.1, 1.1, float("nan")])
def test_smoothing_outside_its_range(smoothing: float) -> None:
    with pytest.raises(ValueError, match=r"`smoothing` of UniformSmoothing must be a number in \[0, 1\]"):
        UniformSmoothing(3, smoothing=smoothing)
    with pytest.raises(TypeError, match="`smoothing` of UniformSmoothing must be a number"):
        UniformSmoothing(3, smoothing="0.1")  # type: ignore[arg-type]

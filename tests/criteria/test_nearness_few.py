"""The loss of adaptive labels where classes are few, against its equation."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace.criteria.nearness_few import fits, nearness_to_few

SIZES = [(6, 3, 3), (9, 4, 2), (5, 7, 30), (40, 17, 17)]  # samples, classes, dimensions


def drawn(samples: int, classes: int, width: int, far: float = 0.0) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(samples)
    output = torch.randn(samples, width, generator=generator, dtype=torch.float64) + far
    labels = torch.randn(classes, width, generator=generator, dtype=torch.float64) + far
    return output.requires_grad_(), torch.randint(classes - 1, (samples,), generator=generator), labels


def values(output: Tensor, y: Tensor, labels: Tensor, update: bool, through: bool) -> Tensor:
    """Return ``d_y + log Σ_k e^{−d_k}``, the labels of classes in the batch being their means."""
    member = torch.nn.functional.one_hot(y, len(labels)).double()
    counts = member.sum(dim=0)[:, None]
    means = member.T @ (output if through else output.detach()) / counts.clamp_min(1)
    rows = torch.where((counts > 0) & update, means, labels)
    distances = (output[:, None] - rows).square().sum(dim=2).clamp_min(1e-12).sqrt()
    return distances.gather(1, y[:, None]).squeeze(1) + torch.logsumexp(-distances, dim=1)


@pytest.mark.parametrize("far", [0.0, 1e4])
@pytest.mark.parametrize(("update", "through"), [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("size", SIZES)
def test_loss_gradient_and_means(size: tuple[int, int, int], update: bool, through: bool, far: float) -> None:
    output, y, labels = drawn(*size, far)
    careful = lambda output: values(output, y, labels, update, through)  # noqa: E731
    loss, means = nearness_to_few(output, y, labels, update, through, 0.2, careful)
    expected = careful(output).sum() * 0.2
    assert_close(loss, expected)
    wanted = torch.autograd.grad(expected, output)
    assert_close(torch.autograd.grad(loss, output, retain_graph=True), wanted, rtol=1e-6, atol=1e-8)
    assert_close(torch.autograd.grad(loss, output, create_graph=True), wanted, rtol=1e-6, atol=1e-8)
    assert means.places is not None  # the last class is never there
    assert means.places.tolist() == y.unique().tolist()
    for place, mean, count in zip(means.places, means.means, means.counts, strict=True):
        assert_close(torch.from_numpy(mean), output.detach()[y == int(place)].mean(dim=0))
        assert count == (y == int(place)).sum()


def test_a_label_that_is_no_class_is_an_error() -> None:
    output, y, labels = drawn(6, 3, 3)
    for wrong in (-1, 3):
        y[0] = wrong
        with pytest.raises(IndexError, match="no class"):
            nearness_to_few(output, y, labels, True, True, 0.2, lambda output: output)


def test_what_is_few() -> None:
    output, _, labels = drawn(6, 3, 3)
    assert fits(output, labels)
    assert not fits(output.float(), labels)
    assert not fits(torch.zeros(2**10, 2**6, dtype=torch.float64), torch.zeros(3, 2**6, dtype=torch.float64))

"""Functions that make their gradient with their values, and what they have of a softmax."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace.criteria.known import SHORT, known, likeliest, softmax


def numbers(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_gradients_are_those_that_were_given_and_second_ones_those_of_the_careful_form() -> None:
    share = torch.tensor([0.5, 2.0], dtype=torch.float64)
    quick = lambda x: (x.square().sum(dim=1), [torch.full_like(x, 7.0)])  # noqa: E731
    careful = lambda x: x.square().sum(dim=1)  # noqa: E731
    x = numbers(2, 3).requires_grad_()
    loss = known(quick, careful, share, x)
    assert_close(loss, (careful(x) * share).sum())
    given = torch.autograd.grad(loss, x, retain_graph=True)[0]
    assert_close(given, 7 * share.unsqueeze(1).expand(2, 3))  # wrong on purpose: they are taken as they are
    assert_close(torch.autograd.grad(loss, x, create_graph=True)[0], 2 * x * share.unsqueeze(1))
    with torch.no_grad():
        assert_close(known(quick, careful, 0.5, x), 0.5 * careful(x).sum())


@pytest.mark.parametrize("classes", [1, 3, SHORT, SHORT + 1, 200])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_softmax_and_its_logarithm(classes: int, far: float) -> None:
    output = (5 * numbers(4, classes) + far).float()
    found, exact = softmax(output), torch.log_softmax(output.double(), dim=1)
    assert_close(found.shifted - found.log_total, exact.float())
    assert_close(found.p, exact.exp().float(), rtol=1e-5, atol=1e-7)
    assert_close(found.top + found.shifted, output)


def test_the_likeliest_is_the_first_of_equals() -> None:
    output = torch.tensor([[1.0, 3.0, 3.0], [-torch.inf, -torch.inf, -5.0], [0.0, -0.0, -1.0]])
    assert likeliest(output.requires_grad_()).tolist() == [1, 2, 0]

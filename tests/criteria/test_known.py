"""Functions that make their gradient with their values: of small batches and large ones, once, again and twice over."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace.criteria import known as module
from labelspace.criteria.inputs import Table, table
from labelspace.criteria.known import known, likeliest
from labelspace.criteria.maths import Maths

SHARES = [0.5, torch.tensor([0.5, 2.0], dtype=torch.float64)]


@pytest.fixture(params=["small batch", "large batch"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every batch for a small one, or for a large one of which one sample fits into the cache."""
    if request.param == "large batch":
        monkeypatch.setattr(module, "FEW", 0)
        monkeypatch.setattr(module, "AT_A_TIME", 3)


def numbers(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def written(numbers: Any) -> Any:
    """Return what numpy writes into."""
    return numbers.numpy() if isinstance(numbers, Tensor) else numbers


def squares(do: Maths[Any], x: Any) -> Any:
    written(do.gradient(0))[:] = 7.0 * do.share  # wrong on purpose: it is taken as it is
    return do.dot(x, x)


def careful(x: Tensor) -> Tensor:
    return x.square().sum(dim=1)


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("share", SHARES, ids=["one share", "a share each"])
def test_gradients_are_those_that_were_given_and_second_ones_those_of_the_careful_form(share: Tensor | float) -> None:
    x, each = numbers(2, 3).requires_grad_(), torch.ones(2, 1, dtype=torch.float64)
    each = each * (share.unsqueeze(1) if isinstance(share, Tensor) else share)
    loss = known(squares, careful, None, share, x)
    assert_close(loss, (careful(x) * share).sum())
    assert_close(torch.autograd.grad(3 * loss, x, retain_graph=True)[0], 21 * each.expand(2, 3))
    assert_close(torch.autograd.grad(loss, x, retain_graph=True)[0], 7 * each.expand(2, 3))
    assert_close(torch.autograd.grad(loss, x, create_graph=True)[0], 2 * x * each)
    with torch.no_grad():
        assert_close(known(squares, careful, None, share, x), (careful(x) * share).sum())


@pytest.mark.usefixtures("size")
def test_a_second_backward_is_the_first_to_the_last_bit_and_no_input_is_changed() -> None:
    def quick(do: Maths[Any], x: Any, w: Any) -> Any:
        soft, of_w = do.softmax(x, e=do.gradient(0)), written(do.gradient(1))
        do.times_(soft.e, do.share / soft.total)
        of_w[:] = w * 2
        return np.log(soft.total)

    x, w = 5 * numbers(2, 3).requires_grad_(), numbers(2, 3)
    before = x.detach().clone()
    loss = known(quick, careful, None, 0.3, x, w)
    first, second = (torch.autograd.grad(3 * loss, x, retain_graph=True)[0] for _ in range(2))
    assert torch.equal(first, second)
    assert torch.equal(x, before)


@pytest.mark.usefixtures("size")
def test_inputs_that_do_not_lie_in_rows() -> None:
    wide = numbers(3, 2).requires_grad_()
    loss = known(squares, careful, None, 1.0, wide.T)
    assert_close(loss, wide.square().sum())
    assert_close(torch.autograd.grad(loss, wide)[0], torch.full((3, 2), 7.0, dtype=torch.float64))


@pytest.mark.usefixtures("size")
def test_what_is_not_finite_is_returned_without_a_warning() -> None:
    output = torch.tensor([[torch.inf, 0.0, 0.0], [torch.nan, 0.0, 0.0]]).requires_grad_()
    loss = known(lambda do, z: np.log(do.softmax(z, e=do.gradient(0)).total), careful, None, 1.0, output)
    assert not torch.isfinite(loss)


def test_the_likeliest_is_the_first_of_equals() -> None:
    output = torch.tensor([[1.0, 3.0, 3.0], [-torch.inf, -torch.inf, -5.0], [0.0, -0.0, -1.0]])
    assert likeliest(output.requires_grad_()).tolist() == [1, 2, 0]


Y = torch.tensor([2, 0, 2])


def rows_and_output(do: Maths[Any], z: Any, rows: Any) -> Any:
    """Return ``Σ_k z_k·rows_k``; the rows may lie where their gradient is to be, so that they are read first."""
    values, mine, of_rows = do.dot(z, rows), written(do.gradient(0)), written(do.gradient(1))
    mine[:] = (rows.numpy() if isinstance(rows, Tensor) else rows) * do.share
    of_rows[:] = (z.detach().numpy() if isinstance(z, Tensor) else z) * do.share
    return values


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("share", [0.5, torch.tensor([0.5, 2.0, 0.25], dtype=torch.float64)])
def test_a_table_is_read_and_gets_what_its_rows_get(share: Tensor | float) -> None:
    each = torch.full((3,), 0.5, dtype=torch.float64) if isinstance(share, float) else share
    z, rows = numbers(3, 4).requires_grad_(), (numbers(3, 4) + 1).requires_grad_()
    y, careful = Y.clone(), lambda z, rows: (z * rows).sum(dim=1)
    loss = known(rows_and_output, careful, y, share, z, Table(rows))
    expected = ((z * torch.nn.functional.embedding(Y, rows)).sum(dim=1) * each).sum()
    assert_close(loss, expected)
    wanted = torch.autograd.grad(expected, (z, rows), create_graph=True)
    assert_close(torch.autograd.grad(loss, (z, rows), create_graph=True), wanted)
    for _ in range(2):  # as it was computed, and again
        assert_close(torch.autograd.grad(3 * loss, (z, rows), retain_graph=True), tuple(3 * one for one in wanted))
    both = torch.tensor([1.0, -2.0], dtype=torch.float64)
    many = torch.autograd.grad(loss, (z, rows), both, is_grads_batched=True, retain_graph=True)
    assert_close(many, tuple(torch.stack([one, -2 * one]) for one in wanted))
    assert torch.autograd.grad(loss, z)[0].shape == z.shape
    with torch.no_grad():
        assert_close(known(rows_and_output, careful, Y, share, z, Table(rows)), expected)


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("label", [-1, 3, -100])
def test_a_label_that_is_no_class_finds_no_row(label: int) -> None:
    with pytest.raises((IndexError, RuntimeError)):
        known(rows_and_output, careful, torch.tensor([0, label]), 1.0, numbers(2, 4), Table(numbers(3, 4)))


def test_tables_are_plain_parameters_of_the_outputs_dtype() -> None:
    own, other = torch.nn.Parameter(numbers(3, 3)), torch.nn.Parameter(numbers(3, 3).float())
    assert table(own, numbers(2, 3)) == Table(own)
    assert table(other, numbers(2, 3)) is None
    assert table(numbers(3, 3), numbers(2, 3)) is None


def test_large_batches_stay_on_the_cpu_whatever_the_default_device_is() -> None:
    output = torch.randn(3000, 17).requires_grad_()
    try:
        torch.set_default_device("meta")
        loss = known(lambda do, z: np.log(do.softmax(z, e=do.gradient(0)).total), careful, None, 1.0, output)
    finally:
        torch.set_default_device(None)
    assert loss.is_cpu
    assert_close(loss, output.logsumexp(dim=1).sum() - output.amax(dim=1).sum(), rtol=1e-4, atol=1e-4)

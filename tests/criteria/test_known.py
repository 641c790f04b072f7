"""Functions that make their gradient with their values: of small batches and large ones, once, again and twice over."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace.criteria import known as module
from labelspace.criteria.known import Parts, known, likeliest
from labelspace.criteria.maths import Maths, Narrow, Wide

SHARES = [0.5, torch.tensor([0.5, 2.0], dtype=torch.float64)]


@pytest.fixture(params=["small batch", "large batch"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every batch for a small one, or for a large one of which one sample fits into the cache."""
    if request.param == "large batch":
        monkeypatch.setattr(module, "FEW", 0)
        monkeypatch.setattr(module, "IN_CACHE", 3)


def numbers(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def squares(do: Maths[Any], x: Any) -> Parts:
    return do.dot(x, x), [x * 0 + 7.0]  # the gradient is wrong on purpose: it is taken as it is


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
    def quick(do: Maths[Any], x: Any, w: Any) -> Parts:
        soft = do.softmax(x)
        return do.log(soft.total), [soft.e / soft.total, w * 2]

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
    loss = known(lambda do, z: (do.log(do.softmax(z).total), [z]), careful, None, 1.0, output)
    assert not torch.isfinite(loss)


FORMS = ("exp", "log", "sum", "sigmoid", "log_sigmoid", "at", "without")


@pytest.mark.parametrize("form", FORMS)
def test_both_notations_say_the_same(form: str) -> None:
    z, y = 3 * numbers(4, 5), torch.tensor([4, 0, 2, 2])
    wide, narrow = Wide(slice(None), y), Narrow(y)
    of = z.abs() if form == "log" else z
    found = torch.from_numpy(getattr(narrow, form)(np.ascontiguousarray(of.numpy().T)).T)
    assert_close(found, getattr(wide, form)(of).squeeze(1))


@pytest.mark.parametrize("form", ["put_", "add_at_", "add_", "add_product_"])
def test_both_notations_change_the_same(form: str) -> None:
    z, y = numbers(4, 5), torch.tensor([4, 0, 2, 2])
    b, c = numbers(4, 5) + 1, numbers(4, 5) - 1
    others: tuple[Any, ...] = {"put_": (2.5,), "add_at_": (2.5,), "add_": (b, -0.5), "add_product_": (b, c, -0.5)}[form]
    of_array = tuple(np.ascontiguousarray(each.numpy().T) if isinstance(each, Tensor) else each for each in others)
    array, tensor = np.ascontiguousarray(z.numpy().T), z.clone()
    assert getattr(Narrow(y), form)(array, *of_array) is array
    assert getattr(Wide(slice(None), y), form)(tensor, *others) is tensor
    assert_close(torch.from_numpy(array).T, tensor)
    assert not torch.equal(tensor, z)


@pytest.mark.parametrize("classes", [1, 3, 200])
@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("notation", [Wide(slice(None), None), Narrow(None)])
def test_softmax(classes: int, far: float, notation: Maths[Any]) -> None:
    output = (5 * numbers(4, classes) + far).float()
    exact = torch.log_softmax(output.double(), dim=1)
    narrow = isinstance(notation, Narrow)
    found = notation.softmax(np.ascontiguousarray(output.numpy().T) if narrow else output)
    shifted, e, total, top = (torch.from_numpy(each.T) if isinstance(each, np.ndarray) else each for each in found)
    if narrow:
        total, top = total.unsqueeze(1), top.unsqueeze(1)
    assert_close(shifted - total.log(), exact.float())
    assert_close(e / total, exact.exp().float(), rtol=1e-5, atol=1e-7)
    assert_close(top + shifted, output)


def test_the_likeliest_is_the_first_of_equals() -> None:
    output = torch.tensor([[1.0, 3.0, 3.0], [-torch.inf, -torch.inf, -5.0], [0.0, -0.0, -1.0]])
    assert likeliest(output.requires_grad_()).tolist() == [1, 2, 0]

"""Functions that make their gradient with their values: of small batches and large ones, once, again and twice over."""

from typing import Any

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
        monkeypatch.setattr(module, "AT_A_TIME", 3)


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


@pytest.mark.parametrize("classes", [5, 40])
@pytest.mark.parametrize("form", FORMS)
def test_both_notations_say_the_same(form: str, classes: int) -> None:
    z, y = 3 * numbers(4, classes), torch.tensor([4, 0, 2, 2])
    wide, narrow = Wide(slice(None), y), Narrow(z, y)
    of = z.abs() if form == "log" else z
    found = getattr(narrow, form)(narrow.given(of))
    assert_close(torch.from_numpy(found.T if narrow.first else found), getattr(wide, form)(of))


@pytest.mark.parametrize("classes", [5, 40])
@pytest.mark.parametrize("form", ["put_", "add_at_", "add_", "add_product_"])
@pytest.mark.parametrize("value", ["a number", "a number each"])
def test_both_notations_change_the_same(form: str, value: str, classes: int) -> None:
    z, y = numbers(4, classes), torch.tensor([4, 0, 2, 2])
    b, c, each = numbers(4, classes) + 1, numbers(4, classes) - 1, 2.5 if value == "a number" else numbers(4, 1)
    others: tuple[Any, ...] = {"add_": (b, -0.5), "add_product_": (b, c, -0.5)}.get(form, (each,))
    narrow, tensor = Narrow(z, y), z.clone()
    array = narrow.given(z.clone())
    arrays = (narrow.given(one) if isinstance(one, Tensor) else one for one in others)
    assert getattr(narrow, form)(array, *arrays) is array
    assert getattr(Wide(slice(None), y), form)(tensor, *others) is tensor
    assert_close(narrow.taken(array, 1.0), tensor)
    assert not torch.equal(tensor, z)


@pytest.mark.parametrize("classes", [1, 3, 200])
@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("narrow", [True, False])
def test_softmax(classes: int, far: float, narrow: bool) -> None:
    output = (5 * numbers(4, classes) + far).float()
    exact = torch.log_softmax(output.double(), dim=1)
    if narrow:
        do = Narrow(output, None)
        found = do.softmax(do.given(output))
        shifted, e, total, top = (torch.from_numpy(each.T if do.first else each) for each in found)
    else:
        shifted, e, total, top = Wide(slice(None), None).softmax(output)
    assert_close(shifted - total.log(), exact.float())
    assert_close(e / total, exact.exp().float(), rtol=1e-5, atol=1e-7)
    assert_close(top + shifted, output)


def test_the_likeliest_is_the_first_of_equals() -> None:
    output = torch.tensor([[1.0, 3.0, 3.0], [-torch.inf, -torch.inf, -5.0], [0.0, -0.0, -1.0]])
    assert likeliest(output.requires_grad_()).tolist() == [1, 2, 0]

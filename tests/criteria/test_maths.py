"""One notation, two ways to compute: numpy's of a few classes and of more say what torch's says."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace.criteria import maths
from labelspace.criteria.maths import Narrow, Wide


def numbers(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


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
    others: tuple[Any, ...] = {"add_": (b, -0.5 if value == "a number" else each), "add_product_": (b, c, -0.5)}.get(form, (each,))
    narrow, tensor = Narrow(z, y), z.clone()
    array = narrow.gradient(0)
    array[:] = narrow.given(z)
    arrays = (narrow.given(one) if isinstance(one, Tensor) else one for one in others)
    assert getattr(narrow, form)(array, *arrays) is array
    assert getattr(Wide(slice(None), y), form)(tensor, *others) is tensor
    assert_close(narrow.taken(0), tensor)
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


@pytest.mark.parametrize("vectors", [True, False])
def test_exponentials_are_the_same_with_numpys_vectors_and_without(
    vectors: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maths, "_vectors", lambda kind: vectors)
    output = numbers(4, 40).float()
    found = Wide(slice(None), None).exp(output)
    assert_close(found, output.double().exp().float())


def test_labels_that_are_no_class_are_refused() -> None:
    output = numbers(2, 5)
    for wrong in (-1, -100, 5):
        y = torch.tensor([0, wrong])
        with pytest.raises(IndexError, match="no class"):
            Narrow(output, y)
        with pytest.raises((IndexError, RuntimeError)):
            Wide(slice(None), y).at(output)

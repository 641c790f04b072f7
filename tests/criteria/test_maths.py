"""One notation, two ways to compute: numpy's of a few classes and of more say what torch's says."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace.criteria.maths import log_of, log_sigmoid, sigmoid
from labelspace.criteria.narrow import Narrow
from labelspace.criteria.wide import Wide


def numbers(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def laid(found: Any, do: Narrow) -> Tensor:
    """Return numpy's numbers as ``(n, …)``."""
    return torch.from_numpy(found.T if do.first else found)


@pytest.mark.parametrize("classes", [5, 40])
@pytest.mark.parametrize("form", ["without", "sum", "at"])
def test_both_notations_say_the_same(form: str, classes: int) -> None:
    z, y = 3 * numbers(4, classes), torch.tensor([4, 0, 2, 2])
    wide, narrow = Wide(slice(None), y), Narrow(z, y)
    expected = {
        "without": z.scatter(1, y[:, None], torch.finfo(z.dtype).min),
        "sum": z.sum(dim=1, keepdim=True),
        "at": z.gather(1, y[:, None]),
    }[form]
    assert_close(laid(getattr(narrow, form)(narrow.given(z)), narrow), expected)
    assert_close(torch.as_tensor(getattr(wide, form)(z)), expected)


@pytest.mark.parametrize("classes", [5, 40])
@pytest.mark.parametrize("each", [False, True], ids=["a number", "a number each"])
@pytest.mark.parametrize("form", ["put_", "add_at_", "plus_", "times_", "add_"])
def test_both_notations_change_the_same(form: str, each: bool, classes: int) -> None:
    z, b, y = numbers(4, classes), numbers(4, classes) + 1, torch.tensor([4, 0, 2, 2])
    value = numbers(4, 1) if each else torch.tensor(2.5, dtype=torch.float64)
    own = torch.nn.functional.one_hot(y, classes)
    expected = {
        "put_": torch.where(own == 1, value, z),
        "add_at_": z + own * value,
        "plus_": z + value,
        "times_": z * value,
        "add_": z + b * value,
    }[form]
    for do, given in ((Narrow(z, y), True), (Wide(slice(None), y), False)):
        into = do.gradient(0) if given else z.clone()
        if isinstance(do, Narrow):
            into[:] = do.given(z)
        factor = value.numpy().reshape(do.each if isinstance(do, Narrow) else (-1, 1)) if each else 2.5
        more = (do.given(b) if isinstance(do, Narrow) else b,) if form == "add_" else ()
        assert getattr(do, form)(into, *more, factor) is into
        assert_close(do.taken(0) if isinstance(do, Narrow) else into, expected)


@pytest.mark.parametrize("classes", [5, 40])
def test_numbers_made_of_others(classes: int) -> None:
    z, b, y = numbers(4, classes), numbers(4, classes) + 1, torch.tensor([4, 0, 2, 2])
    for do in (Narrow(z, y), Wide(slice(None), y)):
        own, other = (do.given(z), do.given(b)) if isinstance(do, Narrow) else (z, b)
        into = do.gradient(0) if isinstance(do, Narrow) else torch.empty_like(z)
        of = lambda found, do=do: laid(found, do) if isinstance(do, Narrow) else found  # noqa: E731
        assert_close(of(do.probabilities(own)), z.softmax(dim=1))
        do.probabilities(own, into)
        assert_close(of(into), z.softmax(dim=1))
        assert_close(of(do.positive(own)), z.relu())
        assert_close(of(do.difference(own, other)), z - b)
        assert_close(of(do.difference(own, other, 0.3)), z - 0.3 * b)
        assert_close(of(do.difference(own, own, 0.3)), 0.7 * z)
        assert do.times_(own, other, into) is into
        assert_close(of(do.cut_(into, do.difference(other, other, 2.0))), torch.where(b < 0, z * b, 0))
        assert_close(of(own), numbers(4, classes))  # what was given is as it was


@pytest.mark.parametrize("classes", [5, 40])
def test_products_of_every_sample(classes: int) -> None:
    b, c = numbers(4, classes) + 1, numbers(4, classes) - 1
    narrow, wide = Narrow(b, None), Wide(slice(None), None)
    for found in (narrow.dot(narrow.given(b), narrow.given(c)), wide.dot(b, c)):
        assert_close(torch.from_numpy(found).reshape(-1), (b * c).sum(dim=1))


def test_logarithms_of_what_has_lost_digits() -> None:
    with np.errstate(divide="ignore"):
        found = torch.from_numpy(log_of(np.array([1.0, 1e-29, 1e-31, 0.0], dtype=np.float32)))
    assert_close(found, torch.tensor([1.0, 1e-29, 0.0, 0.0]).log())


def test_columns_far_from_zero() -> None:
    far = numbers(5, 1) * 300
    with np.errstate(over="ignore"):
        assert_close(torch.from_numpy(sigmoid(far.numpy())), far.sigmoid())
        assert_close(torch.from_numpy(log_sigmoid(far.numpy())), torch.nn.functional.logsigmoid(far))


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
        shifted, e, total, top = (torch.as_tensor(each) for each in Wide(slice(None), None).softmax(output))
    assert_close(shifted - total.log(), exact.float())
    assert_close(e / total, exact.exp().float(), rtol=1e-5, atol=1e-7)
    assert_close(top + shifted, output)

"""Products of kernels: the same numbers by either library, for matrices that lie in any way."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace.criteria import products
from labelspace.criteria.products import product

Lay = Callable[[Tensor], Tensor]
LAYOUTS: dict[str, Lay] = {
    "rows": lambda a: a,
    "columns": lambda a: a.T.contiguous().T,
    "every other row": lambda a: torch.repeat_interleave(a, 2, dim=0)[::2],
    "every other column": lambda a: torch.repeat_interleave(a, 2, dim=1)[:, ::2],
    "a negative in name only": lambda a: torch._neg_view(-a),
}


@pytest.fixture(autouse=True, params=["as it is here", "the quicker one by name", "torch's own"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Take what the machine has, or one of both whatever it has."""
    clear = products._quicker.cache_clear
    clear()
    if request.param != "as it is here":
        capability = "AVX512" if request.param.startswith("the quicker") else "DEFAULT"
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    yield request.param
    clear()


def drawn(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize("shape", [(128, 64, 200), (1, 5000, 300), (3000, 1, 400), (2, 3, 4), (0, 3, 4)])
def test_products_are_right(shape: tuple[int, int, int]) -> None:
    n, d, k = shape
    a, b = drawn(n, d), drawn(d, k)
    with torch.no_grad():
        assert_close(product(a, b), (a.double() @ b.double()).float(), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("shape", [(128, 64, 200), (2, 3, 4)])
def test_what_is_added(shape: tuple[int, int, int]) -> None:
    n, d, k = shape
    a, b, more = drawn(n, d), drawn(d, k), drawn(k)
    with torch.no_grad():
        assert_close(product(a, b, more), a @ b + more, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("second", LAYOUTS)
@pytest.mark.parametrize("first", LAYOUTS)
def test_matrices_that_lie_in_any_way(first: str, second: str) -> None:
    a, b = drawn(130, 70), drawn(70, 210)
    with torch.no_grad():
        assert_close(product(LAYOUTS[first](a), LAYOUTS[second](b)), a @ b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("special", [torch.nan, torch.inf])
def test_what_is_not_finite_stays_so(special: float) -> None:
    a, b = drawn(130, 70), drawn(70, 210)
    a[3, 5] = special
    with torch.no_grad():
        assert_close(product(a, b).isfinite(), (a @ b).isfinite())


@pytest.mark.parametrize("shape", [(128, 64, 200), (2, 3, 4)])
def test_the_precision_is_that_of_the_matrices_also_inside_autocast(shape: tuple[int, int, int]) -> None:
    n, d, k = shape
    a, b, more = drawn(n, d), drawn(d, k), drawn(k)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        found = product(a, b, more)
    assert_close(found, (a.double() @ b.double() + more).float(), rtol=1e-4, atol=1e-4)


def test_doubles_keep_their_digits() -> None:
    a, b = drawn(130, 70).double(), drawn(70, 210).double()
    with torch.no_grad():
        assert_close(product(a, b), a @ b)


def test_gradients_are_torchs() -> None:
    a, b = drawn(130, 70).double().requires_grad_(), drawn(70, 210).double().requires_grad_()
    found = torch.autograd.grad(product(a, b).square().sum(), (a, b))
    assert_close(found, torch.autograd.grad((a @ b).square().sum(), (a, b)))


def test_who_turns_onednn_off_does_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*given: Any) -> Tensor:
        raise AssertionError("it was turned off")

    monkeypatch.setattr(products, "_quicker", lambda: never)
    a, b = drawn(130, 70), drawn(70, 210)
    with torch.no_grad():
        with pytest.raises(AssertionError, match="turned off"):
            product(a, b)
        torch._C._set_mkldnn_enabled(False)  # its context manager warns of devices that are not here
        try:
            assert_close(product(a, b), a @ b)
        finally:
            torch._C._set_mkldnn_enabled(True)

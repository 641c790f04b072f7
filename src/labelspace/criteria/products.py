"""Products of matrices for kernels, by oneDNN where the processor has vectors of 512 bits.

``a @ b`` is MKL's, which has such vectors only for processors of its maker. Torch brings oneDNN too, which has them for
all: on others it takes half of the time.
"""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

LEAST = 2**20  # multiplications from which oneDNN's longer way to begin is made good


def product(a: Tensor, b: Tensor, more: Tensor | None = None) -> Tensor:
    """Return ``a @ b + more``, in the precision that they come in; differentiable where gradients are recorded.

    Args:
        a: ``(n, d)``.
        b: ``(d, k)``.
        more: ``(k,)``.
    """
    quicker = None
    if a.dtype is torch.float32 and a.numel() * b.shape[1] >= LEAST and not torch.is_grad_enabled():
        quicker = _quicker() if torch.backends.mkldnn.enabled and a.is_cpu and _is_dense(a) and _is_dense(b) else None
    if quicker is not None:
        return quicker(a, b.T, more, "none", [], "")
    if not a.is_meta and torch.is_autocast_enabled(a.device.type):  # as where somebody goes back inside it
        with torch.autocast(a.device.type, enabled=False):
            return _torchs(a, b, more)
    return _torchs(a, b, more)


def _torchs(a: Tensor, b: Tensor, more: Tensor | None) -> Tensor:
    return a @ b if more is None else torch.addmm(more, a, b)


def _is_dense(matrix: Tensor) -> bool:
    """Return whether one row, or one column, lies right behind the other."""
    return matrix.is_contiguous() or matrix.T.is_contiguous()


@cache
def _quicker() -> Callable[..., Tensor] | None:
    """Return what gives ``a @ w.T`` by oneDNN, which torch does not promise to keep; None where it does not do so."""
    there = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if not there or torch.backends.cpu.get_cpu_capability() != "AVX512":
        return None
    found: Callable[..., Tensor] | None = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
    one = torch.ones(2, 2, device="cpu", dtype=torch.float32)
    try:
        right = found is not None and torch.equal(found(one, one, one[0], "none", [], ""), 2 * one + 1)
    except Exception:  # another release has another signature
        right = False
    return found if right else None

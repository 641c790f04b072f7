"""A device that is not there: its tensors say so, and real numbers are computed for them on the CPU.

An operation that meets two devices fails, as on a real one. What would make the CPU wait for the device (reading a
number, an output whose size depends on numbers, a copy that is not asked for through ``_devices.moved``) fails where
``waiting_is_wrong``, and where ``narrow`` so does float64, which Apple's devices do not have.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from labelspace import _devices
from labelspace.training import config

NAME = "pretended"
aten = torch.ops.aten
READ = (aten._local_scalar_dense.default, aten.equal.default)
SIZED_BY_NUMBERS = (
    aten.nonzero.default,
    aten.masked_select.default,
    aten.bincount.default,
    aten._unique2.default,
    aten.unique_dim.default,
    aten.repeat_interleave.Tensor,
)
INDEXED = (aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default)
COPIES = (aten._to_copy.default, aten.copy_.default)


def tell_torch() -> None:
    """Let torch know of the device; it does not forget."""
    from torch.utils import backend_registration

    module = backend_registration._DummyBackendModule()
    module.get_amp_supported_dtype = lambda: [torch.bfloat16, torch.float16]
    backend_registration._setup_privateuseone_for_python_backend(NAME, module)
    torch.__future__.set_overwrite_module_params_on_conversion(True)


class There(Tensor):
    """A tensor on the device; ``inner`` holds its numbers."""

    @staticmethod
    def __new__(cls, inner: Tensor) -> "There":
        form: dict[str, Any] = {"strides": inner.stride(), "storage_offset": inner.storage_offset()}
        return Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=f"{NAME}:0", **form)

    def __init__(self, inner: Tensor) -> None:
        self.inner = inner

    def __repr__(self) -> str:
        return f"There({self.inner})"

    def __reduce_ex__(self, protocol: Any) -> Any:  # a checkpoint is loaded to the CPU
        return self.inner.__reduce_ex__(protocol)

    @property
    def data(self) -> Tensor:
        return self.detach()

    @data.setter
    def data(self, value: "There") -> None:
        self.inner = value.inner

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
        raise AssertionError(f"{function} outside of the pretence")


class Pretence(TorchDispatchMode):
    """While it lasts, the device is there."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting_is_wrong = self.narrow = self.moving = False

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
        keywords = dict(keywords or {})
        tensors = [leaf for leaf in tree_leaves((arguments, keywords)) if isinstance(leaf, Tensor)]
        there = [tensor for tensor in tensors if isinstance(tensor, There)]
        wanted = keywords.get("device")
        result_is_there = bool(there) if wanted is None else torch.device(wanted).type == NAME
        self._check(function, tensors, there, arguments, result_is_there)
        if wanted is not None and torch.device(wanted).type == NAME:
            keywords["device"] = torch.device("cpu")
        results = function(*tree_map(_inner, arguments), **tree_map(_inner, keywords))
        same = {id(_inner(tensor)): tensor for tensor in tensors} if function._schema.is_mutable else {}
        if function in READ or not result_is_there:
            return tree_map(lambda each: same.get(id(each), each), results)
        return tree_map(lambda each: same[id(each)] if id(each) in same else self._there(each), results)

    def _there(self, inner: Any) -> Any:
        if not isinstance(inner, Tensor):
            return inner
        if self.narrow and inner.dtype == torch.float64:
            raise TypeError("float64 on a device that has none")
        return There(inner)

    def _check(
        self, function: Any, tensors: list[Tensor], there: list[There], arguments: Any, result_is_there: bool
    ) -> None:
        here = [tensor for tensor in tensors if not isinstance(tensor, There) and tensor.ndim]
        if function in COPIES:
            across = bool(there) != result_is_there or bool(there and here)
            waits = across and not self.moving
        else:
            if there and here and function not in INDEXED:
                raise AssertionError(f"{function} of tensors on two devices")
            masks = [one for one in tree_leaves(arguments[1:2]) if _is_tensor(one) and one.dtype == torch.bool]
            indexed = bool(there) and function in INDEXED and bool(here or masks)
            waits = indexed or (bool(there) and function in (*READ, *SIZED_BY_NUMBERS))
        if waits and self.waiting_is_wrong:
            raise AssertionError(f"{function} makes the CPU wait for the device")


def _inner(value: Any) -> Any:
    return value.inner if isinstance(value, There) else value


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


@contextmanager
def pretence(narrow: bool = False) -> Iterator[Pretence]:
    """Let the library find the device, and copy to it without waiting through ``_devices.moved`` alone."""
    mode, moved, available, names = Pretence(), _devices.moved, _devices.available, config.DEVICES

    def told(tensor: Tensor, device: torch.device) -> Tensor:
        mode.moving = True
        try:
            return moved(tensor, device)
        finally:
            mode.moving = False

    mode.narrow = narrow
    _devices.moved, _devices.available = told, lambda: ["cpu", NAME]
    config.DEVICES = type("Any", (), {"fullmatch": lambda self, text: text in ("cpu", NAME) or None})()
    _devices.NARROW |= {NAME} if narrow else set()
    torch._C._set_only_lift_cpu_tensors(True)  # so that torch.tensor(…, device=…) is seen, too
    try:
        with mode:
            yield mode
    finally:
        _devices.moved, _devices.available, config.DEVICES = moved, available, names
        _devices.NARROW -= {NAME}
        torch._C._set_only_lift_cpu_tensors(False)


@contextmanager
def without_waiting(mode: Pretence) -> Iterator[None]:
    """Let everything fail that would wait for the device."""
    mode.waiting_is_wrong = True
    try:
        yield
    finally:
        mode.waiting_is_wrong = False

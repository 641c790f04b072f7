"""What a criterion holds and training does not change: numbers among its options, and tensors such as relations."""

from collections.abc import Callable
from typing import Unpack

import torch
from torch import Tensor, nn

from labelspace import _checks, _devices

IGNORED_BY_DDP = "_ddp_params_and_buffers_to_ignore"  # where torch's DistributedDataParallel looks, in what it wraps


class OptionsModule(nn.Module):
    """A module with float options, which keep their values whatever it is cast to, and with constants.

    DistributedDataParallel sends buffers to all ranks before each forward pass; these it leaves alone where it wraps
    this module or a ``Learner``. Ranks have the same ones because they build the same criterion.
    """

    def __init__(self) -> None:
        """Start without any."""
        super().__init__()
        self.float_options: dict[str, float] = {}
        setattr(self, IGNORED_BY_DDP, [])

    def number(self, name: str) -> Tensor | float:
        """Return a float option as a number where it can be looked at, which saves a kernel for each use of it."""
        value = self._buffers[name]
        assert value is not None
        return value.item() if _devices.may_look_at(value) and not value.requires_grad else value

    def value(self, name: str) -> float:
        """Return a float option that may be looked at; a module looks long for an attribute that is a buffer."""
        held = self._buffers[name]
        assert held is not None
        return held.item()

    def option(self, name: str, value: object, **interval: Unpack[_checks.Interval]) -> None:
        """Register a float option as a 0-dim float64 tensor under its own name, so that vmap can run many values."""
        checked = _checks.number(type(self).__name__, name, value, **interval)
        self.constant(name, torch.tensor(checked, dtype=torch.float64), persistent=False)
        self.float_options = {**self.float_options, name: checked}

    def constant(self, name: str, value: Tensor | None, persistent: bool = True) -> None:
        """Register a buffer that training never changes; it moves and is saved like any other."""
        self.register_buffer(name, value, persistent)
        getattr(self, IGNORED_BY_DDP).append(name)

    def constants(self) -> list[Tensor]:
        """Return the tensors that training never changes, single numbers aside."""
        held = [self._buffers[name] for name in getattr(self, IGNORED_BY_DDP)]
        return [tensor for tensor in held if tensor is not None and tensor.ndim > 0]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "OptionsModule":
        options = {id(self._buffers[name]): value for name, value in self.float_options.items()}

        def kept(tensor: Tensor) -> Tensor:
            if id(tensor) in options:
                device = fn(tensor.to(torch.float32)).device  # which can go anywhere
                if tensor.is_meta:
                    return torch.tensor(options[id(tensor)], dtype=_devices.wide(device), device=device)
                there = _devices.widest(tensor, device)
                # back from a device without float64, the digits that it could not hold
                exact = torch.tensor(options[id(tensor)], dtype=there.dtype)
                back = there.dtype != tensor.dtype and exact.to(tensor.dtype).item() == tensor.item()
                return exact.to(device) if back else there
            moved = fn(tensor)
            half = moved.dtype in (torch.float16, torch.bfloat16)
            return tensor.to(moved.device) if half else moved

        super()._apply(kept, recurse)  # type: ignore[no-untyped-call]
        return self


def ignored_by_ddp(part: nn.Module, place: str) -> list[str]:
    """Return what DistributedDataParallel leaves alone of a part of a module.

    Args:
        part: any module.
        place: its name in the one around it.
    """
    return [f"{place}.{name}" for name in getattr(part, IGNORED_BY_DDP, [])]

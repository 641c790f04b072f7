"""Parameters of which every process holds a part, as after ``torch.distributed.fsdp.fully_shard``."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

Result = TypeVar("Result")


def is_sharded(tensor: Tensor) -> bool:
    """Return whether a tensor is a part of one, by the word for the whole that such tensors have."""
    return hasattr(tensor, "full_tensor")  # importing their class costs more than importing this library


@contextmanager
def whole(module: nn.Module) -> Iterator[None]:
    """Let a module hold whole parameters for a while; every process that has a part of them comes here.

    What is learned meanwhile is lost: these are copies.
    """
    held: list[tuple[nn.Module, str, nn.Parameter]] = []
    try:
        for part in module.modules():
            for name, parameter in part._parameters.items():
                if parameter is not None and is_sharded(parameter):
                    held.append((part, name, parameter))
                    full: Any = parameter
                    part._parameters[name] = nn.Parameter(full.full_tensor().detach(), parameter.requires_grad)
        yield
    finally:
        for part, name, parameter in held:
            part._parameters[name] = parameter


def with_whole_parameters(method: Callable[..., Result]) -> Callable[..., Result]:
    """Return a method of a module that finds whole parameters where it is called."""

    @functools.wraps(method)
    def wrapped(self: nn.Module, *arguments: object, **keywords: object) -> Result:
        with whole(self):
            return method(self, *arguments, **keywords)

    return wrapped


def put(value: Tensor, parameter: nn.Parameter) -> None:
    """Give a parameter other numbers, or this process's part of them; the object stays, for optimisers to go on with.

    Args:
        value: all of it, the same on every process.
        parameter: a whole one, or a part.
    """
    value = value.detach().to(parameter.device, parameter.dtype)
    if not is_sharded(parameter):
        parameter.data = value  # not copied into: the graph of the last loss may still hold the old numbers
        return
    from torch.distributed.tensor import DTensor, distribute_tensor

    assert isinstance(parameter, DTensor)
    part = distribute_tensor(value, parameter.device_mesh, parameter.placements, src_data_rank=None)
    with torch.no_grad():
        parameter.copy_(part)  # losses are of the whole, which was gathered for them

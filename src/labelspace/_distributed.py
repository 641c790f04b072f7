"""The only place that talks to other processes.

Every function is the identity (or 0, or 1) where no process group with more than one rank is running.
"""

import os

import torch
import torch.distributed as dist
from torch import Tensor

AVAILABLE = dist.is_available()


def join(device: torch.device) -> bool:
    """Join the process group that torchrun describes, if there is one; return whether this call did.

    Args:
        device: where this rank's learner will be. NCCL knows tensors on cuda only, so gloo stays for the others.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) < 2 or not dist.is_available() or dist.is_initialized():
        return False
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo")
    return True


def leave() -> None:
    """Leave the process group."""
    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()


def world_size() -> int:
    """Return the number of ranks."""
    return dist.get_world_size() if AVAILABLE and dist.is_initialized() else 1


def rank() -> int:
    """Return this process's rank."""
    return dist.get_rank() if dist.is_available() and dist.is_initialized() else 0


def sum_over_ranks(tensor: Tensor) -> Tensor:
    """Return the sum over ranks, without gradient."""
    if world_size() == 1:
        return tensor.detach()
    total = tensor.detach().clone()
    dist.all_reduce(total)
    return total


def differentiable_sum_over_ranks(tensor: Tensor) -> Tensor:
    """Return the sum over ranks; its gradient is the sum over ranks of the gradients."""
    if world_size() == 1:
        return tensor
    total = _AllReduce.apply(tensor)  # type: ignore[no-untyped-call]
    assert isinstance(total, Tensor)
    return total


class _AllReduce(torch.autograd.Function):
    # S = Σ_r s_r enters the loss of every rank, so ∂(Σ_r loss_r)/∂s_r = Σ_r ∂loss_r/∂S: an all-reduce again.

    @staticmethod
    def forward(tensor: Tensor) -> Tensor:
        total = tensor.detach().clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def setup_context(ctx: object, inputs: tuple[Tensor], output: Tensor) -> None:
        pass

    @staticmethod
    def backward(ctx: object, gradient: Tensor) -> Tensor:
        return differentiable_sum_over_ranks(gradient.contiguous())


def merge_rows(seen: Tensor, tables: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
    """Return tables in which every row comes from the highest rank that has seen it.

    A sample may be met by two ranks (samplers pad the last batch), so adding rows up would be wrong. The highest, since
    after a checkpoint rank 0 holds the older rows of all.

    Args:
        seen: ``(rows,)`` bool, the rows this rank has written.
        tables: tensors whose first axis is the rows.
    """
    if world_size() == 1:
        return seen, tables
    owner = torch.where(seen, rank(), -1)
    dist.all_reduce(owner, op=dist.ReduceOp.MAX)
    mine = owner == rank()
    merged = {}
    for name, table in tables.items():
        own = torch.where(mine.reshape(-1, *[1] * (table.ndim - 1)), table, torch.zeros_like(table))
        dist.all_reduce(own)
        merged[name] = own
    return owner >= 0, merged


def wait() -> None:
    """Wait until every rank has come here."""
    if world_size() > 1:
        dist.barrier()

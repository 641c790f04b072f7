"""The only place that talks to other processes.

Every function is the identity (or 0, or 1) where no process group with more than one rank is running.
"""

import os
import threading
import warnings
from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from labelspace import _checks

AVAILABLE = dist.is_available()
LOST = "lost"  # stands for a process group that a pickle could not hold
PATIENCE = 60.0  # seconds after which a rank that waits for the first time says what for
WAITING = "A criterion waits for the other ranks, to take its mean over all of them."
REMEDY = (
    "Every rank of its process_group calls it in every training step. Where only some ranks have a loss (the last stage"
    " of a pipeline), or some have more batches than others (torch's Join), build it with global_mean=False, or with"
    " process_group= of those that train together."
)


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


def running() -> bool:
    """Return whether there are other processes at all, asked with as little as possible."""
    return AVAILABLE and dist.is_initialized()


class Ranks:
    """The processes that train together: all there are, or those of one process group.

    A copy shares the group. A pickle cannot hold it, and says so before it would wait for other ranks than these.

    Args:
        group: of ``torch.distributed``; None for all processes.
    """

    def __init__(self, group: object = None) -> None:
        """Hold the group; nobody has been waited for yet."""
        if not (group is None or group == LOST or _is_group(group)):
            expected = "a group of torch.distributed: what new_group(ranks) or mesh.get_group() returns"
            raise _checks.fail_type("a criterion", "process_group", expected, type(group).__name__)
        self.group: Any = group
        self.met = False

    def __deepcopy__(self, memo: dict[int, object]) -> "Ranks":
        """Return ranks of the same group, which cannot be copied."""
        return Ranks(self.group)

    def __reduce__(self) -> tuple[type["Ranks"], tuple[object]]:
        """Leave the group out, but for the fact that there was one."""
        return Ranks, (None if self.group is None else LOST,)

    def size(self) -> int:
        """Return the number of ranks; a process outside the group is alone."""
        if not running():
            return 1
        if self.group == LOST:
            remedy = "A pickle cannot hold it: set criterion.ranks.group = group."
            raise _checks.fail("a criterion", "process_group", "given again after unpickling", None, remedy)
        return max(dist.get_world_size(self.group), 1)

    def rank(self) -> int:
        """Return this process's rank among them."""
        return max(dist.get_rank(self.group), 0) if self.size() > 1 else 0

    def sum(self, *tensors: Tensor) -> list[Tensor]:
        """Return the sums over ranks, without gradient: tensors of one dtype in one collective."""
        if self.size() == 1:
            return [tensor.detach() for tensor in tensors]
        found = [tensor.detach() for tensor in tensors]
        for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):
            places = [place for place, tensor in enumerate(tensors) if tensor.dtype == dtype]
            flat = _flat([found[place] for place in places])
            self.all_reduce(flat)
            for place, total in zip(places, _like(flat, [found[place] for place in places]), strict=True):
                found[place] = total
        return found

    def differentiable_sum(self, *tensors: Tensor) -> list[Tensor]:
        """Return the sums over ranks in one collective; their gradient is the sum over ranks of the gradients."""
        if self.size() == 1:
            return list(tensors)
        total = _AllReduce.apply(_flat(tensors), self)  # type: ignore[no-untyped-call]
        assert isinstance(total, Tensor)
        return _like(total, tensors)

    def merge_rows(self, seen: Tensor, tables: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """Return tables in which every row comes from the highest rank that has seen it.

        A sample may be met by two ranks (samplers pad the last batch), so adding rows up would be wrong. The highest,
        since after a checkpoint rank 0 holds the older rows of all.

        Args:
            seen: ``(rows,)`` bool, the rows this rank has written.
            tables: tensors whose first axis is the rows.
        """
        if self.size() == 1:
            return seen, tables
        owner = torch.where(seen, self.rank(), -1)
        self.all_reduce(owner, dist.ReduceOp.MAX)
        mine = owner == self.rank()
        merged = {}
        for name, table in tables.items():
            own = torch.where(mine.reshape(-1, *[1] * (table.ndim - 1)), table, torch.zeros_like(table))
            self.all_reduce(own)
            merged[name] = own
        return owner >= 0, merged

    def all_reduce(self, tensor: Tensor, operation: Any = None) -> None:
        """Replace a tensor by what it is over all ranks; say in words what a rank waits for.

        Args:
            tensor: the same shape on every rank.
            operation: of ``torch.distributed``; the sum if left out.
        """
        operation = dist.ReduceOp.SUM if operation is None else operation
        if torch.compiler.is_compiling():
            dist.all_reduce(tensor, operation, group=self.group)
            return
        _refuse_join()
        # who calls alone, as the last stage of a pipeline does, calls alone from the start
        watch = None if self.met else threading.Timer(PATIENCE, warnings.warn, [f"{WAITING} {REMEDY}"])
        if watch is not None:
            watch.daemon = True
            watch.start()
        try:
            dist.all_reduce(tensor, operation, group=self.group)
            self.met = True
        except RuntimeError as error:
            error.add_note(f"This was a sum over ranks in a training step of labelspace. {REMEDY}")
            raise
        finally:
            if watch is not None:
                watch.cancel()


def _is_group(group: object) -> bool:
    """Return whether this is what torch gives to the ranks of a group, or to others."""
    return AVAILABLE and (isinstance(group, dist.ProcessGroup) or group == dist.GroupMember.NON_GROUP_MEMBER)


class _AllReduce(torch.autograd.Function):
    # S = Σ_r s_r enters the loss of every rank, so ∂(Σ_r loss_r)/∂s_r = Σ_r ∂loss_r/∂S: an all-reduce again.

    @staticmethod
    def forward(tensor: Tensor, ranks: Ranks) -> Tensor:
        total = tensor.detach().clone()
        ranks.all_reduce(total)
        return total

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Ranks], output: Tensor) -> None:
        ctx.ranks = inputs[1]

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.ranks.differentiable_sum(gradient.contiguous())[0], None


def _refuse_join() -> None:
    """Refuse a sum inside of torch's Join, which mends the collectives of DistributedDataParallel alone."""
    wrapped = torch.nn.parallel.DistributedDataParallel._get_active_ddp_module()  # type: ignore[no-untyped-call]
    if wrapped is not None and wrapped._join_config.enable:
        expected = "False under torch's Join: a rank without inputs would not take part in the mean"
        raise _checks.fail("a criterion", "global_mean", expected, True)


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    """Return a new row of all entries."""
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


def _like(flat: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return the entries in their shapes again."""
    parts = torch.split(flat, [tensor.numel() for tensor in tensors])
    return [part.reshape(tensor.shape) for part, tensor in zip(parts, tensors, strict=True)]


ALL = Ranks()


def world_size() -> int:
    """Return the number of ranks."""
    return ALL.size()


def rank() -> int:
    """Return this process's rank."""
    return ALL.rank()


def sum_over_ranks(tensor: Tensor) -> Tensor:
    """Return the sum over all ranks, without gradient."""
    return ALL.sum(tensor)[0]


def wait() -> None:
    """Wait until every rank has come here."""
    if world_size() > 1:
        dist.barrier()

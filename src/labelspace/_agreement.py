"""Whether labels are the same on all ranks, asked in a sum over ranks that is taken anyway.

Parameters of a criterion that is outside the module which ``DistributedDataParallel`` wraps get the gradients of their
own rank alone, and constants such as relations are sent to nobody. What has wrapped what cannot be seen from inside;
that numbers differ can.
"""

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from labelspace._distributed import Ranks

MOST = 2**16  # entries of a parameter that are looked at
EXACT = 2**24  # up to here whole numbers in single precision are exact


class Agreement:
    """Asks at the first, second, fourth, eighth … sum over ranks, and says it once."""

    def __init__(self) -> None:
        """Start where nothing was asked."""
        self.asked = 0
        self.told = False

    def summed(self, totals: Tensor, ranks: Ranks, owner: str, held: Sequence[Tensor]) -> tuple[Tensor, int]:
        """Return the sums over ranks of ``(n,)`` totals, and the number of ranks.

        Args:
            totals: of this rank, in single precision or better.
            ranks: that take part.
            owner: the method.
            held: what should be the same on all of them: parameters of labels, and constants, which nobody sends.
        """
        held = [tensor for tensor in held if _is_whole(tensor)]
        if not held or not _may_ask(totals):
            return ranks.sum(totals)[0], ranks.size()
        self.asked += 1
        asking = self.asked & (self.asked - 1) == 0  # a power of two; at other steps nothing waits for a device
        if asking:
            marks = [totals.new_ones(1), _mark(held, EXACT // ranks.size()).to(totals).reshape(1)]
        else:
            marks = [totals.new_zeros(2)]
        mine = torch.cat([totals, *marks])
        found = ranks.sum(mine)[0]
        if asking and not self.told and int(found[-2]) == ranks.size():
            self.told = bool(found[-1] != ranks.size() * mine[-1])
            if self.told:
                warnings.warn(_words(owner), stacklevel=2)
        return found[:-2], ranks.size()


def _is_whole(tensor: Tensor) -> bool:
    return not (hasattr(tensor, "device_mesh") or tensor.is_meta)  # a part of what ranks have together differs


def _may_ask(totals: Tensor) -> bool:
    if torch.compiler.is_compiling() or torch._C._functorch.peek_interpreter_stack() is not None:
        return False
    return not (totals.is_cuda and torch.cuda.is_current_stream_capturing())


def _mark(held: Sequence[Tensor], limit: int) -> Tensor:
    """Return a whole number below a limit that nearly always differs where any of the entries looked at does."""
    found = torch.zeros((), dtype=torch.int64, device=held[0].device)
    for tensor in held:
        flat = tensor.detach().reshape(-1)
        flat = flat[:: -(-len(flat) // MOST) or 1].contiguous()
        bits = flat.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[flat.element_size()]).long()
        # odd factors: a bit that differs anywhere is a number that differs
        odd = 2 * torch.arange(len(bits), device=bits.device) + 1
        found = found * 31 + (bits * odd * 0x9E3779B1 >> 13).sum().to(found.device)
    return found.remainder(limit)


def _words(owner: str) -> str:
    return (
        f"{owner} has other labels on this rank than on others. Its parameters are outside of the module that"
        " DistributedDataParallel wraps: wrap labelspace.Learner(model, criterion) instead of the model. Or it was"
        " built of other numbers, such as relations: build it of the same ones on every rank."
    )

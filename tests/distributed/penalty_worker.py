"""One rank: the loss and gradients of a free mixture on its share of the batch, averaged over ranks as DDP does.

Run as ``penalty_worker.py RANK WORLD RENDEZVOUS OUT``. With a world of one it has the whole batch of a mean, and takes
the average of both shares for a sum, which is each rank's own.
"""

import sys

import torch
import torch.distributed as dist
from torch import Tensor

from labelspace import MixedCrossEntropy, ordinal

IGNORED = -100
# the last two samples, which are the second rank's, count or do not: a rank may have nothing to add
BATCHES = {"both ranks": [0, 1, IGNORED, 2, 1, 0], "first rank only": [0, 1, 2, 2, IGNORED, IGNORED]}
FIRST = 4


SHARES = (slice(0, FIRST), slice(FIRST, None))


def step(labels: list[int], learn: str, reduction: str, rank: int, world: int) -> dict[str, Tensor]:
    criterion = MixedCrossEntropy(
        ordinal(3), smoothing=0.3, learn=learn, preset="paper", reduction=reduction, weight=[0.5, 2.0, 1.0]
    ).double()
    output = torch.randn(len(labels), 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    whole = (slice(None),) if reduction == "mean" else SHARES
    mine = (SHARES[rank],) if world > 1 else whole
    loss = torch.stack([criterion(output[part], torch.tensor(labels)[part]) for part in mine]).mean()
    loss.backward()
    found = {"loss": loss.detach(), **{name: p.grad for name, p in criterion.named_parameters() if p.grad is not None}}
    if world > 1:
        for value in found.values():
            dist.all_reduce(value)
            value /= world
    return found


def main(rank: int, world: int, rendezvous: str, out: str) -> None:
    if world > 1:
        dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=world)
    cases = [(b, learn, r) for b in BATCHES for learn in ("class", "entry") for r in ("mean", "sum")]
    torch.save({"/".join(case): step(BATCHES[case[0]], *case[1:], rank, world) for case in cases}, out)
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])

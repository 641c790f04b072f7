"""One rank: trains every method inside DistributedDataParallel on its share of the batch and saves what came out.

Run as ``worker.py RANK WORLD RENDEZVOUS OUT``. With a world of one it is the single process to compare with.
"""

import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from contract.harness import METHODS, Inputs, mixed_up, weighted
from labelspace import Learner
from labelspace.criteria import criterion_class

STEPS = 6
EPOCH = 4  # steps; the checkpoint after step 3 leaves statistics pending


class TwoLayers(nn.Module):
    """A small model that shows its features."""

    def __init__(self, inputs: int, features: int, outputs: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, features)
        self.head = nn.Linear(features, outputs)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        features = torch.tanh(self.first(x))
        return self.head(features), features


def batch(method: str) -> Inputs:
    """Return mixup targets, weights and ignored samples where the method takes them, repeated to twelve samples."""
    return mixed_up(method) if criterion_class(method).soft_targets else weighted(method)


def build(inputs: Inputs) -> Learner:
    torch.manual_seed(0)
    width = inputs.extras["features"].shape[1] if "features" in inputs.extras else 5
    return Learner(TwoLayers(6, width, inputs.criterion.output_dim).double(), inputs.fresh().criterion)


def train(method: str, rank: int, world: int, resume: bool) -> dict[str, Tensor]:
    inputs = batch(method)
    count = len(inputs.y) // world
    mine = slice(rank * count, (rank + 1) * count)
    x = torch.randn(len(inputs.y), 6, dtype=torch.float64, generator=torch.Generator().manual_seed(7))
    extras = {name: value[mine] for name, value in inputs.extras.items() if name != "features"}
    learner = build(inputs)
    call = DistributedDataParallel(learner) if world > 1 else learner
    optimiser = torch.optim.SGD(learner.parameters(), lr=0.2, momentum=0.9)
    losses = []
    for step in range(STEPS):
        loss = call(x[mine] * (1 + 0.2 * step), inputs.y[mine], **extras)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if world > 1:
            dist.all_reduce(loss.detach_())
            loss = loss / world
        losses.append(loss.detach())
        if (step + 1) % EPOCH == 0:
            learner.end_epoch()
        if resume and step == 2:
            learner.gather()
            saved = [learner.state_dict()]
            if world > 1:  # any rank's checkpoint holds everything
                dist.broadcast_object_list(saved, src=1)
            learner.load_state_dict(saved[0])
    learner.gather()
    return {
        "losses": torch.stack(losses),
        **{name: value.clone() for name, value in learner.state_dict().items()},
    }


def main(rank: int, world: int, rendezvous: str, out: Path) -> None:
    if world > 1:
        dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=world)
    results = {f"{m}/{resume}": train(m, rank, world, resume) for m in METHODS for resume in (False, True)}
    torch.save(results, out)
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))

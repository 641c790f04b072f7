"""One rank: what others do with a learner's state. Shards and casts it, checkpoints it, sends it, skips a bad batch.

Run as ``states_worker.py RANK WORLD RENDEZVOUS OUT``. With a world of one it is the single process to compare with.
"""

import sys
import warnings
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import checkpoint
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.state_dict import get_model_state_dict, set_model_state_dict
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from contract.harness import METHODS, Inputs, plain
from distributed.worker import TwoLayers
from labelspace import LearnableSmoothing, Learner

STEPS = 3
Result = dict[str, Any]


def build(inputs: Inputs, seed: int = 0) -> Learner:
    torch.manual_seed(seed)
    width = inputs.extras["features"].shape[1] if "features" in inputs.extras else 5
    return Learner(TwoLayers(6, width, inputs.criterion.output_dim).double(), inputs.fresh().criterion)


def single(method: str) -> Inputs:
    """Return the method's example; of the one that can prune what it learns, in that form."""
    inputs = plain(method)
    if method == "lls":
        criterion = LearnableSmoothing(list("abcd"), smoothing=0.3, top=1, prune_after=1).double()
        criterion.label_logits.data = torch.randn(4, 4, generator=torch.Generator().manual_seed(0)).double()
        return Inputs(criterion, inputs.output, inputs.y, inputs.extras)
    return inputs


def train(call: Any, learner: Learner, inputs: Inputs, rank: int, world: int, bad: int | None = None) -> list[Tensor]:
    """Train some steps on this rank's share; one of them may hold a sample that is not finite, and is skipped."""
    dtype = next(learner.model.parameters()).dtype
    x = torch.randn(len(inputs.y), 6, dtype=torch.float64, generator=torch.Generator().manual_seed(7)).to(dtype)
    count = len(inputs.y) // world
    mine = slice(rank * count, (rank + 1) * count)
    extras = {name: value[mine] for name, value in inputs.extras.items() if name != "features"}
    optimiser = torch.optim.SGD(learner.parameters(), lr=0.2)
    losses = []
    for step in range(STEPS):
        spoilt = x * (1 + 0.2 * step)
        if step == bad:
            spoilt[0] = torch.nan
        loss = call(spoilt[mine], inputs.y[mine], **extras)
        optimiser.zero_grad()
        loss.backward()
        if step != bad:
            optimiser.step()
        loss = loss.detach()
        if world > 1:
            dist.all_reduce(loss)
        losses.append(loss / world)
    return losses


def labels_of(learner: Learner) -> Result:
    targets = learner.criterion.target_matrix()
    space = learner.criterion.label_space().tensors
    return {**space, **({} if targets is None else {"targets": targets})}


def sharded(method: str, rank: int, world: int, folder: Path, bfloat16: bool) -> Result:
    """Train shards, save and load them in the middle of an epoch, and end it."""
    inputs = single(method)
    learners = [build(inputs, seed) for seed in (0, 1)]
    for learner in learners:
        if bfloat16:
            learner.bfloat16()
            if world > 1:
                fully_shard(learner.criterion)  # label parameters stay in single precision
        if world > 1:
            fully_shard(learner)
    one, two = learners
    losses = train(one, one, inputs, rank, world)
    if world > 1:
        one.criterion.gather()
        planner = DefaultSavePlanner(dedup_save_to_lowest_rank=True)
        checkpoint.save(get_model_state_dict(one), checkpoint_id=folder, planner=planner)
        state = get_model_state_dict(two)
        checkpoint.load(state, checkpoint_id=folder)
        set_model_state_dict(two, state)
    else:
        two.load_state_dict(one.state_dict())
    two.end_epoch()
    return {"losses": torch.stack(losses), **labels_of(two)}


def skipped(method: str, rank: int, world: int) -> Result:
    """Train with a sample that is not finite on one of the ranks."""
    inputs = plain(method)
    learner = build(inputs)
    call = DistributedDataParallel(learner) if world > 1 else learner
    losses = train(call, learner, inputs, rank, world, bad=1)
    learner.end_epoch()
    return {"losses": torch.stack([losses[0], losses[2]]), **learner.state_dict()}


def sent(method: str) -> Result:
    """Return what DistributedDataParallel sends before a forward pass, and what there is."""
    inputs = plain(method)
    learner = build(inputs)
    call, numbers, broadcast = DistributedDataParallel(learner), [0], dist._broadcast_coalesced

    def counting(group: Any, tensors: list[Tensor], *rest: Any) -> None:
        numbers[0] += sum(tensor.numel() for tensor in tensors)
        broadcast(group, tensors, *rest)

    dist._broadcast_coalesced = counting
    try:
        train(call, learner, inputs, dist.get_rank(), 2)
    finally:
        dist._broadcast_coalesced = broadcast
    held = {name: buffer.numel() for name, buffer in learner.named_buffers()}
    return {"numbers": numbers[0] / STEPS, "names": list(call.named_module_buffers), "held": held}


def main(rank: int, world: int, rendezvous: str, out: Path) -> None:
    warnings.simplefilter("ignore")
    if world > 1:
        dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=world)
    results: dict[str, Result] = {}
    for method in METHODS:
        for name, half in (("sharded", False), ("bfloat16", True)):
            folder = Path(rendezvous).parent / f"{method}-{name}"
            results[f"{method}/{name}"] = sharded(method, rank, world, folder, half)
        results[f"{method}/skipped"] = skipped(method, rank, world)
        if world > 1:
            results[f"{method}/sent"] = sent(method)
    torch.save(results, out)
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))

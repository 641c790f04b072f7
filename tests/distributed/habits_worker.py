"""One of three ranks: 0 and 2 train together, 1 is alone. What they find is saved for the test to judge.

Run as ``habits_worker.py RANK RENDEZVOUS OUT``.
"""

import copy
import pickle
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

import labelspace
from contract.harness import METHODS, Inputs, plain
from labelspace import LabelEmbedding, LearnableSmoothing, Learner, OneHot, OnlineSmoothing, _distributed

PAIR, ALONE = (0, 2), 1
Found = dict[str, Any]


def share(inputs: Inputs, rank: int) -> Inputs:
    """Return one rank's part of a batch, which is the smaller part on the first."""
    return inputs.rows(slice(0, 3) if rank == 0 else slice(3, None))


@contextmanager
def heard() -> Iterator[list[str]]:
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield said
    said += [str(one.message) for one in caught]


def counting(what: Callable[[], object]) -> int:
    real, calls = dist.all_reduce, []

    def counted(*arguments: Any, **keywords: Any) -> Any:
        calls.append(1)
        return real(*arguments, **keywords)

    dist.all_reduce = counted
    try:
        what()
    finally:
        dist.all_reduce = real
    return len(calls)


def losses(group: Any, rank: int) -> Found:
    """Return every method's loss and gradient by reduction, and how often ranks met in it."""
    found: Found = {}
    for method in METHODS:
        for reduction in ("mean", "sum", "none"):
            mine = share(plain(method), rank)
            mine.criterion.ranks.group, mine.criterion.reduction = group, reduction
            output = mine.output.detach().requires_grad_()
            loss: list[Tensor] = []
            met = [
                counting(lambda mine=mine, output=output, loss=loss: loss.append(mine.loss(output=output))),
                counting(lambda loss=loss: loss[0].sum().backward()),
                counting(lambda mine=mine: without_training(mine)),
            ]
            found[f"{method}/{reduction}"] = {"loss": loss[0].detach(), "gradient": output.grad, "met": met}
    return found


def without_training(inputs: Inputs) -> None:
    with torch.no_grad():
        inputs.loss()
    inputs.criterion.eval()
    inputs.loss()


def last_stage(group: Any) -> Tensor:
    """Return the loss of a rank that trains alone, whose group is itself."""
    criterion = OnlineSmoothing(3, process_group=group)
    loss = criterion(torch.zeros(2, 3, requires_grad=True), torch.tensor([0, 1]))
    criterion.end_epoch()
    return loss.detach()


def stranger(pair: Any) -> Tensor:
    """Return the loss of a rank that was given the group of others."""
    return OneHot(2, process_group=pair)(torch.zeros(2, 2, requires_grad=True), torch.tensor([0, 1])).detach()


def delayed() -> Tensor:
    """Return how many calls were counted where ranks keep to themselves."""
    criterion = LabelEmbedding(3, in_features=2, delay=5, global_mean=False)
    for _ in range(2):
        criterion(torch.zeros(2, 3), torch.tensor([0, 1]), features=torch.zeros(2, 2))
    return criterion.calls_seen


def copies(group: Any) -> Found:
    criterion = OneHot(3, process_group=group)
    thawed = pickle.loads(pickle.dumps(criterion))
    refused = ""
    try:
        thawed(torch.zeros(2, 3), torch.tensor([0, 1]))
    except ValueError as error:
        refused = str(error)
    return {"same group": copy.deepcopy(criterion).ranks.group is group, "refused": refused}


def checkpoint(group: Any, rank: int) -> Found:
    """Observe, save on the first rank alone, then together; go on from it, and commit."""
    own = share(plain("ols"), rank)
    own.criterion.ranks.group = group
    found: Found = {}
    own.loss(output=own.output.clone().requires_grad_())
    with heard() as said:
        if rank == 0:
            found["observed"] = own.criterion.state_dict()["statistics.mass"]
            own.criterion.state_dict()
    found["said"] = said
    with heard() as said:
        own.criterion.gather()
        state = own.criterion.state_dict()
    found["together"], found["said together"] = state["statistics.mass"].clone(), said
    own.criterion.load_state_dict(state)
    own.loss(output=own.output.clone().requires_grad_())
    own.criterion.end_epoch()
    found["committed"] = own.criterion.label_matrix
    return found


def outside(group: Any, rank: int, wrapped: bool) -> Found:
    """Return what is said in four steps with the criterion outside of what is wrapped, or inside."""
    torch.manual_seed(0)
    criterion = LearnableSmoothing(4, process_group=group)
    learner = Learner(nn.Linear(5, 4), criterion)
    inside: Any = DistributedDataParallel(learner if wrapped else learner.model, process_group=group)
    optimizer = torch.optim.SGD(learner.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(rank)
    with heard() as said:
        for _ in range(4):
            x, y = torch.randn(6, 5, generator=generator), torch.randint(4, (6,), generator=generator)
            optimizer.zero_grad()
            (inside(x, y) if wrapped else criterion(inside(x), y)).backward()
            optimizer.step()
    return {"said": said, "labels": criterion.label_logits.detach()}


def other_relations(group: Any, rank: int) -> list[str]:
    """Return what is said where ranks were built of different label spaces, which nobody sends."""
    space = labelspace.permuted(labelspace.ordinal(4), seed=rank // 2)
    learner = Learner(nn.Linear(5, 4), labelspace.SemanticSmoothing(space, process_group=group))
    inside = DistributedDataParallel(learner, process_group=group)
    with heard() as said:
        for _ in range(2):
            inside(torch.zeros(6, 5), torch.zeros(6, dtype=torch.long)).backward()
    return said


def joined(group: Any, rank: int, global_mean: bool) -> str:
    """Train with twice the batches on the second rank; return the words in which that is refused."""
    learner = Learner(nn.Linear(4, 3), OneHot(3, global_mean=global_mean, process_group=group))
    inside = DistributedDataParallel(learner, process_group=group)
    try:
        with Join([inside]):
            for _ in range(1 + rank):
                inside(torch.zeros(2, 4), torch.tensor([0, 1])).backward()
    except ValueError as error:
        return str(error)
    return ""


def waiting(group: Any, rank: int) -> list[str]:
    """Return what the first rank says while the second is late."""
    _distributed.PATIENCE = 0.2
    criterion = OneHot(3, process_group=group)
    with heard() as said:
        time.sleep(0 if rank == 0 else 1.0)
        criterion(torch.zeros(2, 3), torch.tensor([0, 1]))
    return said


def left(group: Any) -> str:
    """Return what a rank is told whose other rank has gone."""
    try:
        OneHot(3, process_group=group)(torch.zeros(2, 3), torch.tensor([0, 1]))
    except RuntimeError as error:
        return " ".join(getattr(error, "__notes__", []))
    return ""


def main(rank: int, rendezvous: str, out: str) -> None:
    limit = timedelta(seconds=60)
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=3, timeout=limit)
    pair, alone = dist.new_group(list(PAIR), timeout=limit), dist.new_group([ALONE], timeout=limit)
    found: Found = {}
    if rank == ALONE:
        found |= {"last stage": last_stage(alone), "delayed": delayed(), "stranger": stranger(pair)}
    else:
        found |= {"losses": losses(pair, rank), "copies": copies(pair), "checkpoint": checkpoint(pair, rank)}
        found |= {"outside": outside(pair, rank, False), "inside": outside(pair, rank, True)}
        found |= {"other relations": other_relations(pair, rank), "same relations": other_relations(pair, 0)}
        found |= {"joined": [joined(pair, rank, kind) for kind in (True, False)], "waiting": waiting(pair, rank)}
        dist.barrier(pair)
        found["left"] = left(pair) if rank == 0 else ""
    torch.save(found, out)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])

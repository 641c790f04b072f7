"""The same runs by one process and by two ranks: ``ddp_worker.py FOLDER METHOD…`` writes what each of the three found.

It forks instead of starting Python anew, and never trains itself: a process with threads cannot be forked.
"""

import os
import sys
import traceback

import torch
import torch._dynamo  # as every optimizer does: once for all three
import torch.distributed as dist

from labelspace.training.run import train

OPTIONS = {"model": "mlp-16", "epochs": 3, "limit": 205, "batch_size": 50, "precision": "float64", "weight_decay": 1e-3}
# forms of a method besides its default, by a name of their own
FORMS = {
    "lwal-printed": {"method": "lwal", "method_options": {"preset": "paper", "every": 2, "repel": 1e-3}},
    "lls-pruned": {"method": "lls", "method_options": {"top": 2, "prune_after": 1}},
    "head-l2": {"method": "onehot", "head_l2": 0.05},
    "seen-inputs": {"model": "table", "model_options": {"width": 16, "bins": 4, "dropout": 0.0}},
}


def work(rank: int, world: int, folder: str, methods: list[str]) -> None:
    if world > 1:
        dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=world)
    results = {}
    for method in methods:
        augment = [] if method == "lwr" else ["mixup:0.4"]
        run = train("digits", augment=augment, **{**OPTIONS, **FORMS.get(method, {"method": method})})
        losses = torch.tensor([[line["train_loss"], line["validation_nll"]] for line in run.epochs])
        results[method] = {"losses": losses.double(), **run.weights}
    torch.save(results, f"{folder}/out-{rank}-of-{world}.pt")
    if world > 1:
        dist.destroy_process_group()


def forked(rank: int, world: int, folder: str, methods: list[str]) -> int:
    """Start one of the three; return its number."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work(rank, world, folder, methods)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


if __name__ == "__main__":
    children = [forked(rank, world, sys.argv[1], sys.argv[2:]) for rank, world in ((0, 1), (0, 2), (1, 2))]
    sys.exit(max([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children]))

"""One rank of a distributed training run: ``ddp_worker.py RANK WORLD RENDEZVOUS OUT METHOD…``."""

import sys

import torch
import torch.distributed as dist

from labelspace.training.run import train

OPTIONS = {"model": "mlp-16", "epochs": 3, "limit": 205, "batch_size": 50, "precision": "float64", "weight_decay": 1e-3}
# forms of a method besides its default, by a name of their own
FORMS = {
    "lwal-printed": {"method": "lwal", "method_options": {"preset": "paper", "every": 2, "repel": 1e-3}},
    "lls-pruned": {"method": "lls", "method_options": {"top": 2, "prune_after": 1}},
    "head-l2": {"method": "onehot", "head_l2": 0.05},
}


def main(rank: int, world: int, rendezvous: str, out: str, methods: list[str]) -> None:
    if world > 1:
        dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=world)
    results = {}
    for method in methods:
        augment = [] if method == "lwr" else ["mixup:0.4"]
        run = train("digits", augment=augment, **{**OPTIONS, **FORMS.get(method, {"method": method})})
        losses = torch.tensor([[line["train_loss"], line["validation_nll"]] for line in run.epochs])
        results[method] = {"losses": losses.double(), **run.weights}
    torch.save(results, f"{out}-{rank}-of-{world}.pt")
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:])

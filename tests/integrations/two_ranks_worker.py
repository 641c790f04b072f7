"""One of two ranks: every adapter trains its share of each batch, without a stop and resumed in mid-epoch.

Run as ``worker.py RANK WORLD FOLDER``; what came out is in ``FOLDER/RANK.pt``.
"""

import copy
import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import accelerate
import torch
import torch.distributed as dist
import transformers
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset

from integrations import test_huggingface, test_lightning
from integrations.plain import DECAY, MAKE, METHODS, RATE, batches, network, samples, state
from integrations.torchvision_stand_in import stand_in
from labelspace import Learner
from labelspace.integrations.accelerate import keep_statistics
from labelspace.integrations.huggingface import LabelTrainer
from labelspace.integrations.lightning import LabelCallback

Found = dict[str, Tensor]
EPOCHS, SIZE, STOP = 3, 12, 6  # four steps each; the checkpoint is in the middle of the second
MASKED = [0, 1, 2, 3, 20, 31]  # more of them on the first rank


def labelled() -> tuple[Tensor, Tensor]:
    x, y = samples()
    return x, y.index_fill(0, torch.tensor(MASKED), -100)


def mine(rank: int, world: int) -> tuple[Tensor, Tensor]:
    """Return this rank's part of every batch, in order."""
    parts = [part.reshape(-1, world, SIZE // world, *part.shape[1:])[:, rank].flatten(0, 1) for part in labelled()]
    return parts[0], parts[1]


def by_trainer(method: str, rank: int, world: int, folder: Path) -> dict[str, Found]:
    def trainer(**more: Any) -> Any:
        # micro-batches of three, of which two and two ranks are a step
        sizes = {"per_device_train_batch_size": 3, "gradient_accumulation_steps": 2}
        sizes = {"per_device_train_batch_size": 6} if method == "lwal" else sizes
        settings = test_huggingface.arguments(folder, num_train_epochs=EPOCHS, **sizes, **more)
        data = test_huggingface.dataset(*labelled())
        return LabelTrainer(test_huggingface.Answers(), settings, criterion=MAKE[method](), train_dataset=data)

    whole = trainer(save_strategy="steps", save_steps=STOP)
    whole.train()
    resumed = trainer()
    resumed.train(resume_from_checkpoint=str(folder / f"checkpoint-{STOP}"))
    return {"whole": test_huggingface.found(whole), "resumed": test_huggingface.found(resumed)}


def by_lightning(method: str, rank: int, world: int, folder: Path) -> dict[str, Found]:
    def fitted(callbacks: list[Any], **more: Any) -> Found:
        module = test_lightning.Classifier(method)
        settings = {"devices": world, "strategy": "ddp", "use_distributed_sampler": False, "max_epochs": EPOCHS}
        run = test_lightning.trainer(folder, callbacks=callbacks, **settings)
        loader = test_lightning.Resumable(TensorDataset(*mine(rank, world)), batch_size=SIZE // world)
        run.fit(module, loader, **more)
        return module.found()

    path = folder / "saved.ckpt"
    whole = fitted([LabelCallback(), test_lightning.SaveAfter(STOP, path)])
    return {"whole": whole, "resumed": fitted([LabelCallback()], ckpt_path=path, weights_only=False)}


def by_accelerate(method: str, rank: int, world: int, folder: Path) -> dict[str, Found]:
    def trained(resume: bool) -> Found:
        accelerator = accelerate.Accelerator(cpu=True)
        learner: Any = Learner(network(), MAKE[method]())
        optimizer: Any = torch.optim.AdamW(learner.parameter_groups(DECAY), lr=RATE)
        loader: Any = DataLoader(TensorDataset(*labelled()), batch_size=SIZE // world)
        learner, optimizer, loader = accelerator.prepare(learner, optimizer, loader)
        keep_statistics(accelerator)
        if resume:
            accelerator.load_state(str(folder / "state"))
        for step in range(STOP if resume else 0, 4 * EPOCHS):
            x, y = list(loader)[step % 4]
            accelerator.backward(learner(x, y))
            optimizer.step()
            optimizer.zero_grad()
            if not resume and step + 1 == STOP:
                accelerator.save_state(str(folder / "state"))
            if (step + 1) % 4 == 0:
                accelerator.unwrap_model(learner).end_epoch()
        plain = accelerator.unwrap_model(learner)
        return state(plain.model, plain.criterion)

    return {"whole": trained(False), "resumed": trained(True)}


def by_timm(method: str, rank: int, world: int, folder: Path) -> dict[str, Found]:
    import timm.optim

    from labelspace.integrations.timm import LabelTask

    parts = batches(*mine(rank, world), SIZE // world)
    saved: dict[str, Any] = {}

    def trained(resume: bool) -> Found:
        task: Any = LabelTask(network(), MAKE[method](), verbose=False)
        module = task.get_trainable_module()
        optimizer = timm.optim.create_optimizer_v2(module, opt="adamw", lr=RATE, weight_decay=DECAY)
        task.prepare_distributed()
        if resume:
            task.load_checkpoint_state(saved["task"]["state_dict"], saved["task"]["task_state"])
            optimizer.load_state_dict(saved["optimizer"])
        for step in range(STOP if resume else 0, 4 * EPOCHS):
            optimizer.zero_grad()
            task(*parts[step % 4])["loss"].backward()
            optimizer.step()
            if not resume and step + 1 == STOP:
                task.criterion.gather()
                saved.update(copy.deepcopy({"task": task.get_checkpoint_state(), "optimizer": optimizer.state_dict()}))
            if (step + 1) % 4 == 0:
                task.end_epoch()
        return state(module.model, module.criterion)

    return {"whole": trained(False), "resumed": trained(True)}


ADAPTERS: dict[str, Callable[..., dict[str, Found]]] = {
    "accelerate": by_accelerate,
    "huggingface": by_trainer,
    "lightning": by_lightning,
    "timm": by_timm,
}


def main(rank: int, world: int, folder: Path) -> None:
    results = {}
    stand_in()  # timm wants a torchvision that loads
    for adapter, train in ADAPTERS.items():
        for method in METHODS:
            place = folder / adapter / method
            place.mkdir(parents=True, exist_ok=True)
            results[f"{adapter}/{method}"] = train(method, rank, world, place)
    torch.save(results, folder / f"{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    # adapters bring ranks together and wrap what learns: nobody is told of it
    warnings.filterwarnings("error", "state_dict|.* has other labels", category=UserWarning)
    transformers.utils.logging.set_verbosity_error()
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))

"""A LightningModule with a criterion trains what a plain loop trains: accumulated, saved and resumed."""

import logging
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset

from integrations.plain import (
    DECAY,
    MAKE,
    METHODS,
    RATE,
    assert_same,
    batches,
    network,
    plain_loop,
    samples,
    state,
)
from labelspace import InputError, Learner

lightning = pytest.importorskip("lightning.pytorch")
from labelspace.integrations.lightning import LabelCallback  # noqa: E402

# what Lightning says of machines with few cores, of runs without logs and of its own use of torch
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*does not have many workers"),
    pytest.mark.filterwarnings("ignore:.*number of training batches"),
    pytest.mark.filterwarnings("ignore:.*exists and is not empty"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:lightning"),
    pytest.mark.filterwarnings("ignore::FutureWarning:lightning"),
]
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Classifier(lightning.LightningModule):
    """As anybody would write it."""

    def __init__(self, method: str, forgets: bool = False) -> None:
        super().__init__()
        self.learner = Learner(network(), MAKE[method]())
        self.forgets = forgets

    def training_step(self, batch: tuple[Tensor, Tensor], index: int) -> Tensor:
        return self.learner(*batch)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        if self.forgets:
            return torch.optim.SGD(self.learner.model.parameters(), lr=0.1)
        return torch.optim.AdamW(self.learner.parameter_groups(DECAY), lr=RATE)

    def found(self) -> dict[str, Tensor]:
        return state(self.learner.model, self.learner.criterion)


class Resumable(DataLoader[tuple[Tensor, ...]]):
    """A loader that goes on where it was, in order, as those of torchdata do."""

    start = at = 0

    def __iter__(self) -> Any:
        start, self.start = self.start, 0
        for place, batch in enumerate(super().__iter__()):
            if place >= start:
                self.at = place + 1
                yield batch

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at % len(self)}

    def load_state_dict(self, saved: dict[str, int]) -> None:
        self.start = saved["at"]


def trainer(folder: Path, **more: Any) -> Any:
    settings = {
        "accelerator": "cpu",
        "devices": 1,
        "max_epochs": 5,
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "default_root_dir": str(folder),
        "callbacks": [LabelCallback()],
    }
    return lightning.Trainer(**{**settings, **more})


def loader(size: int = 12) -> Resumable:
    return Resumable(TensorDataset(*samples()), batch_size=size)


@pytest.mark.parametrize("method", METHODS)
def test_twenty_steps_are_those_of_a_plain_loop(method: str, tmp_path: Path) -> None:
    module = Classifier(method)
    run = trainer(tmp_path)
    run.fit(module, loader())
    assert run.global_step == 20
    assert_same(module.found(), plain_loop(network(), MAKE[method](), batches(*samples(), 12), epochs=5))


@pytest.mark.parametrize("method", ["lls", "ols"])
def test_accumulated_batches_are_one_large_batch(method: str, tmp_path: Path) -> None:
    module = Classifier(method)
    trainer(tmp_path, max_epochs=3, accumulate_grad_batches=3).fit(module, loader(4))
    assert_same(module.found(), plain_loop(network(), MAKE[method](), batches(*samples(), 12), epochs=3))


class SaveAfter(lightning.Callback):
    """Save a checkpoint after one step, in the middle of an epoch."""

    def __init__(self, step: int, path: Path) -> None:
        self.step, self.path = step, path

    def on_train_batch_end(self, trainer: Any, *rest: object) -> None:
        if trainer.global_step == self.step:
            trainer.save_checkpoint(self.path)


# all methods on two ranks; after eight steps all batches of an epoch were there, and it has not ended
@pytest.mark.parametrize(("method", "step"), [("lls", 6), ("ols", 6), ("lwal", 6), ("ols", 8)])
def test_resumed_it_ends_as_if_nothing_had_happened(method: str, step: int, tmp_path: Path) -> None:
    path, whole, resumed = tmp_path / "saved.ckpt", Classifier(method), Classifier(method)
    trainer(tmp_path, max_epochs=3, callbacks=[LabelCallback(), SaveAfter(step, path)]).fit(whole, loader())
    run = trainer(tmp_path, max_epochs=3)
    run.fit(resumed, loader(), ckpt_path=path, weights_only=False)
    assert run.global_step == 12
    assert_same(resumed.found(), whole.found(), 1e-7)


def test_labels_outside_the_optimizer_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"without label_logits of LearnableSmoothing. Return .*parameter_groups"):
        trainer(tmp_path).fit(Classifier("lls", forgets=True), loader())


def test_a_module_without_a_criterion_is_refused(tmp_path: Path) -> None:
    module = Classifier("onehot")
    module.learner = Learner(network(), MAKE["onehot"]()).model  # type: ignore[assignment]
    module.configure_optimizers = lambda: torch.optim.SGD(module.parameters(), lr=0.1)  # type: ignore[method-assign]
    with pytest.raises(InputError, match="`pl_module` of LabelCallback must be a module with a criterion"):
        trainer(tmp_path).fit(module, loader())


def test_pictures_go_to_the_loggers(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from lightning.pytorch.loggers import TensorBoardLogger
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    logger = TensorBoardLogger(str(tmp_path))
    trainer(tmp_path, max_epochs=2, logger=logger, callbacks=[LabelCallback(pictures=True)]).fit(
        Classifier("ols"), loader()
    )
    events = EventAccumulator(logger.log_dir).Reload()
    assert [image.step for image in events.Images("learner.criterion")] == [4, 8]

"""A learner under Accelerate trains what a plain loop trains: accumulated, saved and resumed."""

from collections.abc import Iterator
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
    SPLIT,
    assert_same,
    batches,
    network,
    plain_loop,
    samples,
    state,
)
from labelspace import InputError, Learner
from labelspace.integrations.accelerate import keep_statistics

accelerate = pytest.importorskip("accelerate")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Start without what another Accelerator has settled."""
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)
    accelerate.state.GradientState._reset_state()
    yield
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)
    accelerate.state.GradientState._reset_state()


class Training:
    """Everything that Accelerate prepares."""

    def __init__(self, method: str, size: int, accumulate: int = 1) -> None:
        self.accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=accumulate)
        learner = Learner(network(), MAKE[method]())
        optimizer = torch.optim.AdamW(learner.parameter_groups(DECAY), lr=RATE)
        loader = DataLoader(TensorDataset(*samples()), batch_size=size)
        self.learner, self.optimizer, self.loader = self.accelerator.prepare(learner, optimizer, loader)
        keep_statistics(self.accelerator)

    def epoch(self, skip: int = 0, save: tuple[int, Path] | None = None) -> None:
        loader: Any = accelerate.skip_first_batches(self.loader, skip) if skip else self.loader
        for step, (x, y) in enumerate(loader):
            with self.accelerator.accumulate(self.learner):
                self.accelerator.backward(self.learner(x, y))
                self.optimizer.step()
                self.optimizer.zero_grad()
            if save is not None and step == save[0]:
                self.accelerator.save_state(str(save[1]))
        self.accelerator.unwrap_model(self.learner).end_epoch()

    def state(self) -> dict[str, Tensor]:
        learner = self.accelerator.unwrap_model(self.learner)
        return state(learner.model, learner.criterion)


@pytest.mark.parametrize("method", METHODS)
def test_twenty_steps_are_those_of_a_plain_loop(method: str) -> None:
    training = Training(method, 12)
    for _ in range(5):
        training.epoch()
    assert_same(training.state(), plain_loop(network(), MAKE[method](), batches(*samples(), 12), epochs=5))


@pytest.mark.parametrize("method", SPLIT)
def test_accumulated_batches_are_one_large_batch(method: str) -> None:
    training = Training(method, 4, accumulate=3)
    for _ in range(3):
        training.epoch()
    assert_same(training.state(), plain_loop(network(), MAKE[method](), batches(*samples(), 12), epochs=3))


@pytest.mark.parametrize("method", METHODS)
def test_resumed_in_mid_epoch_it_ends_as_if_nothing_had_happened(method: str, tmp_path: Path) -> None:
    whole = Training(method, 12)
    whole.epoch()
    whole.epoch(save=(1, tmp_path))
    whole.epoch()
    resumed = Training(method, 12)
    resumed.accelerator.load_state(str(tmp_path))
    resumed.epoch(skip=2)
    resumed.epoch()
    assert_same(resumed.state(), whole.state(), 1e-7)


def test_it_can_be_undone(tmp_path: Path) -> None:
    accelerator = accelerate.Accelerator(cpu=True)
    keep_statistics(accelerator).remove()
    assert not accelerator._save_model_state_pre_hook


def test_what_is_no_accelerator_is_refused() -> None:
    with pytest.raises(InputError, match="`accelerator` of keep_statistics must be an Accelerator. Got Learner"):
        keep_statistics(Learner(network(), MAKE["onehot"]()))

"""Layers that look at training inputs: once, before the first step, and never again."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import labelspace
from labelspace.models import fit_inputs
from labelspace.models.seen import MOST
from labelspace.training.run import Run


class Seen(nn.Module):
    """Remembers the mean of what it was shown, and counts how often."""

    mean: Tensor
    times: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(()))
        self.register_buffer("times", torch.zeros(()))

    def fit_inputs(self, x: Tensor) -> None:
        self.mean.copy_(x.mean())
        self.times += 1

    def forward(self, x: Tensor) -> Tensor:
        return x - self.mean


def network(input_shape: tuple[int, ...], output_dim: int) -> nn.Module:
    return nn.Sequential(Seen(), nn.Linear(input_shape[0], output_dim))


def test_nothing_is_taken_where_no_layer_asks() -> None:
    def never(rows: Tensor) -> Tensor:
        raise AssertionError(rows)

    fit_inputs(nn.Linear(2, 2), 10, never)
    fit_inputs(network((2,), 2), 0, never)


@pytest.mark.parametrize("count", [1, MOST, MOST + 1, 3 * MOST])
def test_of_very_many_samples_some_are_shown_from_first_to_last(count: int) -> None:
    taken: list[Tensor] = []

    def take(rows: Tensor) -> Tensor:
        taken.append(rows)
        return torch.zeros(len(rows), 2)

    fit_inputs(network((2,), 2), count, take)
    (rows,) = taken
    assert rows[0] == 0
    assert len(rows) <= MOST
    assert len(rows.unique()) == len(rows)
    assert count - rows[-1] <= 3


def test_a_network_of_ones_own_sees_training_inputs_alone_and_its_record_keeps_them(tmp_path: Path) -> None:
    x = torch.arange(120.0).reshape(60, 2)
    data = {"train": (x[:30], torch.arange(30) % 3), "test": (x[30:], torch.arange(30) % 3)}
    run = labelspace.train(data, model=network, epochs=2, out=tmp_path)
    state = run.weights
    assert float(state["model.module.0.times"]) == 1
    assert abs(float(state["model.module.0.mean"])) < 1e-6  # standardised by the training part
    assert run.folder is not None
    loaded = Run.load(run.folder)
    torch.testing.assert_close(loaded.weights, state, rtol=0, atol=0)

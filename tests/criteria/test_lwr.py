"""Retrospection against a slow simulation, in the middle of an epoch, and with an index that is wrong."""

import copy
import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from labelspace.criteria.lwr import Retrospection

SAMPLES, CLASSES = 11, 5


def build(**options: Any) -> Retrospection:
    return Retrospection(CLASSES, **{"samples": SAMPLES, "epochs": 12, "every": 3, **options}).double()


def epoch_of(number: int) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Return the batches of one epoch: outputs that change, samples in another order, sample 7 left out at times."""
    generator = torch.Generator().manual_seed(number)
    order = torch.randperm(SAMPLES, generator=generator)
    order = order[order != 7] if number % 2 == 0 else order
    output = 3 * torch.randn(SAMPLES, CLASSES, generator=generator, dtype=torch.float64)
    labels = torch.arange(SAMPLES) % CLASSES
    return [(output[rows], labels[rows], rows) for rows in order.split(4)]


def train(criterion: Retrospection, number: int) -> list[float]:
    batches = epoch_of(number)
    return [float(criterion(out.clone().requires_grad_(), y, index=i).detach()) for out, y, i in batches]


def log_softmax(row: Any) -> Any:
    return row - row.max() - np.log(np.exp(row - row.max()).sum())


def remembered_row(row: Any, top: int | None) -> Any:
    """Return what float16 and ``top`` leave of an output, as a whole row again."""
    row = row - row.max()
    if top is None:
        return row.astype(np.float16).astype(float)
    largest = set(np.argsort(row)[-top:].tolist())
    rest = np.mean([row[j] for j in range(len(row)) if j not in largest])
    kept = [row[j] if j in largest else rest for j in range(len(row))]
    return np.array(kept).astype(np.float16).astype(float)


class Simulation:
    """The algorithm as one would write it down: epochs from 1, a dictionary, no tensors."""

    def __init__(self, epochs: int, every: int, top: int | None, ahead: bool) -> None:
        self.epochs, self.every, self.top, self.ahead = epochs, every, top, ahead
        self.memory: dict[int, Any] = {}
        self.refreshes: list[int] = []

    def epoch(self, number: int, tau: float = 5.0, gamma: float = 0.1) -> list[float]:
        losses, seen = [], {}
        counted = number if self.ahead else number - 1
        current = self.every * (counted // self.every)
        for output, y, index in epoch_of(number):
            values = []
            for row, label, sample in zip(output.numpy(), y.tolist(), index.tolist(), strict=True):
                own = -log_softmax(row)[label]
                if sample in self.memory:
                    old = log_softmax(self.memory[sample] / tau)
                    divergence = (np.exp(old) * (old - log_softmax(row / tau))).sum()
                    share = min(current / self.epochs, 1) * (1 - gamma)
                    own = (1 - share) * own + share * tau**2 * divergence
                values.append(own)
                seen[sample] = remembered_row(row, self.top)
            losses.append(float(np.mean(values)))
        if number % self.every == 0:
            self.memory |= seen
            self.refreshes.append(number)
        return losses


@pytest.mark.parametrize("top", [None, 2, 4])
@pytest.mark.parametrize("preset", [None, "reference"])
@pytest.mark.parametrize("every", [1, 3])
def test_many_epochs_equal_a_slow_simulation(top: int | None, preset: str | None, every: int) -> None:
    criterion = build(top=top, preset=preset, every=every)
    simulation = Simulation(12, every, top, ahead=preset == "reference")
    changed = []
    for number in range(1, 15):  # two epochs more than it was told: the weights stay
        torch.testing.assert_close(train(criterion, number), simulation.epoch(number), rtol=1e-9, atol=1e-9)
        before = {name: value.clone() for name, value in criterion.statistics.memory.items()}
        criterion.end_epoch()
        assert int(criterion.epoch) == number
        if any(not torch.equal(before[name], value) for name, value in criterion.statistics.memory.items()):
            changed.append(number)
    assert changed == simulation.refreshes == list(range(every, 15, every))


def test_by_hand() -> None:
    # K = 2, τ = 1, γ = 0, k = 1, E = 2. Epoch 1 sees z = (ln 3, 0): p = (3/4, 1/4), and remembers (0, −ln 3).
    # Epoch 2 sees z = (0, 0) with label 0, c/E = ½: L = ½·ln 2 + ½·KL((¾, ¼) ‖ (½, ½))
    #   = ½·ln 2 + ½·(¾ ln 3/2 + ¼ ln 1/2).  float16 moves the memory by less than 1e-3.
    criterion = Retrospection(2, samples=1, epochs=2, every=1, temperature=1.0, hard=0.0)
    zero = torch.tensor([0])
    criterion(torch.tensor([[math.log(3), 0.0]], requires_grad=True), zero, index=zero)
    criterion.end_epoch()
    expected = 0.5 * math.log(2) + 0.5 * (0.75 * math.log(1.5) + 0.25 * math.log(0.5))
    loss = criterion(torch.zeros(1, 2), zero, index=zero)
    torch.testing.assert_close(loss, torch.tensor(expected), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("options", [{"every": 20}, {"hard": 1.0, "every": 1}])
def test_no_memory_or_no_soft_share_is_cross_entropy(options: dict[str, Any]) -> None:
    criterion = build(**options)
    for number in range(1, 5):
        expected = [float(cross_entropy(output, y)) for output, y, _ in epoch_of(number)]
        torch.testing.assert_close(train(criterion, number), expected)
        criterion.end_epoch()


@pytest.mark.parametrize("top", [None, 2])
@pytest.mark.parametrize("stop", [3, 5])
def test_restored_in_the_middle_of_an_epoch(top: int | None, stop: int) -> None:
    criterion, twin = build(top=top), build(top=top)
    for number in range(1, stop):
        train(criterion, number)
        criterion.end_epoch()
    batches = epoch_of(stop)
    criterion(batches[0][0].clone().requires_grad_(), *batches[0][1:2], index=batches[0][2])
    twin.load_state_dict(copy.deepcopy(criterion.state_dict()))
    for one in (criterion, twin):
        for output, y, index in batches[1:]:
            one(output.clone().requires_grad_(), y, index=index)
        one.end_epoch()
        train(one, stop + 1)
    assert criterion.state_dict().keys() == twin.state_dict().keys()
    for name, value in criterion.state_dict().items():
        torch.testing.assert_close(value, twin.state_dict()[name], rtol=0, atol=0)


def test_the_memory_is_saved_but_no_buffer() -> None:
    criterion = build(top=2)
    assert {name for name, _ in criterion.named_buffers()} == {"epoch", "temperature", "hard"}
    state = criterion.state_dict()
    assert state["statistics.old_outputs"].shape == (SAMPLES, 3)
    assert state["statistics.old_outputs"].dtype == torch.float16
    assert state["statistics.old_classes"].shape == (SAMPLES, 2)


def test_an_ignored_sample_undoes_nobodys_row() -> None:
    criterion = build(every=1)
    output = torch.arange(15.0, dtype=torch.float64).reshape(3, 5) ** 2
    criterion(output.requires_grad_(), torch.tensor([1, -100, -100]), index=torch.tensor([0, 99, -5]))
    assert criterion.statistics.seen.tolist() == [True] + [False] * (SAMPLES - 1)
    criterion.end_epoch()
    torch.testing.assert_close(criterion.statistics.memory["old_outputs"][0].double(), output[0].detach() - 16)


def test_logits_beyond_float16_are_remembered_finitely() -> None:
    criterion = build(every=1)
    output = torch.tensor([[1e30, 0.0, -1e30, 1e30, -torch.inf]], dtype=torch.float64, requires_grad=True)
    y, index = torch.tensor([0]), torch.tensor([4])
    criterion(output, y, index=index)
    criterion.end_epoch()
    loss = criterion(torch.zeros(1, 5, dtype=torch.float64), y, index=index)
    assert math.isfinite(float(loss))


def test_label_space_is_the_mean_of_the_memory() -> None:
    criterion = Retrospection(3, samples=4, epochs=2, every=1, temperature=1.0)
    torch.testing.assert_close(criterion.label_space().matrix, torch.eye(3))
    output = torch.tensor([[2.0, 0.0, 1.0], [4.0, 1.0, 0.0], [0.0, 3.0, 1.0]])
    criterion(output.requires_grad_(), torch.tensor([0, 1, 1]), index=torch.tensor([3, 0, 1]))
    criterion.end_epoch()
    soft = torch.softmax(output.detach(), dim=1)
    expected = torch.stack([(soft[0] + soft[1]) / 2, soft[2], torch.tensor([0.0, 0.0, 1.0])])
    torch.testing.assert_close(criterion.label_space().matrix, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8, torch.int64])
def test_any_whole_numbers_are_an_index(dtype: torch.dtype) -> None:
    criterion = build()
    output, y, index = epoch_of(1)[0]
    criterion(output.clone().requires_grad_(), y, index=index.to(dtype))
    assert criterion.statistics.seen.nonzero().squeeze(1).tolist() == sorted(index.tolist())


def test_bad_index() -> None:
    output, y, index = epoch_of(1)[0]
    for wrong in (SAMPLES, -1):
        bad = index.clone()
        bad[2] = wrong
        text = rf"`index` of Retrospection must be from 0 to 10 \(samples=11\). Got {wrong}. Number the training"
        with pytest.raises(ValueError, match=text):
            build()(output, y, index=bad)
    with pytest.raises(TypeError, match="`index` of Retrospection must be whole numbers"):
        build()(output, y, index=index.double())
    with pytest.raises(ValueError, match="`index` of Retrospection must be given with every call"):
        build()(output, y)
    with pytest.raises(ValueError, match="`index` of Retrospection must be for the same 4 samples"):
        build()(output, y, index=index[:2])


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("samples", 0, "`samples` of Retrospection must be a whole number of at least 1"),
        ("epochs", 0, "`epochs` of Retrospection must be a whole number of at least 1"),
        ("every", 0, "`every` of Retrospection must be a whole number of at least 1"),
        ("top", 5, "`top` of Retrospection must be less than the number of classes 5. Got 5. Leave it out"),
        ("top", 0, "`top` of Retrospection must be a whole number of at least 1"),
        ("hard", 1.1, r"`hard` of Retrospection must be a number in \[0, 1\]"),
        ("temperature", 0.0, r"`temperature` of Retrospection must be a number in \(0, inf\)"),
        ("first_epoch", 2, "`first_epoch` of Retrospection must be one of 0, 1"),
    ],
)
def test_bad_options(option: str, value: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        build(**{option: value})

"""A loop that leaves out what a method needs is told once, a sound one never: warnings are errors in these tests."""

import copy
import pickle
from collections.abc import Callable

import pytest
import torch
from torch import nn

from labelspace import LabelEmbedding, LearnableSmoothing, Learner, OnlineSmoothing, Retrospection
from labelspace.criteria import voices

SGD, Adam, AdamW = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
X, Y = torch.randn(6, 4, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 1, 2, 0, 1, 2])
UNENDED = (
    r"OnlineSmoothing has observed .* end_epoch\(\) was never called.*Call criterion.end_epoch\(\).*commit_every=…"
)
UNMOVED = r"label_logits of LearnableSmoothing got .* never moved: no optimizer has it.*parameter_groups\(\)"


def train(step: Callable[[], object], count: int) -> None:
    """Take some steps."""
    for _ in range(count):
        step()


def rounds(learner: Learner, count: int, end: bool, after: Callable[[], object] = lambda: None) -> None:
    """Train some epochs of six steps with an evaluation after each."""
    for _ in range(count):
        learner.train()
        for _ in range(6):
            learner(X, Y).backward()
            after()
        if end:
            learner.end_epoch()
        learner.eval()
        learner(X, Y)


def test_epochs_that_nobody_ends() -> None:
    learner = Learner(nn.Linear(4, 3), OnlineSmoothing(3))
    rounds(learner, 3, end=False)
    with pytest.warns(UserWarning, match=UNENDED.replace(".*", "24 steps .*", 1)) as told:
        rounds(learner, 8, end=False)
    assert len(told) == 1


def test_steps_that_no_epoch_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voices, "STEPS", 50)
    criterion, output = OnlineSmoothing(3), torch.zeros(6, 3, requires_grad=True)
    with pytest.warns(UserWarning, match=UNENDED) as told:
        train(lambda: criterion(output, Y), 120)
    assert len(told) == 1


def test_samples_that_were_all_seen() -> None:
    criterion, output = Retrospection(3, samples=6, epochs=9), torch.zeros(6, 3, requires_grad=True)
    for _ in range(4):
        criterion(output, Y, index=torch.arange(6))
    with pytest.warns(UserWarning, match=r"Retrospection has observed 5 steps.*after every epoch\.$"):
        criterion(output, Y, index=torch.arange(6))


@pytest.mark.parametrize("options", [{}, {"commit_every": 4}])
def test_sound_loops_hear_nothing(options: dict[str, int]) -> None:
    rounds(Learner(nn.Linear(4, 3), OnlineSmoothing(3, **options)), 9, end=not options)


def test_evaluations_in_the_first_epoch_hear_nothing() -> None:
    learner = Learner(nn.Linear(4, 3), OnlineSmoothing(3))
    rounds(learner, 3, end=False)
    learner.end_epoch()
    rounds(learner, 9, end=False)  # long epochs, of which the first has ended


def test_labels_that_no_optimizer_has() -> None:
    model, criterion = nn.Linear(4, 3), LearnableSmoothing(3)
    optimizer = SGD(model.parameters(), lr=0.1)

    def step() -> None:
        optimizer.zero_grad()
        criterion(model(X), Y).backward()
        optimizer.step()

    with pytest.warns(UserWarning, match=UNMOVED.replace(".*", "1,001 gradients and", 1)) as told:
        train(step, 1500)
    assert len(told) == 1
    learner = Learner(nn.Linear(4, 3), LearnableSmoothing(3))
    with pytest.warns(UserWarning, match=UNMOVED):
        rounds(learner, 6, end=False)


def test_a_second_head_that_no_optimizer_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voices, "BACKWARDS", 30)
    criterion = LabelEmbedding(3, in_features=4)
    output = X[:, :3].clone().requires_grad_()
    with pytest.warns(UserWarning, match="of LabelEmbedding got 31 gradients"):
        train(lambda: criterion(output, Y, features=X).backward(), 40)


class WritesToData(torch.optim.Optimizer):
    """An optimizer as old ones are, which no version knows of."""

    def __init__(self, parameters: object) -> None:
        super().__init__(parameters, {})

    def step(self) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for one in group["params"]:
                one.data.add_(one.grad, alpha=-0.1)


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda p: SGD(p, lr=0.1),
        lambda p: SGD(p, lr=0.0),  # as in the first step of a warm-up
        lambda p: Adam(p, lr=0.1, foreach=True),
        lambda p: AdamW(p, lr=0.1, fused=True),
        WritesToData,
    ],
)
@pytest.mark.parametrize("accumulated", [1, 12])
def test_labels_that_move_are_left_alone(optimizer, accumulated: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voices, "BACKWARDS", 30)
    learner = Learner(nn.Linear(4, 3), LearnableSmoothing(3))
    made, calls = optimizer(learner.parameters()), [0]

    def step() -> None:
        calls[0] += 1
        if calls[0] % accumulated == 0:
            made.step()
            made.zero_grad()

    rounds(learner, 8, end=False, after=step)
    hooks = learner.criterion.label_logits._post_accumulate_grad_hooks
    assert not hooks  # nobody watches any more


def test_what_is_copied_or_frozen_is_not_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    criterion = LearnableSmoothing(3)
    for copied in (copy.deepcopy(criterion), pickle.loads(pickle.dumps(criterion))):
        torch.testing.assert_close(copied.label_logits, criterion.label_logits)
    monkeypatch.setattr(voices, "BACKWARDS", 10)
    criterion.requires_grad_(False)
    output = torch.zeros(6, 3, requires_grad=True)
    train(lambda: criterion(output, Y).backward(), 30)

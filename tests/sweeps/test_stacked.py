"""Many networks as one: the gradients of each are those it has alone."""

import torch

from labelspace import Learner, UniformSmoothing
from labelspace.models import build
from labelspace.sweeps.stacked import Stack, recorded


def learner(seed: int, smoothing: float) -> Learner:
    torch.manual_seed(seed)
    return Learner(build("mlp-5", (4,), 3), UniformSmoothing(3, smoothing=smoothing))


def test_gradients_are_those_of_each_alone() -> None:
    alone, members = ([learner(seed, 0.1 * seed) for seed in (1, 2)] for _ in range(2))
    stack = Stack(members)
    draw = torch.Generator().manual_seed(0)
    for _ in range(2):  # recorded, and played again
        x, y = torch.randn(2, 6, 4, generator=draw), torch.randint(0, 3, (2, 6), generator=draw)
        losses = stack.backward(x, y)
        for number, one in enumerate(alone):
            one.zero_grad()
            loss = one(x[number], y[number])
            loss.backward()
            torch.testing.assert_close(losses[number], loss.detach())
            for name, parameter in one.named_parameters():
                gradient = stack.parameters[name].grad
                assert gradient is not None
                torch.testing.assert_close(gradient[number], parameter.grad)


def test_what_changes_a_constant_is_not_played_again() -> None:
    total = torch.zeros(2)

    def adds(x: torch.Tensor) -> tuple[torch.Tensor]:
        return (total.add_(x).clone(),)

    assert recorded(adds, torch.ones(2)) is adds

"""Running methods in a stack: what they keep is what each of them would keep alone."""

import pytest
import torch

from labelspace import AdaptiveLabels, Learner, OnlineSmoothing, UniformSmoothing
from labelspace.criteria.base import Criterion
from labelspace.sweeps.stacked import Stack


def learners(criteria: list[Criterion]) -> list[Learner]:
    torch.manual_seed(0)
    return [Learner(_Pair(criterion.output_dim), criterion) for criterion in criteria]


class _Pair(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.head = torch.nn.Linear(5, width)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.head(x), x


@pytest.mark.parametrize(
    ("method", "options"),
    [
        (OnlineSmoothing, {}),
        (OnlineSmoothing, {"commit_every": 2}),
        (AdaptiveLabels, {"memory": True, "repel": 2.0}),
        (AdaptiveLabels, {"memory": True, "warmup": 2, "every": 2, "restart": True}),
    ],
)
def test_members_keep_what_they_would_keep_alone(method: type[Criterion], options: dict[str, float]) -> None:
    name = "smoothing" if method is OnlineSmoothing else "decay"
    pairs = [[method(3, **options, **{name: value}) for value in (0.2, 0.8)] for _ in range(2)]  # type: ignore[arg-type]
    stacked, alone = learners(pairs[0]), learners(pairs[1])
    stack = Stack(stacked)
    draws = torch.Generator().manual_seed(1)
    for _ in range(2):
        for _ in range(5):
            x, y = torch.randn(2, 6, 5, generator=draws), torch.randint(3, (2, 6), generator=draws)
            losses = stack.backward(x, y)
            own = torch.stack([learner(*batch) for learner, batch in zip(alone, zip(x, y, strict=True), strict=True)])
            torch.testing.assert_close(losses, own.detach())
        stack.running.end_epoch()
        for mine, theirs in zip(stacked, alone, strict=True):
            theirs.end_epoch()
            torch.testing.assert_close(mine.state_dict(), theirs.state_dict())
    matrices = [learner.criterion.label_matrix for learner in stacked]
    assert not torch.allclose(*matrices)  # each member saw its own batches


def test_methods_without_statistics_keep_nothing() -> None:
    stack = Stack(learners([UniformSmoothing(3, smoothing=value) for value in (0.1, 0.2)]))
    assert not stack.running.state
    assert not stack.running.sums

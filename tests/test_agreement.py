"""Whether parameters are the same on all ranks; the other rank is pretended. tests/distributed has two."""

import warnings

import pytest
import torch
from torch import Tensor, nn

from labelspace._agreement import Agreement
from labelspace._distributed import Ranks


def learned(module: nn.Module) -> list[Tensor]:
    return [own for own in module.parameters() if own.requires_grad]


class Pretended(Ranks):
    """Two ranks, the other of which has another module."""

    def __init__(self, other: nn.Module) -> None:
        super().__init__()
        self.other, self.theirs = other, Agreement()
        self.met: list[Tensor] = []

    def size(self) -> int:
        return 2

    def sum(self, *tensors: Tensor) -> list[Tensor]:
        (mine,) = tensors
        self.met.append(mine)
        if len(self.met) % 2 == 0:  # the other rank, asked in here
            return [mine]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.theirs.summed(torch.ones(3), self, "Theirs", learned(self.other))
        return [mine + self.met[-1]]


def linear(**changes: float) -> nn.Module:
    torch.manual_seed(0)
    found = nn.Linear(3, 4)
    for place, change in changes.items():
        found.get_parameter(place).data.view(-1)[1] += change
    return found


def asked(mine: nn.Module, other: nn.Module, times: int = 1) -> list[str]:
    agreement, ranks, said = Agreement(), Pretended(other), []
    for _ in range(times):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            totals, size = agreement.summed(torch.arange(3.0), ranks, "Mine", learned(mine))
        assert size == 2
        torch.testing.assert_close(totals, torch.tensor([1.0, 2.0, 3.0]))
        said += [str(one.message) for one in caught]
    return said


def test_what_is_the_same_is_not_spoken_of() -> None:
    assert asked(linear(), linear(), times=9) == []
    assert asked(nn.Module(), nn.Module()) == []  # nothing to learn


@pytest.mark.parametrize("change", [{"weight": 1e-6}, {"bias": -1.0}])
def test_a_bit_that_differs_is_spoken_of_once(change: dict[str, float]) -> None:
    (said,) = asked(linear(), linear(**change), times=9)
    assert "Mine has other labels on this rank" in said


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_numbers_of_any_width_are_looked_at(dtype: torch.dtype) -> None:
    one, other = linear().to(dtype), linear(weight=0.5).to(dtype)
    assert asked(one, linear().to(dtype)) == []
    assert len(asked(one, other)) == 1


def test_sums_that_keep_their_rows_are_told_apart() -> None:
    """Rows of a softmax's gradient sum to 0: a plain sum would see nothing."""
    one, other = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
    one.weight.data = torch.zeros(2, 2)
    other.weight.data = torch.tensor([[0.5, -0.5], [-0.25, 0.25]])
    assert len(asked(one, other)) == 1


def test_what_does_not_learn_and_parts_of_a_whole_may_differ() -> None:
    assert asked(linear().requires_grad_(False), linear(bias=1.0).requires_grad_(False)) == []
    one, other = linear(), linear(weight=1.0, bias=1.0)
    for parameter in (*one.parameters(), *other.parameters()):
        parameter.device_mesh = "of a sharded tensor"
    assert asked(one, other) == []

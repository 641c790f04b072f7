"""What running methods have seen: sums, rows of tables, and a memory."""

import copy
from unittest.mock import patch

import torch
from torch import Tensor, nn

from labelspace import OnlineSmoothing
from labelspace.criteria.statistics import RowSum, Statistics, StatisticsModule


def made() -> Statistics:
    return Statistics({"count": (3,)}, {"last": ((4, 2), torch.float32)}, {"kept": ((2,), torch.float64)})


def test_sums_add_up_and_rows_are_overwritten() -> None:
    statistics = made()
    statistics.add(
        {"count": torch.tensor([1, 0, 2]), "last": torch.tensor([[1.0, 2.0], [3.0, 4.0]])}, torch.tensor([2, -1])
    )
    statistics.add(
        {"count": torch.tensor([1, 1, 1]), "last": torch.tensor([[5.0, 6.0], [7.0, 8.0]])}, torch.tensor([0, 2])
    )
    gathered = statistics.gathered()
    assert gathered["count"].tolist() == [2, 1, 3]
    assert gathered["last"].tolist() == [[5, 6], [0, 0], [7, 8], [0, 0]]
    assert gathered["seen"].tolist() == [True, False, True, False]
    statistics.memory["kept"] += 1
    statistics.clear()
    assert not statistics.gathered()["seen"].any()
    assert statistics.memory["kept"].tolist() == [1, 1]


def test_counts_do_not_stop_where_half_precision_does() -> None:
    statistics = Statistics({"count": (1,)}, {}, {})
    for _ in range(300):
        statistics.add({"count": torch.ones(1, dtype=torch.bfloat16)}, None)
    assert statistics.sums["count"].item() == 300


class Holder(StatisticsModule):
    def __init__(self) -> None:
        super().__init__()
        self.statistics = made()


def test_they_are_saved_and_loaded_with_a_module() -> None:
    one, two = nn.Sequential(Holder()), nn.Sequential(Holder())
    one[0].statistics.add({"count": torch.ones(3), "last": torch.ones(1, 2)}, torch.tensor([3]))
    state = one.state_dict()
    assert set(state) == {f"0.statistics.{name}" for name in ("count", "last", "seen", "kept")}
    two.load_state_dict(state)
    for name, tensor in one[0].statistics.state().items():
        assert torch.equal(two[0].statistics.state()[name], tensor)
    del state["0.statistics.count"]
    assert Holder().load_state_dict({}, strict=False).missing_keys
    assert two.load_state_dict(state, strict=False).missing_keys == ["0.statistics.count"]


def test_a_sum_of_rows_touches_those_rows() -> None:
    statistics = Statistics({"mass": (4, 2)}, {}, {})
    before = statistics.sums["mass"]
    statistics.add({"mass": RowSum(torch.tensor([2, 0, 2]), torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))}, None)
    expected = torch.tensor([[3.0, 4.0], [0, 0], [6, 8], [0, 0]])
    torch.testing.assert_close(statistics.sums["mass"], expected)
    assert statistics.sums["mass"] is before  # no copy of what is not touched
    statistics.add({"mass": RowSum(torch.tensor([1]), torch.ones(1, 2, dtype=torch.float64))}, None)
    assert statistics.sums["mass"].dtype == torch.float64


def test_steps_are_counted_without_asking_a_device() -> None:
    def train(criterion: OnlineSmoothing, count: int) -> int:
        """Return how often the number of steps was read from a tensor, which waits for a device."""
        number, asked = Tensor.__int__, list[Tensor]()
        with patch.object(Tensor, "__int__", lambda tensor: asked.append(tensor) or number(tensor)):
            for _ in range(count):
                criterion(torch.eye(3, requires_grad=True), torch.tensor([0, 1, 2])).backward()
        return len(asked)

    criterion, other = OnlineSmoothing(3, commit_every=4), OnlineSmoothing(3, commit_every=4)
    assert train(criterion, 9) == 1
    assert train(other, 2) == 1
    other.load_state_dict(criterion.state_dict())  # in the middle of four steps
    twin = copy.deepcopy(criterion)
    for each in (criterion, other, twin):
        before = each.label_matrix
        train(each, 2)
        assert each.label_matrix is before
        train(each, 1)
        assert each.label_matrix is not before
        assert int(each.steps_observed) == 12

"""Parameters in parts: whole while a method looks at them, and given new numbers in parts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, Shard, distribute_tensor, init_device_mesh

from labelspace import LearnableSmoothing, _sharded


class Labels(nn.Module):
    def __init__(self, values: Tensor) -> None:
        super().__init__()
        self.labels = nn.Parameter(values)

    def doubled(self, times: int = 2) -> Tensor:
        return times * self.labels


@pytest.fixture
def module(tmp_path: Path) -> Iterator[Labels]:
    """Return labels in parts, of which this process has all."""
    dist.init_process_group("gloo", init_method=f"file://{tmp_path / 'meeting'}", rank=0, world_size=1)
    try:
        mesh = init_device_mesh("cpu", (1,))
        yield Labels(distribute_tensor(torch.arange(6.0).reshape(3, 2), mesh, [Shard(0)]))
    finally:
        dist.destroy_process_group()


def test_parameters_are_whole_for_a_while(module: Labels) -> None:
    held = module.labels
    assert _sharded.is_sharded(held)

    def failing(outer: nn.Sequential) -> None:
        assert not _sharded.is_sharded(module.labels)
        assert module.labels.tolist() == [[0, 1], [2, 3], [4, 5]]
        raise RuntimeError("in between")

    with pytest.raises(RuntimeError, match="in between"):
        _sharded.with_whole_parameters(failing)(nn.Sequential(module))
    assert module.labels is held
    found = _sharded.with_whole_parameters(Labels.doubled)(module, times=3)
    assert found.tolist() == [[0, 3], [6, 9], [12, 15]]
    assert not _sharded.is_sharded(found)


def test_numbers_are_put_into_the_parts(module: Labels) -> None:
    held = module.labels
    _sharded.put(torch.ones(3, 2, dtype=torch.float64), held)
    assert isinstance(held, DTensor)
    assert held.to_local().tolist() == [[1, 1], [1, 1], [1, 1]]
    plain = nn.Parameter(torch.zeros(2))
    before = plain.detach()
    _sharded.put(torch.tensor([1.0, 2.0], dtype=torch.float64), plain)
    assert plain.tolist() == [1, 2]
    assert before.tolist() == [0, 0]


def test_a_label_space_is_of_whole_parameters(module: Labels) -> None:
    criterion = LearnableSmoothing(3)
    criterion.label_logits.data = torch.tensor([[0.0, 1, 2], [3, 4, 5], [2, 1, 0]])
    expected, targets = criterion.label_space().matrix, criterion.target_matrix()
    mesh = init_device_mesh("cpu", (1,))
    criterion.label_logits = nn.Parameter(distribute_tensor(criterion.label_logits.detach(), mesh, [Shard(0)]))
    torch.testing.assert_close(criterion.label_space().matrix, expected)
    torch.testing.assert_close(criterion.target_matrix(), targets)
    assert _sharded.is_sharded(criterion.label_logits)

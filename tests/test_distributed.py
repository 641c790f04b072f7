"""Alone, every function is the identity; tests/distributed has two ranks."""

import pytest
import torch

from labelspace import OneHot, _distributed


def test_one_process_is_its_own_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert not _distributed.join(torch.device("cpu"))
    assert (_distributed.rank(), _distributed.world_size()) == (0, 1)
    _distributed.wait()
    total = torch.tensor([1.0, 2.0], requires_grad=True)
    assert _distributed.sum_over_ranks(total).tolist() == [1, 2]
    alone = _distributed.Ranks()
    (3 * alone.differentiable_sum(total)[0]).sum().backward()
    assert total.grad is not None
    assert total.grad.tolist() == [3, 3]
    seen, tables = alone.merge_rows(torch.tensor([True, False]), {"rows": torch.ones(2, 3)})
    assert seen.tolist() == [True, False]
    assert torch.equal(tables["rows"], torch.ones(2, 3))


def test_what_is_no_group_is_refused() -> None:
    with pytest.raises(
        TypeError, match="`process_group` of a criterion must be a group of torch.distributed.* Got str"
    ):
        OneHot(3, process_group="pipeline")


def test_sums_of_several_shapes_and_types_come_back_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[torch.Tensor] = []
    monkeypatch.setattr(_distributed.Ranks, "size", lambda self: 2)
    monkeypatch.setattr(_distributed.dist, "all_reduce", lambda tensor, operation, group: met.append(tensor.mul_(2)))
    tensors = [torch.ones(2, 3), torch.tensor(4.0), torch.tensor([5]), torch.ones(0, 2)]
    found = _distributed.Ranks().sum(*tensors)
    assert len(met) == 2  # one for each type
    for one, total in zip(tensors, found, strict=True):
        torch.testing.assert_close(total, 2 * one)
        assert total.dtype == one.dtype
    torch.testing.assert_close(tensors[0], torch.ones(2, 3))
    total = torch.tensor([1.0, 2.0], requires_grad=True)
    twice = _distributed.Ranks().differentiable_sum(total, total[0])
    (twice[0].sum() + 10 * twice[1]).backward()
    torch.testing.assert_close(total.grad, torch.tensor([22.0, 2.0]))

"""Alone, every function is the identity; tests/distributed has two ranks."""

import pytest
import torch

from labelspace import _distributed


def test_one_process_is_its_own_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert not _distributed.join(torch.device("cpu"))
    assert (_distributed.rank(), _distributed.world_size()) == (0, 1)
    _distributed.wait()
    total = torch.tensor([1.0, 2.0], requires_grad=True)
    assert _distributed.sum_over_ranks(total).tolist() == [1, 2]
    (3 * _distributed.differentiable_sum_over_ranks(total)).sum().backward()
    assert total.grad is not None
    assert total.grad.tolist() == [3, 3]
    seen, tables = _distributed.merge_rows(torch.tensor([True, False]), {"rows": torch.ones(2, 3)})
    assert seen.tolist() == [True, False]
    assert torch.equal(tables["rows"], torch.ones(2, 3))

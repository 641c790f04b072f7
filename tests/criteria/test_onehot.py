"""One-hot labels are torch's cross-entropy."""

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.testing import assert_close

from labelspace import OneHot


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_it_is_torchs_cross_entropy(reduction: str) -> None:
    output = torch.randn(8, 5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    y = torch.randint(-1, 5, (8, 3), generator=torch.Generator().manual_seed(1))
    weight = torch.rand(5, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    ours = OneHot(5, weight=weight, ignore_index=-1, reduction=reduction)(output, y)
    theirs = cross_entropy(output, y, weight, ignore_index=-1, reduction=reduction)
    assert_close(ours, theirs)
    assert_close(torch.autograd.grad(ours.sum(), output)[0], torch.autograd.grad(theirs.sum(), output)[0])


def test_every_class_keeps_its_mass() -> None:
    assert_close(OneHot(["a", "b", "c"]).label_space().matrix, torch.eye(3))
    assert OneHot(3).target_matrix().tolist() == torch.eye(3).tolist()

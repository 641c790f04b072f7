"""The notation of kernels for few numbers: labels that name no place among them."""

import pytest
import torch
from torch import Tensor

from labelspace.criteria.maths import classes_of
from labelspace.criteria.narrow import Narrow


def numbers(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_labels_that_are_no_class_are_refused() -> None:
    output = numbers(2, 5)
    for wrong in (-1, -100, 5):
        y = torch.tensor([0, wrong])
        with pytest.raises(IndexError, match="no class"):
            Narrow(output, y)
        with pytest.raises(IndexError, match="no class"):
            classes_of(y, 5)
    classes_of(torch.tensor([0, 4]), 5)
    classes_of(torch.tensor([], dtype=torch.int64), 5)

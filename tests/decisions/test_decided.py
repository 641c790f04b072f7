"""What was decided, by its names."""

import torch

from labelspace.decisions import Decided, Judged


def test_fields_by_their_names() -> None:
    zero = torch.zeros(2, dtype=torch.int64)
    assert Decided._fields == ("classes", "probability", "abstained", "actions")
    assert Judged._fields == ("classes", "probabilities", "abstained", "costs", "expected", "actions")
    assert Decided(zero, zero.double(), zero.bool(), zero).actions is zero

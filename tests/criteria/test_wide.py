"""The notation of kernels for many numbers: what small batches are never asked for."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace.criteria import wide as large
from labelspace.criteria.wide import Wide


def numbers(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_what_large_batches_alone_are_asked_for() -> None:
    z, b = numbers(4, 40), numbers(4, 40) + 1
    wide, into = Wide(slice(None), None), torch.empty(4, 40, dtype=torch.float64)
    assert_close(wide.probabilities(z), z.softmax(dim=1))
    assert wide.probabilities(z, into) is into
    assert_close(into, z.softmax(dim=1))
    assert_close(wide.difference(z, b), z - b)
    assert_close(wide.difference(z, b, 0.3), z - 0.3 * b)
    assert wide.times_(z, 2.5, into) is into
    assert_close(into, 2.5 * z)
    for weight in (0.0, 1.0, -0.5):
        for times in (1.0, -1.0, 0.3):
            assert_close(wide.blend(z, weight, z, b, times, into), weight * z + times * z * b)
    assert_close(z, numbers(4, 40))  # what was given is as it was


@pytest.mark.parametrize("vectors", [True, False])
def test_exponentials_are_the_same_with_numpys_vectors_and_without(
    vectors: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "_vectors", lambda kind: vectors)
    output = numbers(4, 40).float()
    found = Wide(slice(None), None).exp(output)
    assert_close(found, output.double().exp().float())


@pytest.mark.parametrize("classes", [large.LONG, 300_000])
def test_sums_of_many_classes_keep_their_digits(classes: int) -> None:
    """Equal numbers are the worst: what each addition rounds away is always on the same side."""
    a = torch.full((2, classes), 0.1)
    assert_close(torch.from_numpy(Wide(slice(None), None).sum(a)).double(), a.double().sum(1, True), rtol=2e-6, atol=0)

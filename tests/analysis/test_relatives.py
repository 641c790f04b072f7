"""Neighbours as LabelSpace.nearest gives them, and entropies as scipy does."""

import pytest
import torch
from scipy import stats
from torch.testing import assert_close

from labelspace import LabelSpace, cost, ordinal, uniform
from labelspace.analysis import neighbours, row_entropy

DISTANCES = torch.tensor([[0.0, 1, 4], [1, 0, 6], [4, 6, 0]])


def vectors():
    return LabelSpace(tuple("abcdef"), torch.randn(6, 3, generator=torch.Generator().manual_seed(0)), "vectors")


@pytest.mark.parametrize("space", [ordinal(list("abcdef")), vectors(), cost(DISTANCES, ["x", "y", "z"]), uniform(4)])
@pytest.mark.parametrize("k", [1, 2, 10])
def test_a_space_gives_its_nearest(space, k):
    found = neighbours(space, k=k)
    assert list(found) == list(space.names)
    for name in space.names:
        theirs = space.nearest(name, k)
        assert [other for other, _ in found[name]] == [other for other, _ in theirs]
        assert [weight for _, weight in found[name]] == pytest.approx([weight for _, weight in theirs], abs=1e-6)
    assert neighbours(space, space.names, k) == found


def test_distances_by_hand():
    found = neighbours(DISTANCES, ["cat", "dog", "car"], k=2)
    assert found["cat"] == [("dog", 1.0), ("car", 4.0)]
    assert found["car"] == [("cat", 4.0), ("dog", 6.0)]
    assert neighbours(DISTANCES, k=1) == {"0": [("1", 1.0)], "1": [("0", 1.0)], "2": [("0", 4.0)]}


def test_a_class_without_samples_comes_last():
    distances = DISTANCES.clone()
    distances[1] = distances[:, 1] = torch.nan
    assert [name for name, _ in neighbours(distances, k=2)["0"]] == ["2", "1"]


def test_entropy_equals_scipys():
    rows = torch.softmax(torch.randn(5, 4, generator=torch.Generator().manual_seed(0)).double(), dim=1)
    assert_close(row_entropy(rows), torch.from_numpy(stats.entropy(rows.numpy(), axis=1)), atol=1e-9, rtol=0)
    # three classes: all mass on one is 0, half and half log 2, all alike log 3
    by_hand = row_entropy([[1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]])
    assert_close(by_hand, torch.tensor([0, 0.6931472, 1.0986123], dtype=torch.float64), atol=1e-6, rtol=0)
    assert_close(row_entropy(uniform(5)), torch.full((5,), 4.0, dtype=torch.float64).log(), atol=1e-6, rtol=0)
    assert_close(row_entropy(vectors()), row_entropy(vectors().relations().matrix))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: row_entropy([[0.5, 0.4]]),
            r"`matrix` of row_entropy must be probabilities whose rows sum to 1\. Got 0\.9",
        ),
        (lambda: row_entropy([[1.5, -0.5]]), r"none below 0\. Got -0\.5 in row 0"),
        (lambda: row_entropy([[float("nan"), 1]]), r"`matrix` of row_entropy must be finite"),
        (
            lambda: neighbours(torch.rand(3, 2)),
            r"a LabelSpace or square distances\. Got shape \(3, 2\)\. Points become",
        ),
        (lambda: neighbours(DISTANCES, ["a", "b"]), r"`names` of neighbours must be 3 names"),
        (lambda: neighbours(ordinal(3), ["a", "b", "c"]), r"those of the label space, or left out"),
        (lambda: neighbours(DISTANCES, k=0), r"`k` of neighbours"),
    ],
)
def test_bad_input_says_what_is_wrong(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()

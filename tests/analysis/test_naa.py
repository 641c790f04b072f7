"""Neurodynamical distances: the formula in numpy, both ways alike, and the time they are promised to take."""

import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from labelspace.analysis import naa_distances


def written_out(x, y, classes):
    """Return 1 − Tr(RiRj)/√(Tr(RiRi)Tr(RjRj)) with R = ZZᵀ/n over (features × samples), equations (5) to (7)."""
    matrices = []
    for label in range(classes):
        z = x[y == label].T.astype(np.float64)
        matrices.append(z @ z.T / z.shape[1])
    trace = np.array([[np.trace(a @ b) for b in matrices] for a in matrices])
    return torch.from_numpy(1 - trace / np.sqrt(np.outer(np.diag(trace), np.diag(trace)))).float()


def activations(seed, classes, features, samples):
    random = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), random.integers(classes, size=samples - classes)])
    return np.maximum(random.normal(size=(samples, features)) + random.normal(size=(classes, features))[y], 0), y


@settings(max_examples=25)
@given(st.integers(0, 1000), st.integers(2, 6), st.integers(2, 40), st.integers(8, 60))
def test_both_ways_follow_the_formula(seed, classes, features, samples):
    x, y = activations(seed, classes, features, samples)
    x[:, 0] += 0.1  # no class without any activation
    expected = written_out(x, y, classes)
    for side in ("features", "samples", "auto"):
        assert_close(naa_distances(x, y, side=side), expected, atol=1e-6, rtol=0)


def test_three_classes_by_hand():
    # R of class 0 is diag(1, 0); of class 1, from (1, 1) and (1, −1), the identity; of class 2 diag(0, 9).
    # Tr(R0R1) = 1, Tr(R0R0) = 1, Tr(R1R1) = 2: cos² = 1/√2. Classes 0 and 2 share nothing.
    x, y = torch.tensor([[1.0, 0], [1, 1], [1, -1], [0, 3]]), torch.tensor([0, 1, 1, 2])
    near = 1 - 0.5**0.5
    expected = torch.tensor([[0, near, 1], [near, 0, near], [1, near, 0]])
    for side in ("features", "samples"):
        assert_close(naa_distances(x, y, side=side), expected)


def test_slabs_do_not_matter(monkeypatch):
    x, y = activations(0, 5, 70, 200)
    whole = {side: naa_distances(x, y, side=side) for side in ("features", "samples")}
    monkeypatch.setitem(naa_distances.__globals__, "PART", 900)
    for side, expected in whole.items():
        assert_close(naa_distances(x, y, side=side), expected)


def test_scale_and_order_of_samples_do_not_matter():
    x, y = activations(1, 4, 10, 80)
    distances = naa_distances(x, y)
    assert_close(naa_distances(x * 1000, y), distances)
    order = np.random.default_rng(0).permutation(80)
    assert_close(naa_distances(x[order], y[order]), distances)
    renamed = np.array([2, 0, 3, 1])
    assert_close(naa_distances(x, renamed[y])[renamed][:, renamed], distances)
    assert_close(distances, distances.T)
    assert_close(distances.diagonal(), torch.zeros(4))


@pytest.mark.parametrize("side", ["features", "samples"])
def test_a_class_without_samples_is_named_and_the_others_stay_defined(side):
    x, y = activations(2, 3, 6, 30)
    shifted = np.where(y == 2, 3, y)
    with pytest.warns(UserWarning, match=r"naa_distances: `y` has no sample of class 2; all their distances are NaN"):
        distances = naa_distances(x, shifted, side=side)
    keep = torch.tensor([0, 1, 3])
    assert_close(distances[keep][:, keep], naa_distances(x, y))
    assert bool(distances[2].isnan().all())
    assert bool(distances[:, 2].isnan().all())


@pytest.mark.parametrize("side", ["features", "samples"])
def test_a_class_without_activation_is_far_from_all(side):
    x, y = activations(3, 3, 6, 30)
    x[y == 1] = 0
    assert_close(naa_distances(x, y, side=side)[1], torch.tensor([1.0, 0, 1]))


def test_half_precision_and_names():
    x, y = activations(4, 3, 6, 30)
    half = torch.from_numpy(x).half()
    assert_close(naa_distances(half, y, ["a", "b", "c"]), naa_distances(half.double(), y))


def timed(x, y, side="auto", rounds=2):
    """Return the distances and the least processor time they took."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        distances = naa_distances(x, y, side=side)
        times.append(time.process_time() - started)
    return distances, min(times)


def test_the_cheaper_side_is_chosen():
    x = torch.rand(10_000, 512, generator=torch.Generator().manual_seed(0))
    y = torch.arange(100).repeat(100)
    by_features, first = timed(x, y, "features")
    by_samples, second = timed(x, y, "samples", rounds=1)
    chosen, third = timed(x, y)
    assert third <= 2 * min(first, second)
    assert_close(by_features, by_samples, atol=1e-5, rtol=0)
    assert_close(chosen, by_features)
    # five samples a class: the other side is many times cheaper
    assert timed(x[:500], y[:500])[1] <= 0.5 * timed(x[:500], y[:500], "features")[1]


def test_a_thousand_classes_take_less_than_a_second():
    x = torch.rand(100_000, 64, generator=torch.Generator().manual_seed(0))
    y = torch.arange(1000).repeat(100)
    assert timed(x, y)[1] < 1


X, Y = torch.ones(4, 2), torch.tensor([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"features": X * torch.nan}, r"`features` of naa_distances must be finite\. Got nan at row 0, column 0"),
        ({"features": X[:, 0]}, r"`features` of naa_distances must be a two-dimensional array"),
        ({"y": Y[:3]}, r"`y` of naa_distances must be of shape \(4,\), one per sample\. Got shape \(3,\)"),
        ({"y": Y.float()}, r"class indices \(whole numbers\)"),
        ({"y": Y - 1}, r"class indices from 0\. Got -1"),
        ({"classes": 1}, r"class indices from 0 to 0\. Got 1"),
        ({"side": "feature"}, r"`side` of naa_distances must be one of .*Did you mean 'features'\?"),
    ],
)
def test_bad_input_says_what_is_wrong(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        naa_distances(**({"features": X, "y": Y} | arguments))

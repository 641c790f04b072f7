"""Seeds and samples as two crossed sources of chance, against a simulation and by hand."""

import numpy as np
import pytest
import torch

from labelspace.metrics.crossed import Spread, combined, ends, obstacle, remark, sides, units_of


def test_the_variance_is_that_of_simulated_means() -> None:
    random = np.random.default_rng(0)
    seeds, units, (x, z, e) = 4, 6, (0.5, 1.0, 2.0)
    shape = (20_000, seeds, units)
    values = x * random.normal(size=(shape[0], seeds, 1)) + z * random.normal(size=(shape[0], 1, units))
    means = (values + e * random.normal(size=shape)).mean(axis=(1, 2))
    rest = e**2 / (seeds * units)
    found = combined(x**2 / seeds + rest, z**2 / units + rest, rest, seeds, units)
    assert found.variance == pytest.approx(means.var(), rel=0.05)
    assert min(seeds, units) - 1 <= found.freedom


def test_one_unit_leaves_the_seeds() -> None:
    assert combined(0.25, 9.0, 1.0, 5, 1) == Spread(0.25, 4.0)


def test_units_are_samples_or_their_groups() -> None:
    assert units_of("f", None, 3).tolist() == [0, 1, 2]
    assert units_of("f", ["b", "a", "b"], 3).tolist() == [1, 0, 1]
    assert units_of("f", torch.tensor([7, 7, 2]), 3).tolist() == [1, 1, 0]
    with pytest.raises(ValueError, match="`groups` of f must be a group for every sample. Got none at 1"):
        units_of("f", ["a", None, "b"], 3)
    with pytest.raises(ValueError, match=r"`groups` of f must be of shape \(2,\), one per sample"):
        units_of("f", ["a"], 2)


def test_words() -> None:
    assert obstacle(2) == ""
    assert obstacle(1).startswith("1 seed: no interval")
    assert remark(1, 9, grouped=True).startswith("1 group:")
    assert remark(3, 9, grouped=True) == "3 groups of samples drawn whole"
    assert remark(9, 9, grouped=False) == ""


def test_the_interval_has_the_width_of_students_t() -> None:
    from scipy.stats import t

    low, high = ends(10.0, Spread(4.0, 3.0), 0.95)
    half = t.ppf(0.975, 3) * 2
    assert (low, high) == (pytest.approx(10 - half), pytest.approx(10 + half))
    assert sides(half, Spread(4.0, 3.0)) == pytest.approx((0.975, 0.025))
    assert [sides(each, Spread(0.0, 3.0)) for each in (0.0, 1.0, -1.0)] == [(0.5, 0.5), (1.0, 0.0), (0.0, 1.0)]

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelspace.data import splits


@given(st.lists(st.integers(1, 40), min_size=2, max_size=8), st.floats(0.05, 0.9), st.integers(0, 5))
def test_a_split_is_a_partition_that_keeps_every_class(counts, fraction, seed):
    y = np.repeat(np.arange(len(counts)), counts)
    stay, held = splits.hold_out(y, fraction, seed)
    assert sorted([*stay, *held]) == list(range(len(y)))
    assert set(y[stay]) == set(range(len(counts)))
    assert set(y[held]) == {code for code, count in enumerate(counts) if count > 1}
    again = splits.hold_out(y, fraction, seed)
    assert np.array_equal(held, again[1])


@given(st.lists(st.integers(1, 40), min_size=2, max_size=8), st.data())
def test_a_subset_has_its_size_and_every_class(counts, data):
    y = np.repeat(np.arange(len(counts)), counts)
    count = data.draw(st.integers(len(counts), len(y)))
    rows = splits.subset(y, count, seed=0)
    assert len(set(rows.tolist())) == count
    assert set(y[rows]) == set(range(len(counts)))


def test_proportions_are_kept():
    y = np.repeat([0, 1], [900, 100])
    _, held = splits.hold_out(y, 0.2, 3)
    assert np.bincount(y[held]).tolist() == [180, 20]
    assert not np.array_equal(held, splits.hold_out(y, 0.2, 4)[1])


def test_groups_stay_on_one_side_with_classes_in_balance():
    generator = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 10)
    y = generator.integers(0, 3, 400)
    stay, held = splits.hold_out(y, 0.2, 0, groups=groups)
    assert not set(groups[stay]) & set(groups[held])
    assert 60 <= len(held) <= 100
    assert (np.bincount(y[held]) / np.bincount(y)).min() > 0.1


def test_the_only_group_of_a_class_stays_in_training():
    groups = np.repeat(np.arange(6), 4)
    y = np.tile([0, 1], 12)
    y[groups == 5] = 2
    for seed in range(5):
        _, held = splits.hold_out(y, 0.3, seed, groups=groups)
        assert 5 not in groups[held]


def test_groups_that_cannot_be_split_are_an_error():
    with pytest.raises(ValueError, match="`group_by` of data.load must be groups enough.*1 groups"):
        splits.hold_out(np.array([0, 1, 0, 1]), 0.5, 0, groups=np.zeros(4, dtype=np.int64))
    with pytest.raises(ValueError, match="group_by"):
        splits.hold_out(np.array([0, 0, 1, 1]), 0.5, 0, groups=np.array([0, 0, 1, 1]))


def test_few_repeated_rows_stay_together_and_many_do_not():
    y = np.tile([0, 1], 100)
    digests = np.arange(200, dtype=np.uint64)
    digests[10] = digests[20]
    for seed in range(10):
        stay, held = splits.hold_out(y, 0.3, seed, digests=digests)
        assert not set(digests[stay]) & set(digests[held])
    _, held = splits.hold_out(y, 0.3, 0, digests=np.zeros(200, dtype=np.uint64))
    assert len(held) == 60

"""From what a reader found to a dataset: parts, shares, and the rows that each gets."""

from dataclasses import replace

import numpy as np
import pytest

from labelspace.data import digests
from labelspace.data.chosen import End
from labelspace.data.found import Found, assemble, ranges, rows_of

X = np.arange(40, dtype=np.float32)[:, None]
OWN = digests.of_rows(X)
FOUND = Found(
    "features",
    np.arange(40) % 2,
    ("even", "odd"),
    ranges({"all": 40}),
    OWN,
    "content",
    {"path": "here"},
    rows_of(X, OWN),
)


def test_every_row_is_in_one_part() -> None:
    dataset = assemble(FOUND, seed=0, validation=0.2, test=0.25)
    assert {name: len(part) for name, part in dataset.parts.items()} == {"train": 22, "validation": 8, "test": 10}
    rows = np.concatenate([part.x.numpy() for part in dataset.parts.values()])
    assert sorted(rows[:, 0].tolist()) == list(range(40))
    assert assemble(FOUND, seed=0, validation=0.2, test=0.25).key == dataset.key
    assert assemble(FOUND, seed=1, validation=0.2, test=0.25).key != dataset.key


def test_given_parts_are_kept_and_the_one_held_out_is_the_test_part() -> None:
    given = ranges({"train": 30, "validation": 10})
    dataset = assemble(replace(FOUND, given=given), seed=0, validation=End(first=True, count=5), test=None)
    assert dataset.test.x[:, 0].tolist() == list(range(30, 40))
    assert dataset.validation.x[:, 0].tolist() == list(range(5))
    assert dataset.source["split"]["test"] == "the validation part of the data"


def test_shares_that_leave_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="a share that leaves training samples. Got 0.5 beside a test share of 0.6"):
        assemble(FOUND, seed=0, validation=0.5, test=0.6)

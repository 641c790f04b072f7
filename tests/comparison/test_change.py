"""On how few samples a change may rest, and the room that few of them leave."""

import pytest
import torch

from comparison.hand_made import SAMPLES, table
from labelspace.comparison.change import change_of, resting, unguarded_change_of


def test_enough_samples_leave_the_interval_as_it_is() -> None:
    costs, reference = table(1.0, 0.4, 1), table(2.0, 0.4)
    assert resting(costs, reference) is None
    assert change_of(costs, reference, 0.95) == unguarded_change_of(costs, reference, 0.95)


@pytest.mark.parametrize(("differing", "needed"), [(1, 4000), (4, 1000), (10, 400), (19, 211)])
def test_how_many_would_decide_it(differing: int, needed: int) -> None:
    reference = table(1.0)
    costs = reference.clone()
    costs[:, :differing] = 5.0
    found = resting(costs, reference)
    assert found is not None
    assert (round(found.carrying, 6), found.units, found.needed) == (differing, SAMPLES, needed)
    what = "sample" if differing == 1 else "samples"
    assert found.text == f"rests on {differing} {what}: about {needed:,} test samples would decide it"


def test_few_that_seem_to_decide_have_no_interval() -> None:
    reference = table(1.0)
    costs = reference.clone()
    costs[:, :15] = 11.0  # fifteen of two hundred, all in one direction
    alone = unguarded_change_of(costs, reference, 0.95)
    assert alone is not None
    assert alone.low is not None
    assert alone.low > 0
    found = change_of(costs, reference, 0.95)
    assert found is not None
    assert (found.estimate, found.p_value) == (alone.estimate, None)
    assert found.low is None or found.low <= 0
    assert found.note.startswith("rests on 15 samples")


def test_groups_that_one_of_them_carries() -> None:
    groups, reference = torch.arange(SAMPLES) % 20, table(2.0, 0.01)
    costs = reference.clone()
    costs[:, groups == 3] = 1.0
    found = resting(costs, reference, groups)
    assert found is not None
    assert (round(found.carrying), found.units, found.needed) == (1, 20, 120)
    assert found.text == "rests on 1 group: about 120 test groups would decide it"

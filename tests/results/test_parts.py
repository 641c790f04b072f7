"""The parts of a result."""

import math

import pytest
from pydantic import ValidationError

from labelspace.metrics import Interval
from labelspace.results import Change, Numbers, Trial


def test_a_change_says_what_its_interval_says() -> None:
    interval = Interval(-0.1, -0.2, 0.0, 0.9, 6, 100, "a note", 0.03)
    assert Change.of(interval).model_dump(exclude_unset=True) == vars(interval)
    assert Change.of(interval).unit == "relative"
    gains = Change.of(interval, "per sample", 2.0)
    assert gains.model_dump() == {**vars(interval), "unit": "per sample", "stake": 2.0}


def test_the_best_trial_costs_least_or_measures_most() -> None:
    assert Trial(validation_cost=0.2).merit > Trial(validation_cost=0.3).merit > Trial().merit == -math.inf
    assert Trial(validation_quality=31.0).merit > Trial(validation_quality=30.0).merit


def test_a_run_lies_inside() -> None:
    assert Trial(run="uniform-1-seed0").run == "uniform-1-seed0"
    for name in ("..", "a/b", "a\\b", ""):
        with pytest.raises(ValidationError, match="the name of a folder inside"):
            Trial(run=name)


def test_other_numbers_are_found_by_name() -> None:
    numbers = Numbers.model_validate({"cost": 1.0, "accuracy": 0.5, "kappa": 0.7})
    assert (numbers.of("kappa"), numbers.of("cost"), numbers.of("bleu")) == (0.7, 1.0, None)
    assert numbers.others == {"kappa": 0.7}

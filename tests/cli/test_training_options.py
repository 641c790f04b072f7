"""What was typed becomes fields of a configuration; what was not is left out."""

import pytest

from labelspace import InputError
from labelspace.cli.training_options import given
from labelspace.training.config import make_config


def test_what_was_not_typed_keeps_its_default() -> None:
    options = given(milestones="40, 80", momentum=0.0, gamma=None, best_by=None)
    assert options == {"momentum": 0.0, "milestones": [40, 80]}
    config = make_config(schedule="step", **options)
    assert (config.milestones, config.gamma, config.momentum) == ((40, 80), 0.1, 0.0)


def test_milestones_that_are_none() -> None:
    with pytest.raises(InputError, match="`--milestones` must be epochs separated by commas, such as 40,80. Got '4;8'"):
        given(milestones="4;8")

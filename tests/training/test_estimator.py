"""What a configuration means for an estimator."""

import pytest

from labelspace import InputError
from labelspace.training.config import Config
from labelspace.training.estimator import OF_STEPS, configured


def test_what_steps_need_is_not_in_the_key() -> None:
    one = configured(Config(model="sklearn:SVC", epochs=3, precision="float64", patience=2, seed=3), "images")
    other = configured(Config(model="sklearn:SVC", batch_size=7, schedule="linear", seed=3), "images")
    assert one == other
    assert set(OF_STEPS) <= set(Config.model_fields)
    third = configured(Config(model="sklearn:SVC", model_options={"C": 2}, limit=10), "images")
    assert third.key() != one.key()


def test_sequences_and_ranks_are_refused() -> None:
    with pytest.raises(InputError, match="reads and writes texts"):
        configured(Config(model="sklearn:SVC"), "sequences")
    with pytest.raises(InputError, match="several ranks"):
        configured(Config(model="sklearn:SVC", world=2), "images")

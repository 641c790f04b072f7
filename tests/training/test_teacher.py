"""A finished run as a teacher."""

from pathlib import Path

import pytest
import torch
from labelspace.training.teacher import Teacher

from labelspace import data
from labelspace.training.run import Run, train


@pytest.fixture(scope="module")
def run() -> Run:
    return train("digits", model="linear", epochs=1, limit=60)


def test_it_says_what_its_run_does(run: Run) -> None:
    dataset = data.load("digits")
    samples = dataset.test.x[:5]
    torch.testing.assert_close(Teacher(run, dataset)(dataset.normalise(samples)), run.scores_of(samples))


def test_one_of_other_classes_is_refused(run: Run) -> None:
    other = data.load("digits", classes=["1", "2", "3"])
    with pytest.raises(ValueError, match="`teacher` of train must be a run whose names are those of the data"):
        Teacher(run, other)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_weights_that_are_no_numbers_are_refused(run: Run, value: float) -> None:
    """Else the student's loss would be none, and its learning rate be blamed for it."""
    weights = {name: tensor.clone() for name, tensor in run.weights.items()}
    weights["model.head.weight"][3, 5] = value
    spoilt = Run(**{**vars(run), "weights": weights, "folder": Path("runs/spoilt")})
    words = "must be a run whose weights are finite numbers. Got runs/spoilt with others in 'model.head.weight'"
    with pytest.raises(ValueError, match=words):
        Teacher(spoilt, data.load("digits"))

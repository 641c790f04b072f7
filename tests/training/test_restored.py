"""The model of a record, where the code that made it has changed since."""

import pickle
from pathlib import Path

import pytest
import torch
from torch import nn

import labelspace
from labelspace import InputError, Run, data, train
from labelspace._checks import DamagedError
from labelspace.models.registry import PLUGINS
from labelspace.training.restored import Teacher

SAMPLES = torch.zeros(2, 1, 8, 8, dtype=torch.uint8)


def changing(input_shape, output_dim):
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 4), nn.Linear(4, output_dim))


def wider(input_shape, output_dim):
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 5), nn.Linear(5, output_dim))


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    labelspace.register_model("changing")(changing)
    return train(model="changing", data="digits", epochs=1, limit=100, out=tmp_path_factory.mktemp("runs"))


def test_the_same_code_says_nothing(run: Run) -> None:
    assert Run.load(run.folder).predict(SAMPLES).shape == (2,)


def test_other_code_is_told_of_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    known = PLUGINS.registered["changing"]
    monkeypatch.setitem(PLUGINS.registered, "changing", known._replace(key="another"))
    with pytest.warns(UserWarning, match="The code of .* model 'changing' is not what .* was trained with") as caught:
        assert Run.load(run.folder).predict(SAMPLES).shape == (2,)
    assert len(caught) == 1


def test_code_that_no_longer_fits_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    known = PLUGINS.registered["changing"]
    monkeypatch.setitem(PLUGINS.registered, "changing", known._replace(key="another", content=wider))
    with pytest.raises(InputError, match=r"has shape .* The code of one of them is not what it was trained with"):
        Run.load(run.folder).learner()


def test_a_run_on_disk_holds_no_weights(tmp_path: Path) -> None:
    kept = train("digits", model="mlp-400", epochs=1, limit=100, out=tmp_path)
    size = sum(tensor.nbytes for tensor in kept.weights.values())
    assert len(pickle.dumps(kept.read_weights)) < 10_000 < size
    loose = train("digits", model="mlp-400", epochs=1, limit=100)
    torch.testing.assert_close(loose.weights, kept.weights, rtol=0, atol=0)


def test_a_folder_that_was_replaced_changes_no_run_that_was_read(tmp_path: Path) -> None:
    first, second = (train("digits", model="linear", epochs=1, limit=100, seed=seed, out=tmp_path) for seed in (0, 1))
    assert first.folder is not None
    assert second.folder is not None
    run, wanted = Run.load(first.folder), first.weights
    (first.folder / "model.safetensors").write_bytes((second.folder / "model.safetensors").read_bytes())
    torch.testing.assert_close(run.weights, wanted, rtol=0, atol=0)
    assert run.learner().training is False
    # what a sweep leaves holds no weights: they are read when they are asked for, and are no longer its own
    with pytest.raises(DamagedError, match="its content is not what the run was finished with"):
        first.learner()


@pytest.fixture(scope="module")
def taught() -> Run:
    return train("digits", model="linear", epochs=1, limit=60)


def test_a_teacher_says_what_its_run_does(taught: Run) -> None:
    dataset = data.load("digits")
    samples = dataset.test.x[:5]
    torch.testing.assert_close(Teacher(taught, dataset)(dataset.normalize(samples)), taught.scores_of(samples))


def test_a_teacher_of_other_classes_is_refused(taught: Run) -> None:
    other = data.load("digits", classes=["1", "2", "3"])
    with pytest.raises(ValueError, match="`teacher` of train must be a run whose names are those of the data"):
        Teacher(taught, other)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_a_teacher_whose_weights_are_no_numbers_is_refused(taught: Run, value: float) -> None:
    """Else the student's loss would be none, and its learning rate be blamed for it."""
    weights = {name: tensor.clone() for name, tensor in taught.weights.items()}
    weights["model.head.weight"][3, 5] = value
    spoilt = Run(**{**vars(taught), "read_weights": lambda: weights, "folder": Path("runs/spoilt")})
    words = "must be a run whose weights are finite numbers. Got runs/spoilt with others in 'model.head.weight'"
    with pytest.raises(ValueError, match=words):
        Teacher(spoilt, data.load("digits"))

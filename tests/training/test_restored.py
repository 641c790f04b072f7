"""The model of a record, where the code that made it has changed since."""

import pickle
from pathlib import Path

import pytest
import torch
from torch import nn

import labelspace
from labelspace import InputError, Run, train
from labelspace.models.registry import PLUGINS

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
    for run in (kept, Run.load(kept.folder)):
        assert len(pickle.dumps(run.read_weights)) < 10_000 < size
    loose = train("digits", model="mlp-400", epochs=1, limit=100)
    torch.testing.assert_close(loose.weights, kept.weights, rtol=0, atol=0)


def test_weights_of_a_folder_that_was_replaced_are_refused(tmp_path: Path) -> None:
    first, second = (train("digits", model="linear", epochs=1, limit=100, seed=seed, out=tmp_path) for seed in (0, 1))
    run = Run.load(first.folder)
    assert first.folder is not None
    assert second.folder is not None
    (first.folder / "model.safetensors").write_bytes((second.folder / "model.safetensors").read_bytes())
    with pytest.raises(InputError, match="its content is not what the run was finished with"):
        run.learner()

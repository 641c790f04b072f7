"""Activations of a finished run: samples are prepared as for predictions."""

from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from labelspace import data, train
from labelspace.data.normalize import Normalize
from labelspace.training.run import Run


def test_layers_of_a_run_that_was_read_back(tmp_path: Path) -> None:
    digits = data.load("digits")
    trained = train("digits", model="mlp-12-6", epochs=1, limit=100, out=tmp_path)
    run = Run.load(trained.folder)
    x = digits.test.x[:20]
    model = run.learner().model
    with torch.no_grad():
        prepared = Normalize.stored(run.preprocessing)(x)
        output, features = model(prepared)
        hidden = model.body[:3](prepared)
    assert_close(run.features(x), features)
    assert_close(run.features(x, layer="body.2"), hidden)
    assert_close(run.features(x, layer="head"), output)
    assert_close(run.features(x, layer="head"), run.scores_of(x))
    with pytest.raises(
        ValueError, match=r"`layer` of Run\.features must be the name of a layer\. Got 'bod'\. The layers"
    ):
        run.features(x, layer="bod")


def test_layers_of_raw_rows() -> None:
    rows, labels = [[float(value)] for value in range(40)], ["low"] * 20 + ["tall"] * 20
    run = train((rows, labels), model="mlp-4-3", epochs=2)
    assert run.features(torch.tensor([[3.0], [35.0]]), layer="body.1").shape == (2, 4)

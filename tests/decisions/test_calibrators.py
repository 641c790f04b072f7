"""Calibrators as plain data."""

import json

import pytest
import torch

from labelspace import InputError
from labelspace.decisions import Isotonic, MatrixScaling, VectorScaling
from labelspace.decisions.calibrators import CALIBRATORS, FACTS, calibrator


def test_every_calibrator_is_read_from_its_own_data():
    scores, y = torch.randn(60, 2, generator=torch.Generator().manual_seed(0)), torch.arange(60) % 2
    assert {VectorScaling, MatrixScaling, Isotonic} == set(CALIBRATORS.values())
    for kind, made in CALIBRATORS.items():
        fitted = made().fit(scores, y)
        again = calibrator("Decision", json.loads(json.dumps(fitted.plain())), 2)
        assert (again.kind, set(fitted.plain())) == (kind, {"kind", *FACTS[kind]})
        torch.testing.assert_close(again.apply(scores), fitted.apply(scores))
        assert calibrator("Decision", fitted, 2) is fitted
    assert calibrator("Decision", None, 2) is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("vector", "`calibration` of Decision must be a calibrator or its plain data"),
        ({"kind": "beta"}, "`calibration` of Decision must be"),
        ({"kind": "vector", "bias": [0.0, 0.0]}, "of kind 'vector' with change and bias. Got bias"),
        ({"kind": "vector", "change": [0.0] * 3, "bias": [0.0] * 3}, "`calibration` of Decision must be of 2 classes"),
        (VectorScaling(), "of 2 classes. Got one that was not fitted"),
        ({"kind": "vector", "change": [0.0, float("nan")], "bias": [0.0, 0.0]}, "`change` of VectorScaling"),
        ({"kind": "isotonic", "points": "x", "values": [0.5]}, "`points` of Isotonic"),
    ],
)
def test_bad_data_get_one_sentence(given, words):
    with pytest.raises(InputError, match=words):
        calibrator("Decision", given, 2)

"""Soft labels for classifiers that are no networks."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from labelspace import compare
from labelspace.comparison.rivals import entries_of
from labelspace.comparison.soft import Softened
from labelspace.sources.matrices import ordinal
from labelspace.sweeps.executors import InProcess

NAMES = ("1", "2", "3")


def data(samples: int) -> SimpleNamespace:
    return SimpleNamespace(kind="table", train=range(samples), names=NAMES, input_shape=(2,), vocabulary=None)


def softened(samples: int, space: object) -> tuple[list[str], list[str]]:
    notes: list[str] = []
    entries, _ = entries_of(("LogisticRegression",), data(samples), trials=3)
    best = SimpleNamespace(entry=entries[0], options={"C": 0.1})
    found = Softened(space, data(samples), 3, notes)(best)
    assert all(each.settings["C"] == 0.1 and len(each.trials()) == 3 for each in found)
    return [each.label for each in found], notes


def test_a_label_space_gives_rows_and_what_takes_too_long_is_said() -> None:
    space = ordinal(NAMES)
    assert softened(100, space) == (["LogisticRegression, semantic", "LogisticRegression, uniform"], [])
    assert softened(100, None) == ([], [])
    labels, notes = softened(100_000, space)
    assert labels == []
    assert "100,000 samples × 3 classes" in notes[0]


def test_its_cost_is_that_of_weighted_samples(tmp_path) -> None:
    chance = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 60)
    x = np.stack([y + chance.normal(0, 0.7, len(y)), chance.normal(0, 1, len(y))], axis=1)
    options = {"strengths": {"uniform": [0.2]}, "model": "linear", "epochs": 2, "seeds": 1, "tuning": 1}
    options |= {"cost": "squared", "space": "1<2<3", "rivals": "LogisticRegression", "calibration": "none"}
    found = compare(
        (x, [NAMES[each] for each in y]), methods=["uniform"], out=tmp_path, executor=InProcess(), **options
    )
    row = next(row for row in found.result.rows if row.label == "LogisticRegression, uniform")
    from labelspace.data.given import as_dataset

    samples = as_dataset((x, [NAMES[each] for each in y]), {})
    train, test = (samples.normalize(part.x).double().numpy() for part in (samples.train, samples.test))
    train = (train - train.mean(0)) / (scale := train.std(0))
    test = (test - samples.normalize(samples.train.x).double().numpy().mean(0)) / scale
    share = row.strength.value
    weights = np.full((len(train), 3), share / 3 if row.strength.value else 0.0)
    weights[np.arange(len(train)), samples.train.y.numpy()] += 1 - share
    fitted = LogisticRegression(max_iter=1000)
    fitted.fit(np.repeat(train, 3, axis=0), np.tile(np.arange(3), len(train)), sample_weight=weights.reshape(-1))
    called = fitted.predict_proba(test).argmax(axis=1)
    assert row.argmax.accuracy == pytest.approx((called == samples.test.y.numpy()).mean())

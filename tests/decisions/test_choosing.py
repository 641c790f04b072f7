"""The rule of rows, and the choice by cross-validated cost."""

import numpy as np
import pytest
import torch
from sklearn.model_selection import StratifiedKFold
from torch.testing import assert_close

from labelspace import InputError
from labelspace.decisions import Temperature, VectorScaling
from labelspace.decisions.choosing import FOLDS, allowed, chosen, dealt, fitted, fitted_again, held_out_costs


def rows(samples, classes, seed=0, bias=0.0):
    """Return scores that fall short of the later classes by a bias."""
    random = np.random.default_rng(seed)
    y = np.arange(samples) % classes
    scores = random.normal(size=(samples, classes)) + 2 * np.eye(classes)[y] - bias * np.linspace(0, 1, classes)
    return torch.tensor(scores), torch.tensor(y)


def prices(classes):
    return (1 - torch.eye(classes)).double()


@pytest.mark.parametrize(
    ("samples", "classes", "expected"),
    [
        (300, 10, ()),
        (399, 10, ()),
        (400, 10, ("vector",)),
        (1999, 10, ("vector",)),
        (2000, 10, ("vector", "matrix")),
        (79, 2, ()),
        (80, 2, ("vector", "matrix")),
        (999, 2, ("vector", "matrix")),
        (1000, 2, ("vector", "matrix", "isotonic")),
        (100_001, 2, ()),  # takes longer than it is worth
    ],
)
def test_the_rule_of_rows(samples, classes, expected):
    assert allowed(torch.arange(samples) % classes, classes) == expected


def test_the_rarest_class_counts():
    y = torch.zeros(5000, dtype=torch.long)
    y[:9] = 1
    assert allowed(y, 2) == ()
    y[:10] = 1
    assert "isotonic" in allowed(y, 2)
    assert allowed(y, 3) == ()  # one that never comes


def test_folds_have_the_same_classes_and_are_always_the_same():
    y = torch.tensor(np.random.default_rng(0).choice(4, p=[0.6, 0.2, 0.15, 0.05], size=203))
    found = dealt(y, 5)
    assert_close(found, dealt(y, 5))
    counts = torch.stack([torch.bincount(y[found == number], minlength=4) for number in range(FOLDS)])
    assert int((counts.amax(dim=0) - counts.amin(dim=0)).max()) <= 1
    wanted = [len(out) for _, out in StratifiedKFold(FOLDS).split(y, y)]
    assert sorted(torch.bincount(found).tolist()) == sorted(wanted)


def test_held_out_costs_are_those_of_fits_on_the_other_folds():
    logits, y = rows(100, 2, bias=2.0)
    table = torch.tensor([[0.0, 1.0], [3.0, 0.0]]).double()
    whole = VectorScaling().fit(logits, y)
    found = held_out_costs(logits, y, table, {"vector": whole})
    fold = dealt(y, 5)
    for number in range(FOLDS):
        out = fold == number
        tau = Temperature().fit(logits[~out], y[~out]).value
        p = VectorScaling().fit(logits[~out] / tau, y[~out])(logits[out] / tau)
        assert_close(found["vector"][out], table[y[out], (p @ table).argmin(dim=1)])
        plain = (logits[out] / tau).softmax(dim=1)
        assert_close(found["temperature"][out], table[y[out], (plain @ table).argmin(dim=1)])


def test_a_bias_is_seen():
    found = chosen(*rows(600, 3, bias=4.0), prices(3))
    assert found.calibrator is not None
    assert found.costs[found.calibrator.kind] < found.costs["temperature"]
    assert set(found.costs) == {"temperature", "vector", "matrix"}


@pytest.mark.parametrize(("saving", "kind"), [(0.0, None), (1.9, None), (2.1, "vector")])
def test_another_is_taken_only_beyond_two_standard_errors(monkeypatch, saving, kind):
    logits, y = rows(100, 2)
    assert allowed(y, 2) == ("vector", "matrix")
    base = torch.zeros(100, dtype=torch.float64)
    saved = torch.tensor([1.0, -1.0] * 50, dtype=torch.float64)  # of standard error
    costs = {"temperature": base, "vector": base - saved - saving * float(saved.std()) / 10, "matrix": base + 1}
    monkeypatch.setattr("labelspace.decisions.choosing.held_out_costs", lambda *_: costs)
    found = chosen(logits, y, prices(2)).calibrator
    assert (None if found is None else found.kind) == kind


def test_few_rows_get_a_temperature_and_nothing_else_is_tried():
    logits, y = rows(300, 10, bias=4.0)
    found = chosen(logits, y, prices(10))
    assert (found.calibrator, found.costs) == (None, None)
    assert found.temperature == Temperature().fit(logits, y).value


def test_what_is_asked_for_is_fitted_whatever_the_rows():
    logits, y = rows(30, 3, bias=3.0)
    assert fitted("none", logits, y) == (1.0, None, None)
    assert fitted("temperature", logits, y).calibrator is None
    assert fitted("vector", logits, y).calibrator.kind == "vector"
    assert fitted("matrix", logits, y).calibrator.kind == "matrix"
    with pytest.raises(InputError, match="must be of two classes"):
        fitted("isotonic", logits, y)


def test_a_calibrator_is_fitted_to_other_rows() -> None:
    scores, y = rows(400, 2, bias=1.0)
    how = fitted("vector", scores, y)
    again = fitted_again(how, scores[:200], y[:200])
    alone = fitted("vector", scores[:200], y[:200])
    assert again.temperature == pytest.approx(alone.temperature)
    assert again.calibrator is not None
    assert alone.calibrator is not None
    assert_close(again.calibrator.apply(scores), alone.calibrator.apply(scores), rtol=1e-5, atol=1e-6)
    curve = fitted("isotonic", scores, y)
    assert fitted_again(curve, scores[y == 0], y[y == 0]) is curve  # one class says nothing of a curve between two

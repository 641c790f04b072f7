"""Probabilities of decisions with a calibrator and with other class frequencies."""

import json
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from labelspace import InputError
from labelspace.decisions import Decision, Isotonic, MatrixScaling, VectorScaling

NAMES = ["a", "b"]
PRICES = [[0, 1], [4, 0]]


def samples():
    draw = torch.Generator().manual_seed(3)
    y = torch.arange(300) % 2
    scores = torch.randn(300, 2, generator=draw) + torch.nn.functional.one_hot(y, 2) + torch.tensor([1.5, 0.0])
    return scores, y


@pytest.mark.parametrize("made", [VectorScaling, MatrixScaling, Isotonic])
def test_a_decision_applies_its_calibrator_after_the_temperature(made, tmp_path):
    scores, y = samples()
    fitted = made().fit(scores / 2, y)
    decision = Decision("min_cost", 2.0, PRICES, NAMES, calibration=fitted)
    expected = fitted(scores / 2)
    assert_close(decision.probabilities(scores), expected)
    called = (expected.double() @ torch.tensor(PRICES).double()).argmin(dim=1)
    assert_close(decision.decide(scores).classes, called)
    again = Decision.load(decision.save(tmp_path / "decision.json"))
    assert_close(again.probabilities(scores), expected)
    assert again.plain() == decision.plain()
    # the likeliest class is that of the probabilities, not of the scores, which favour the first
    plain = replace(decision, rule="argmax")
    assert_close(plain.decide(scores).classes, expected.argmax(dim=1))
    assert_close(decision.likeliest(scores), expected.argmax(dim=1))
    assert not torch.equal(plain.decide(scores).classes, scores.argmax(dim=1))


def test_a_prior_multiplies_and_is_kept(tmp_path):
    scores, _ = samples()
    decision = Decision("min_cost", 1.0, PRICES, NAMES, frequencies=[0.5, 0.5])
    other = decision.with_prior({"b": 0.9, "a": 0.1})
    weighed = scores.softmax(dim=1).double() * torch.tensor([0.2, 1.8]).double()
    assert_close(other.probabilities(scores), (weighed / weighed.sum(dim=1, keepdim=True)).float())
    again = Decision.load(other.save(tmp_path / "decision.json"))
    assert again.plain() == other.plain()
    assert_close(again.with_prior(None).probabilities(scores), decision.probabilities(scores))
    assert_close(decision.probabilities(scores), scores.softmax(dim=1))
    assert_close(other.decide(scores).classes, (other.probabilities(scores).double() @ other.prices).argmin(dim=1))


def test_what_was_written_before_there_were_calibrators_still_loads(tmp_path):
    path = tmp_path / "decision.json"
    facts = {"rule": "min_cost", "temperature": 2.0, "cost": PRICES, "names": NAMES, "abstain_cost": None}
    path.write_text(json.dumps(facts))
    decision = Decision.load(path)
    assert decision.plain() == facts | {"cost": [[0.0, 1.0], [4.0, 0.0]]}
    assert (decision.calibration, decision.prior, decision.reorders) == (None, None, False)


def test_bad_parts_get_one_sentence(tmp_path):
    path = tmp_path / "decision.json"
    facts = {"rule": "argmax", "temperature": 2.0, "cost": None, "names": NAMES, "abstain_cost": None}
    path.write_text(json.dumps(facts | {"calibration": {"kind": "vector", "change": [0.0], "bias": [0.0]}}))
    with pytest.raises(InputError, match="`path` of Decision.load must be a sound decision.*must be of 2 classes"):
        Decision.load(path)
    with pytest.raises(InputError, match="`frequencies` of Decision must be known beside a prior"):
        Decision("argmax", 1.0, None, NAMES).with_prior([0.5, 0.5])
    with pytest.raises(InputError, match="`scores` of Decision must be of 2 columns"):
        Decision("argmax", 1.0, None, NAMES, frequencies=[0.5, 0.5], prior=[0.1, 0.9]).probabilities(torch.eye(3))

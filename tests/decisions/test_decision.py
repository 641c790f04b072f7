"""Decision: by hand, against labelspace.decisions.rules, and as a file that may be damaged."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labelspace import LabelSpace, cost, decisions
from labelspace._checks import DamagedError
from labelspace.decisions.decision import Decision
from signing import signed

NAMES = ["well", "ill"]
PRICES = [[0.0, 1.0], [5.0, 0.0]]


def test_by_hand() -> None:
    # log 4 against 0 is 0.8 against 0.2: "well" is expected to cost 0.2·5 = 1, "ill" 0.8·1
    scores = torch.tensor([[4.0, 1.0], [9.0, 1.0]]).log()
    cheap = Decision("min_cost", 1.0, PRICES, NAMES)
    classes, probability, abstained, actions = cheap.decide(scores)
    torch.testing.assert_close(actions, classes)
    torch.testing.assert_close(classes, torch.tensor([1, 0]))
    torch.testing.assert_close(probability, torch.tensor([0.2, 0.9]))
    assert not abstained.any()
    likely = Decision("argmax", 1.0, None, NAMES)
    torch.testing.assert_close(likely.decide(scores).classes, torch.tensor([0, 0]))
    # a price of 0.6 is less than 0.8, and more than 0.1·5
    assert cheap.with_abstain_cost(0.6).decide(scores).abstained.tolist() == [True, False]
    # without prices a mistake costs 1: 0.2 and 0.1 are expected
    assert likely.with_abstain_cost(0.15).decide(scores).abstained.tolist() == [True, False]


def test_the_temperature_divides_the_scores() -> None:
    scores = torch.tensor([[2.0, 0.0], [0.0, 6.0]])
    found = Decision("argmax", 2.0, None, NAMES).probabilities(scores)
    torch.testing.assert_close(found, torch.softmax(scores / 2, dim=1))


def test_it_is_what_decide_says() -> None:
    draw = torch.Generator().manual_seed(0)
    scores, prices = torch.randn(200, 5, generator=draw), torch.rand(5, 5, generator=draw).fill_diagonal_(0)
    decision = Decision("min_cost", 0.7, prices, list("abcde"), abstain_cost=0.2)
    p = decisions.Temperature(0.7)(scores)
    decided = decision.decide(scores)
    torch.testing.assert_close(decided.classes, decisions.min_cost(p, prices))
    torch.testing.assert_close(decided.abstained, decisions.abstain(p, prices, 0.2) == -1)
    assert 0 < int(decided.abstained.sum()) < 200


def test_classes_that_are_nearly_certain_keep_their_order() -> None:
    scores = torch.tensor([[0.0, 200.0, 200.00002]])
    assert Decision("argmax", 100.0, None, list("abc")).decide(scores).classes.tolist() == [2]


@pytest.mark.parametrize("price", [None, 0.5])
@pytest.mark.parametrize("prices", [None, PRICES, cost(PRICES, NAMES)])
def test_there_and_back(tmp_path: Path, prices: Any, price: float | None) -> None:
    decision = Decision("argmax" if prices is None else "min_cost", 1.3, prices, NAMES, price)
    stored = json.loads(decision.save(tmp_path / "decision.json").read_text())
    matrix = prices.matrix.tolist() if isinstance(prices, LabelSpace) else prices
    rule = "argmax" if prices is None else "min_cost"
    assert stored == signed(stored)
    del stored["digest"]
    assert stored == {"rule": rule, "temperature": 1.3, "cost": matrix, "names": NAMES, "abstain_cost": price}
    assert Decision.load(tmp_path / "decision.json").plain() == stored


SOUND = {"rule": "argmax", "temperature": 1.0, "cost": None, "names": NAMES, "abstain_cost": None}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rule": "argmin"}, "`rule` of Decision must be one of"),
        ({"rule": ["argmax"]}, "`rule`"),
        ({"rule": "min_cost"}, "`cost` of Decision must be given"),
        ({"temperature": 0}, "`temperature`"),
        ({"temperature": float("nan")}, "`temperature`"),
        ({"temperature": "1"}, "`temperature`"),
        ({"cost": [[0, 1, 2], [1, 0, 1], [1, 1, 0]]}, "shape"),
        ({"cost": [[0, -1], [1, 0]]}, "non-negative"),
        ({"cost": [[0, 1], [1]]}, "`cost`"),
        ({"names": "ab"}, "names"),
        ({"names": ["a", "a"]}, "unique"),
        ({"abstain_cost": -1}, "`abstain_cost`"),
        ({"extra": 1}, "a decision with rule, temperature"),
    ],
)
def test_a_file_is_checked_like_anything_else(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    path = tmp_path / "decision.json"
    path.write_text(json.dumps({**SOUND, **change}))
    with pytest.raises(ValueError, match="`path` of Decision.load must be") as caught:
        Decision.load(path)
    assert words in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_files_that_are_no_decision(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "decision.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="`path` of Decision.load must be"):
        Decision.load(path)


def test_scores_of_other_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="`scores` of Decision must be of 2 columns"):
        Decision("argmax", 1.0, None, NAMES).decide(torch.zeros(3, 4))


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    path = Decision("min_cost", 1.3, PRICES, NAMES).save(tmp_path / "decision.json")
    facts = json.loads(path.read_text())
    for change in ({"temperature": 1.2}, {"names": NAMES[::-1]}, {"digest": "0" * 32}, {"run": "another"}):
        path.write_text(json.dumps({**facts, **change}))
        with pytest.raises(DamagedError, match=r"decision.json: its content is not what was written.*take its digest"):
            Decision.load(path)
        with pytest.warns(UserWarning, match=r"decision.json is damaged \(its content .*; it is read as it is"):
            Decision.load(path, allow_damaged=True)
    # of an earlier version, or by hand; and laid out otherwise
    path.write_text(json.dumps({name: value for name, value in facts.items() if name != "digest"}))
    assert Decision.load(path).temperature == 1.3
    path.write_text(json.dumps(dict(reversed(facts.items()))))
    assert Decision.load(path).temperature == 1.3


def test_judged_beside_plain_loops() -> None:
    generator = torch.Generator().manual_seed(3)
    scores, y = torch.randn(40, 3, generator=generator, dtype=torch.float64), torch.arange(40) % 3
    prices = np.array([[0.0, 1, 4], [2, 0, 1], [9, 3, 0]])
    p = np.exp(scores.numpy() / 1.7) / np.exp(scores.numpy() / 1.7).sum(axis=1, keepdims=True)
    for rule, expected in (("min_cost", p @ prices), ("argmax", 1 - p)):
        decision = Decision(rule, 1.7, prices, ["a", "b", "c"])
        found = decision.judge(scores, y)
        called = expected.argmin(axis=1)
        assert found.classes.tolist() == called.tolist() == decision.decide(scores).classes.tolist()
        paid = prices if rule == "min_cost" else 1 - np.eye(3)
        np.testing.assert_allclose(found.costs.numpy(), paid[y.numpy(), called])
        np.testing.assert_allclose(found.expected.numpy(), expected.min(axis=1))
        np.testing.assert_allclose(found.probabilities.numpy(), p)
    by_prices = Decision("argmax", 1.7, None, ["a", "b", "c"]).judge(scores, y, torch.from_numpy(prices))
    np.testing.assert_allclose(by_prices.costs.numpy(), prices[y.numpy(), p.argmax(axis=1)])

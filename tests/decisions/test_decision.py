"""Decision: by hand, against labelspace.decisions.rules, and as a file that may be damaged."""

import json
from dataclasses import replace
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


GRADES = ["mild", "severe"]
DONE = ["predict mild", "predict severe", "order a test", "send to a person"]
TABLE = [[0.0, 2.0, 1.0, 1.5], [20.0, 0.0, 2.0, 1.5]]
# p(mild) = 0.98, 0.8, 0.3, 0.1: "predict mild" costs 20 times the rest, "predict severe" 2 p, a test 1 p + 2 (1 − p)
#                 predict mild  predict severe  order a test  a person
# p(mild) = 0.98:   0.4            1.96            1.02          1.5
# p(mild) = 0.8:    4              1.6             1.2           1.5
# p(mild) = 0.3:   14              0.6             1.7           1.5
# p(mild) = 0.1:   18              0.2             1.9           1.5
CHANCES = torch.tensor([[0.98, 0.02], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]], dtype=torch.float64)
EXPECTED = [[0.4, 1.96, 1.02, 1.5], [4, 1.6, 1.2, 1.5], [14, 0.6, 1.7, 1.5], [18, 0.2, 1.9, 1.5]]


def acting(**options: Any) -> Decision:
    return Decision("min_cost", 1.0, TABLE, GRADES, actions=DONE, **options)


def test_actions_by_hand() -> None:
    decision, scores = acting(), CHANCES.log()
    np.testing.assert_allclose(decision.expected_costs(scores), EXPECTED, rtol=1e-12)
    assert decision.doing(scores) == ["predict mild", "order a test", "predict severe", "predict severe"]
    decided = decision.decide(scores)
    assert decided.classes.tolist() == [-1] * 4, "none of them is a class"
    assert decided.probability.isnan().all()
    # of true mild, severe, mild, mild: 0, 2, 2, 2
    judged = decision.judge(scores, torch.tensor([0, 1, 0, 0]))
    assert judged.costs.tolist() == [0, 2, 2, 2]
    np.testing.assert_allclose(judged.expected, [0.4, 1.2, 0.6, 0.2])
    # the likeliest class is mild twice, which is best predicted so; the second pays 20 where it is severe
    likely = Decision("argmax", 1.0, TABLE, GRADES, actions=DONE)
    assert likely.doing(scores) == ["predict mild", "predict mild", "predict severe", "predict severe"]
    assert likely.judge(scores, torch.tensor([0, 1, 0, 0])).costs.tolist() == [0, 20, 2, 2]
    # abstaining is one more action, of one price: 1.1 is less than the test's 1.2
    leaving = acting(abstain_cost=1.1)
    assert leaving.action_names == (*DONE, "abstain")
    assert leaving.named(leaving.decide(scores)) == ["predict mild", None, "predict severe", "predict severe"]
    assert leaving.judge(scores, torch.tensor([0, 1, 0, 0])).costs.tolist() == [0, 1.1, 2, 2]
    priced = Decision("min_cost", 1.0, [[*row, 1.1] for row in TABLE], GRADES, actions=[*DONE, "leave it"])
    assert priced.doing(scores) == ["predict mild", "leave it", "predict severe", "predict severe"]


def test_classes_are_called_where_the_action_is_one() -> None:
    decision = Decision("min_cost", 1.0, TABLE, GRADES, actions=[*GRADES, *DONE[2:]])
    decided = decision.decide(CHANCES.log())
    assert decided.classes.tolist() == [0, -1, 1, 1]
    assert decided.actions.tolist() == [0, 2, 1, 1]
    torch.testing.assert_close(
        decided.probability, torch.tensor([0.98, torch.nan, 0.7, 0.9], dtype=torch.float64), equal_nan=True
    )


def test_gains_and_what_being_right_costs() -> None:
    # a found severe case gains 3, a called mild one costs 0.5: 0.8·0.5 + 0.2·4 = 1.2 for mild, 0.8·1 − 0.2·3 = 0.2
    table = [[0.5, 1.0], [4.0, -3.0]]
    decision = Decision("min_cost", 1.0, table, GRADES, actions=GRADES)
    np.testing.assert_allclose(decision.expected_costs([np.log([0.8, 0.2])]), [[1.2, 0.2]])
    assert decision.doing([np.log([0.8, 0.2])]) == ["severe"]
    # prices of mistakes alone may be named so as well, in any order
    turned = Decision("min_cost", 1.0, [[1.0, 0.0], [0.0, 5.0]], GRADES, actions=GRADES[::-1])
    assert (turned.actions, turned.plain()) == (None, Decision("min_cost", 1.0, [[0, 1], [5, 0]], GRADES).plain())


def test_a_frame_names_the_actions(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TABLE, index=GRADES, columns=DONE).iloc[::-1]
    decision = Decision("min_cost", 1.0, frame, GRADES)
    assert decision.plain() == acting().plain()
    again = Decision.load(decision.save(tmp_path / "decision.json"))
    assert (again.plain(), again.doing(CHANCES.log())) == (decision.plain(), decision.doing(CHANCES.log()))


@pytest.mark.parametrize("seed", range(3))
def test_actions_beside_plain_loops(seed: int) -> None:
    draw = np.random.default_rng(seed)
    table, p = draw.normal(size=(4, 7)), draw.dirichlet(np.ones(4), size=60)
    decision = Decision("min_cost", 1.0, table, list("abcd"), actions=list("tuvwxyz"))
    wanted = [min(range(7), key=lambda a, row=row: sum(row[j] * table[j, a] for j in range(4))) for row in p]
    assert decision.decide(np.log(p)).actions.tolist() == wanted


def test_ties_go_to_what_is_best_for_the_likelier_class() -> None:
    # "a" and "c" cost 0.5 each; "a" is best for the first class (0.4), "c" for the second (0.6)
    table = [[0.2, 9.0, 1.0], [0.7, 9.0, 0.5 / 3]]
    assert Decision("min_cost", 1.0, table, GRADES, actions=list("abc")).doing([np.log([0.4, 0.6])]) == ["c"]


def test_prices_of_each_sample() -> None:
    decision, scores, y = acting(), CHANCES.log(), torch.tensor([0, 1, 0, 0])
    own = torch.tensor(TABLE).expand(4, 2, 4).clone()
    torch.testing.assert_close(decision.decide(scores, prices=own).actions, decision.decide(scores).actions)
    own[1, :, 3] = 0.1  # a person is there for the second
    assert decision.doing(scores, prices=own)[1] == "send to a person"
    judged = decision.judge(scores, y, own)
    np.testing.assert_allclose(judged.costs, [0, 0.1, 2, 2])
    np.testing.assert_allclose(judged.expected, [0.4, 0.1, 0.6, 0.2], rtol=1e-6)


def test_a_factor_changes_costs_and_no_choice_but_that_of_abstaining() -> None:
    scores, y, amounts = CHANCES.log(), torch.tensor([0, 1, 0, 0]), [1.0, 100.0, 0.5, 3.0]
    decision = acting()
    assert decision.doing(scores, weights=amounts) == decision.doing(scores)
    judged = decision.judge(scores, y, weights=amounts)
    assert judged.costs.tolist() == [0, 200, 1, 6]
    np.testing.assert_allclose(judged.expected, [0.4, 120, 0.3, 0.6])
    # leaving it to somebody costs 5 whatever is at stake
    leaving = acting(abstain_cost=5.0)
    assert leaving.decide(scores).abstained.tolist() == [False] * 4
    assert leaving.decide(scores, weights=amounts).abstained.tolist() == [False, True, False, False]
    assert leaving.judge(scores, y, weights=amounts).costs.tolist() == [0, 5, 1, 6]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"actions": [*DONE[:3], ""]}, "`actions` of Decision must be a name for every action. Got '' for action 3"),
        ({"actions": DONE[:3]}, r"`cost` of Decision must be of shape \(2, 3\).*Got shape \(2, 4\)"),
        ({"names": ["a", "b", "c"]}, r"`cost` of Decision must be of shape \(3, 4\)"),
        ({"cost": None, "rule": "argmax"}, "`actions` of Decision must be given with prices"),
        ({"cost": [[0, 1, 2, float("nan")], [0, 1, 2, 3]]}, "`cost` of Decision must be finite. Got nan at row 0"),
        ({"actions": ["a", "b", "c", "abstain"], "abstain_cost": 1.0}, "left out beside 'abstain' in the table"),
        ({"added": {"predcit mild": 1.0}}, "names of actions. Got 'predcit mild'.*Did you mean 'predict mild'"),
        ({"added": {"predict mild": -1.0}}, "`added` of Decision must be a number"),
    ],
)
def test_actions_that_do_not_match(options: dict[str, Any], message: str) -> None:
    given = {"rule": "min_cost", "temperature": 1.0, "cost": TABLE, "names": GRADES, "actions": DONE, **options}
    with pytest.raises(ValueError, match=message) as error:
        Decision(**given)
    assert "\n" not in str(error.value)


def test_a_decision_of_earlier_versions_is_read(tmp_path: Path) -> None:
    path = tmp_path / "decision.json"
    path.write_text(json.dumps({**SOUND, "rule": "min_cost", "cost": PRICES}))
    assert Decision.load(path).plain() == Decision("min_cost", 1.0, PRICES, NAMES).plain()
    path.write_text(json.dumps({**SOUND, "rule": "min_cost", "cost": TABLE, "names": GRADES, "actions": DONE}))
    assert Decision.load(path).doing(CHANCES.log()) == acting().doing(CHANCES.log())


def test_a_limit_that_was_found_at_other_frequencies_is_refused():
    decision = Decision("min_cost", 1.0, [[0, 1], [5, 0]], ["well", "ill"], frequencies=[0.5, 0.5])
    scores = torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
    limited = decision.with_capacity(scores, {"ill": 0.1})
    with pytest.raises(ValueError, match="without limits. Got it with a limit of .*Limit it after the prior"):
        limited.with_prior([0.9, 0.1])
    assert limited.with_prior(None).added == limited.added
    again = replace(limited, added=None).with_prior([0.1, 0.9]).with_capacity(scores, {"ill": 0.1})
    assert float((again.decide(scores).classes == 1).double().mean()) <= 0.1

"""Decisions: the cheapest class, and abstention."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from labelspace import Decision, cost, data, train, tree, uniform
from labelspace.decisions import abstain, expected_cost_of, min_cost
from labelspace.decisions.rules import RULES, Rule
from labelspace.serving.card import card


def random_probabilities(seed, samples=50, classes=5):
    return torch.tensor(np.random.default_rng(seed).dirichlet(np.ones(classes), samples))


def random_prices(seed, classes=5):
    prices = np.random.default_rng(seed).exponential(size=(classes, classes))
    np.fill_diagonal(prices, 0)
    return torch.tensor(prices)


def test_expected_cost_and_min_cost_by_hand():
    # p = (0.5, 0.3, 0.2), C = [[0, 1, 2], [1, 0, 1], [4, 2, 0]]:
    # class 0 costs 0.3·1 + 0.2·4 = 1.1; class 1 costs 0.5·1 + 0.2·2 = 0.9; class 2 costs 0.5·2 + 0.3·1 = 1.3.
    prices = cost([[0, 1, 2], [1, 0, 1], [4, 2, 0]], ["a", "b", "c"])
    p = torch.tensor([[0.5, 0.3, 0.2]])
    assert_close(expected_cost_of(p, prices), torch.tensor([[1.1, 0.9, 1.3]]))
    assert min_cost(p, prices).tolist() == [1]
    assert abstain(p, prices, 0.89).tolist() == [-1]
    assert abstain(p, prices, 0.91).tolist() == [1]


@given(seed=st.integers(0, 100_000), classes=st.integers(1, 8))
def test_min_cost_equals_the_written_out_argmin(seed, classes):
    p, prices = random_probabilities(seed, classes=classes), random_prices(seed, classes)
    expected = np.array([[sum(row[j] * prices[j, k] for j in range(classes)) for k in range(classes)] for row in p])
    assert_close(expected_cost_of(p, prices), torch.tensor(expected), atol=1e-12, rtol=1e-12)
    assert min_cost(p, prices).tolist() == expected.argmin(axis=1).tolist()


@given(seed=st.integers(0, 100_000))
def test_min_cost_never_costs_more_than_argmax(seed):
    p, prices = random_probabilities(seed).float(), random_prices(seed).round()
    expected = expected_cost_of(p, prices)
    chosen = expected.gather(1, min_cost(p, prices)[:, None])
    assert bool((chosen <= expected.gather(1, p.argmax(dim=1, keepdim=True))).all())


@given(seed=st.integers(0, 100_000))
def test_min_cost_of_equal_prices_is_argmax(seed):
    p = random_probabilities(seed)
    assert_close(min_cost(p, 1 - torch.eye(5)), p.argmax(dim=1))


def test_min_cost_ties_go_to_the_likelier_class_then_to_the_lower_index():
    # nothing costs anything: the likeliest, and the first of the two likeliest
    assert min_cost([[0.2, 0.5, 0.3], [0.2, 0.4, 0.4]], torch.zeros(3, 3)).tolist() == [1, 1]
    # |i − j| prices: every median costs the same, so with p = (0.5, 0.1, 0.4) classes 0 and 1 tie
    prices = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert min_cost([[0.5, 0.1, 0.4]], prices).tolist() == [0]
    # 0.1 + 0.2 + 0.7 adds up differently in another order; equal costs must still be equal
    assert min_cost([[0.1, 0.2, 0.7, 0.0]], torch.zeros(4, 4) + 0.3 * (1 - torch.eye(4))).tolist() == [2]


def test_a_taxonomy_prices_mistakes_by_edges():
    # cat and dog are 2 edges apart, car 4 from both: p = (0.3, 0.3, 0.4) costs 0.3·2 + 0.4·4 = 2.2 for cat or dog
    # and (0.3 + 0.3)·4 = 2.4 for car, the likeliest
    animals = tree({"pet": ["cat", "dog"], "vehicle": ["car"]})
    assert min_cost([[0.3, 0.3, 0.4]], animals).tolist() == [0]


def test_abstention_equals_the_rule_and_the_cheaper_side():
    p, prices = random_probabilities(5), random_prices(5)
    expected = expected_cost_of(p, prices)
    decided = abstain(p, prices, 0.3)
    assert_close(decided == -1, expected.amin(dim=1) > 0.3)
    assert_close(decided[decided >= 0], min_cost(p, prices)[decided >= 0])
    assert bool((abstain(p, prices, 0.0) == -1).all())
    # a tie is decided
    assert abstain([[0.5, 0.5]], [[0, 1], [1, 0]], 0.5).tolist() == [0]


@pytest.mark.parametrize(
    ("probabilities", "prices", "message"),
    [
        ([[0.5, 0.6]], [[0, 1], [1, 0]], "rows sum to 1. Got 1.1 in row 0. Turn scores into probabilities"),
        ([[1.5, -0.5]], [[0, 1], [1, 0]], "none below 0. Got -0.5 in row 0"),
        ([[math.nan, 1.0]], [[0, 1], [1, 0]], "finite. Got nan at row 0, column 0"),
        ([0.5, 0.5], [[0, 1], [1, 0]], r"a two-dimensional array. Got shape \(2,\)"),
        ([[0.5, 0.5]], [[1, 1], [1, 0]], r"zero on its diagonal \(being right costs nothing\). Got 1 for class 0"),
        ([[0.5, 0.5]], [[0, -1], [1, 0]], "non-negative. Got -1 at row 0, column 1. Shift gains"),
        ([[0.5, 0.5]], np.zeros((3, 3)), r"`cost` of .* must be of shape \(2, 2\). Got shape \(3, 3\)"),
        ([[0.5, 0.5]], np.zeros((2, 3)), r"a square array"),
        ([[0.5, 0.5]], [[0, math.inf], [1, 0]], "`cost` of .* must be finite. Got inf"),
        ([[0.5, 0.5]], uniform(2), "a cost space or one from a taxonomy or an order. Got LabelSpace.*Build one with"),
    ],
)
def test_bad_probabilities_and_prices_are_refused(probabilities, prices, message):
    for decide in (min_cost, expected_cost_of, lambda p, c: abstain(p, c, 1.0)):
        with pytest.raises(ValueError, match=message):
            decide(probabilities, prices)


def test_abstain_refuses_a_negative_price():
    with pytest.raises(ValueError, match="`abstain_cost` of abstain must be a number in"):
        abstain([[0.5, 0.5]], [[0, 1], [1, 0]], -1)


def test_equal_prices_choose_the_class_whatever_the_rounding() -> None:
    assert abstain([[0.7, 0.1, 0.2]], 1 - torch.eye(3), 0.3).tolist() == [0]
    assert abstain(torch.tensor([[0.9, 0.1]]), [[0, 1], [5, 0]], 0.5).tolist() == [0]


def median(_scores: torch.Tensor, probabilities: torch.Tensor, _prices: torch.Tensor | None) -> torch.Tensor:
    return (probabilities.cumsum(dim=1) < 0.5).sum(dim=1)


def test_a_third_rule_is_one_entry_of_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "median", Rule("the middle class", "median class", False, median))
    digits = data.load("digits")
    run = train(digits, model="linear", epochs=1, limit=100)
    decision = Decision("median", 1.3, None, run.preprocessing["names"])
    scores = run.scores["test_scores"]
    exponentials = np.exp(scores.double().numpy() / 1.3)
    wanted = [int(np.searchsorted(row.cumsum() / row.sum(), 0.5)) for row in exponentials]
    assert decision.decide(scores).classes.tolist() == wanted
    assert wanted != scores.argmax(dim=1).tolist()
    assert Decision.load(decision.save(tmp_path / "decision.json")).rule == "median"
    text = card(run, decision)
    right = np.mean(np.array(wanted) == run.scores["test_y"].numpy())
    assert "| decision | the middle class |" in text
    assert f"| median class | {right:.4f} |" in text
    assert "| likeliest class |" in text
    for name in ("onnx", "onnxscript"):
        pytest.importorskip(name)
    runtime = pytest.importorskip("onnxruntime")
    from labelspace.serving.onnx import export_onnx

    export_onnx(run, decision, tmp_path / "m.onnx")
    session = runtime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    assert session.run(["decision"], {"x": digits.test.x.numpy()})[0].tolist() == wanted


def test_a_third_rule_may_need_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    def least_worst(_scores: torch.Tensor, _probabilities: torch.Tensor, prices: torch.Tensor | None) -> torch.Tensor:
        assert prices is not None
        return prices.amax(dim=0).argmin().expand(len(_scores))

    monkeypatch.setitem(RULES, "minimax", Rule("the class of the least worst price", "least worst", True, least_worst))
    with pytest.raises(ValueError, match="`cost` of Decision must be given for 'minimax'"):
        Decision("minimax", 1.0, None, ["well", "ill"])
    decision = Decision("minimax", 1.0, [[0, 1], [5, 0]], ["well", "ill"])
    judged = decision.judge(torch.tensor([[9.0, 0.0], [0.0, 9.0]]), torch.tensor([0, 1]))
    assert (judged.classes.tolist(), judged.costs.tolist()) == ([1, 1], [1.0, 0.0])

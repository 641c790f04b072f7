"""Costs: by hand, and against sums written out."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mean_squared_error
from torch.testing import assert_close

from labelspace import cost, ordinal, tree, uniform, wordnet
from labelspace.decisions import abstain
from labelspace.metrics import accuracy, costliest_confusions, expected_cost, severity, top_cost, value_mse

# By hand: y = 0 0 1 2, predicted 0 1 2 0, prices C = [[0, 1, 2], [1, 0, 3], [6, 1, 0]]:
# paid are C[0,0] = 0, C[0,1] = 1, C[1,2] = 3, C[2,0] = 6; 10 in all.
PRICES = [[0, 1, 2], [1, 0, 3], [6, 1, 0]]
Y, PREDICTED = [0, 0, 1, 2], [0, 1, 2, 0]


def test_costs_by_hand():
    assert expected_cost(PREDICTED, Y, PRICES) == 2.5
    assert expected_cost(PREDICTED, Y, PRICES, per_sample=True).tolist() == [0, 1, 3, 6]
    assert severity(PREDICTED, Y, PRICES) == pytest.approx(10 / 3)
    assert severity(Y, Y, PRICES) == 0.0
    worst = costliest_confusions(PREDICTED, Y, PRICES, ["a", "b", "c"], k=2)
    assert worst == [("c", "a", 1, 6.0, 0.6), ("b", "c", 1, 3.0, 0.3)]
    assert costliest_confusions(Y, Y, PRICES) == []


def test_top_cost_by_hand():
    # the two best guesses are 0 then 2 for a true 0: (0 + 2)/2 = 1; and 1 then 0 for a true 2: (1 + 6)/2 = 3.5
    scores = [[0.6, 0.1, 0.3], [0.3, 0.5, 0.2]]
    assert top_cost(scores, [0, 2], PRICES, k=2) == pytest.approx((1 + 3.5) / 2)
    assert top_cost(scores, [0, 2], PRICES, k=2, per_sample=True).tolist() == [1, 3.5]
    assert top_cost(scores, [0, 2], PRICES, k=1) == expected_cost(scores, [0, 2], PRICES)


@given(seed=st.integers(0, 100_000), classes=st.integers(2, 7))
def test_costs_equal_sums_written_out(seed, classes):
    random = np.random.default_rng(seed)
    prices = random.exponential(size=(classes, classes)) * (1 - np.eye(classes))
    scores, y = random.normal(size=(40, classes)), random.integers(0, classes, 40)
    predicted = scores.argmax(axis=1)
    paid = np.array([prices[t, p] for t, p in zip(y, predicted, strict=True)])
    assert expected_cost(scores, y, prices) == pytest.approx(paid.mean(), abs=1e-12)
    assert expected_cost(predicted, y, prices) == pytest.approx(paid.mean(), abs=1e-12)
    assert severity(scores, y, prices) == pytest.approx(paid[y != predicted].mean(), abs=1e-12)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :2]
    guessed = [prices[t, b].mean() for t, b in zip(y, best, strict=True)]
    assert top_cost(scores, y, prices, 2) == pytest.approx(np.mean(guessed))
    worst = costliest_confusions(scores, y, prices, k=classes**2)
    assert sum(part.share for part in worst) == pytest.approx(1)
    assert sum(part.cost for part in worst) == pytest.approx(paid.sum())
    assert [part.cost for part in worst] == sorted((part.cost for part in worst), reverse=True)
    assert sum(part.samples for part in worst) == (y != predicted).sum()


def test_equal_prices_make_cost_the_error_rate():
    y, predicted = np.arange(20) % 4, np.arange(20) % 3
    assert expected_cost(predicted, y, 1 - np.eye(4)) == pytest.approx(1 - accuracy(predicted, y))


def test_prices_come_as_a_space_or_a_taxonomy():
    space = cost(PRICES, ["a", "b", "c"])
    assert expected_cost(PREDICTED, Y, space) == 2.5
    assert costliest_confusions(PREDICTED, Y, space, k=1)[0].true == "c"
    animals = tree({"pet": ["cat", "dog"], "vehicle": ["car"]})
    # a cat called a dog is 2 edges, called a car 4
    assert expected_cost([1, 2, 0], [0, 0, 0], animals, per_sample=True).tolist() == [2, 4, 0]
    # an order prices by its steps
    assert expected_cost([1, 2, 0], [0, 0, 0], ordinal(3), per_sample=True).tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="a cost space or one from a taxonomy or an order"):
        expected_cost([0], [0], uniform(3))
    with pytest.warns(UserWarning, match="zzzz"):
        unmapped = wordnet(["cat", "dog", "zzzz"])
    with pytest.raises(ValueError, match="a taxonomy that joins all classes. Got no path from 'cat'"):
        expected_cost([0], [0], unmapped)


def test_abstentions_have_their_own_price():
    prices = [[0, 1], [5, 0]]
    decided = abstain([[0.8, 0.2], [0.9, 0.1]], prices, abstain_cost=0.6)
    # the first is left open for 0.6, the second called 0 though it is 1, for 5
    paid = expected_cost(decided, [0, 1], prices, abstain_cost=0.6, per_sample=True)
    assert_close(paid, torch.tensor([0.6, 5.0], dtype=torch.float64))
    with pytest.raises(ValueError, match="Got -1 at position 0. Leave ignored and abstained samples out first"):
        expected_cost(decided, [0, 1], prices)
    with pytest.raises(ValueError, match="`predictions` of expected_cost must be class indices from 0 to 1. Got 2"):
        expected_cost([-1, 2], [0, 1], prices, abstain_cost=0.6)


def test_value_mse_by_hand_and_against_scikit_learn():
    # errors 0, 1, 1, 2 in the index; with values 10, 20, 50: 0, 10, 30, 40
    assert value_mse(PREDICTED, Y) == pytest.approx((0 + 1 + 1 + 4) / 4)
    assert value_mse(PREDICTED, Y, [10, 20, 50]) == pytest.approx((0 + 100 + 900 + 1600) / 4)
    assert value_mse(PREDICTED, Y, per_sample=True).tolist() == [0, 1, 1, 4]
    random = np.random.default_rng(0)
    y, predicted, values = random.integers(0, 9, 100), random.integers(0, 9, 100), random.normal(size=9)
    theirs = mean_squared_error(values[y], values[predicted])
    assert value_mse(predicted, y, values) == pytest.approx(theirs, abs=1e-12)
    with pytest.raises(ValueError, match="`y` of value_mse must be class indices from 0 to 1. Got 2 at position 3"):
        value_mse([0, 1, 1, 0], Y, [10, 20])
    with pytest.raises(ValueError, match="`values` of value_mse must be finite. Got nan at position 1"):
        value_mse(PREDICTED, Y, [0, float("nan"), 2])


def test_bad_names_and_numbers_of_guesses():
    with pytest.raises(ValueError, match="`names` of costliest_confusions must be 3 names, one per class. Got 2"):
        costliest_confusions(PREDICTED, Y, PRICES, ["a", "b"])
    with pytest.raises(ValueError, match="`k` of top_cost must be at most 3, the number of classes. Got 4"):
        top_cost(torch.randn(4, 3), Y, PRICES, k=4)


@pytest.mark.parametrize(
    "call",
    [
        lambda scores: expected_cost(scores, [0, 1], PRICES),
        lambda scores: expected_cost(scores, [0, 1], PRICES, abstain_cost=1.0),
        lambda scores: top_cost(scores, [0, 1], PRICES, k=2),
        lambda scores: costliest_confusions(scores, [0, 1], PRICES),
        lambda scores: severity(scores, [0, 1], PRICES),
    ],
)
def test_prices_of_other_classes_than_the_scores_are_named(call):
    with pytest.raises(ValueError, match=r"`cost` of \w+ must be of 4 classes, the columns of the scores. Got 3"):
        call(torch.randn(2, 4))


def test_values_of_other_classes_than_the_scores_are_named():
    with pytest.raises(
        ValueError, match="`values` of value_mse must be of 4 classes, the columns of the scores. Got 2"
    ):
        value_mse(torch.randn(2, 4), [0, 1], [1.0, 2.0])

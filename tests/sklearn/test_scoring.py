"""cost_scorer: mean costs beside sums by hand, names before positions, searches and routing."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB

from labelspace import InputError
from labelspace.sklearn import CostSensitiveClassifier, cost_scorer

pandas = pytest.importorskip("pandas")
NAMES = np.array(["low", "mid", "top"])
PRICES = pandas.DataFrame([[0, 1, 4], [2, 0, 1], [30, 9, 0]], index=NAMES, columns=NAMES)


def samples():
    x, y = load_iris(return_X_y=True)
    return x[:, :2], NAMES[y]


def by_hand(true, done, weights=None):
    paid = np.array([PRICES.loc[one, other] for one, other in zip(true, done, strict=True)], dtype=float)
    return -(paid.mean() if weights is None else (paid * weights).sum() / weights.sum())


def test_it_is_minus_the_mean_cost():
    x, y = samples()
    model = GaussianNB().fit(x, y)
    expected = by_hand(y, model.predict(x))
    turned = PRICES.loc[["top", "low", "mid"], ["mid", "top", "low"]]
    nested = {true: dict(PRICES.loc[true]) for true in ("mid", "low", "top")}
    for cost in (PRICES, turned, nested, PRICES.to_numpy()):
        assert cost_scorer(cost)(model, x, y) == pytest.approx(expected, rel=1e-12)
    swapped = PRICES.to_numpy()[::-1, ::-1]
    assert cost_scorer(swapped, names=NAMES[::-1])(model, x, y) == pytest.approx(expected, rel=1e-12)
    weights = np.arange(150.0)
    found = cost_scorer(PRICES)(model, x, y, sample_weight=weights)
    assert found == pytest.approx(by_hand(y, model.predict(x), weights), rel=1e-12)


def test_a_class_that_samples_lack_changes_nothing():
    x, y = samples()
    model = GaussianNB().fit(x, y)
    few = y != "mid"
    assert cost_scorer(PRICES)(model, x[few], y[few]) == pytest.approx(by_hand(y[few], model.predict(x[few])))
    # a classifier that never saw it pays for it all the same
    blind = DummyClassifier(strategy="constant", constant="low").fit(x[few], y[few])
    assert cost_scorer(PRICES)(blind, x, y) == pytest.approx(-(0 + 2 + 30) / 3)


def test_ranks_of_words():
    x, y = load_iris(return_X_y=True)
    model = DummyClassifier(strategy="constant", constant=2).fit(x, y)
    few = y != 1
    assert cost_scorer("squared", names=[0, 1, 2])(model, x[few], y[few]) == pytest.approx(-(4 + 0) / 2)


def test_actions_are_paid_for():
    x, y = samples()
    table = PRICES.assign(ask=1.5)
    model = CostSensitiveClassifier(GaussianNB(), table).fit(x, y)
    done = model.predict(x)
    assert "ask" in done
    paid = [table.loc[true, each] for true, each in zip(y, done, strict=True)]
    assert cost_scorer(table)(model, x, y) == pytest.approx(-np.mean(paid))


def test_searches_take_the_cheapest():
    x, y = samples()
    scorer = cost_scorer(PRICES)
    search = GridSearchCV(CostSensitiveClassifier(GaussianNB()), {"cost": [None, PRICES]}, scoring=scorer, cv=3).fit(
        x, y
    )
    assert search.best_params_["cost"] is PRICES
    both = cross_validate(GaussianNB(), x, y, scoring={"cost": scorer, "accuracy": "accuracy"}, cv=3)
    np.testing.assert_array_equal(both["test_cost"], cross_val_score(GaussianNB(), x, y, scoring=scorer, cv=3))
    assert repr(pickle.loads(pickle.dumps(cost_scorer("squared")))) == "cost_scorer('squared')"


def test_weights_are_routed():
    x, y = samples()
    weights = np.arange(1, 151.0)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = cost_scorer(PRICES).set_score_request(sample_weight=True)
        model = GaussianNB().set_fit_request(sample_weight=False)
        found = cross_val_score(model, x, y, scoring=scorer, cv=3, params={"sample_weight": weights})
    plain = cross_val_score(GaussianNB(), x, y, scoring=cost_scorer(PRICES), cv=3)
    assert (found != plain).all()


def test_bad_input_is_said_in_one_line():
    x, y = samples()
    model = GaussianNB().fit(x, y)
    with pytest.raises(InputError, match=r"`cost` of cost_scorer must be of shape \(3, 3\) .* Got shape \(2, 2\)"):
        cost_scorer([[0, 1], [1, 0]])(model, x, y)
    with pytest.raises(InputError, match=r"`cost` of cost_scorer must be .*'tpo'.*Did you mean 'top'"):
        cost_scorer(PRICES.rename(index={"top": "tpo"}))(model, x, y)
    with pytest.raises(InputError, match="prices for all classes. Got none for 'top'"):
        cost_scorer([[0, 1], [1, 0]], names=["low", "mid"])(model, x, y)

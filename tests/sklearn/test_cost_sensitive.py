"""CostSensitiveClassifier: scikit-learn's checks, decisions beside numpy, prices by name, routing and bad input."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelspace import InputError, ordinal
from labelspace.sklearn import CostSensitiveClassifier, LabelSpaceClassifier

pandas = pytest.importorskip("pandas")
COUNTS_ALIKE = "calibrators count held-out samples alike, and folds are drawn among rows: a weight is no repetition"
CALIBRATED = CostSensitiveClassifier(LogisticRegression(), calibration="temperature")
PRICES = [[0, 1, 4], [2, 0, 1], [30, 9, 0]]


def expected_failures(estimator):
    if estimator.calibration == "none":
        return {}
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": COUNTS_ALIKE for kind in kinds}


@parametrize_with_checks(
    [CostSensitiveClassifier(LogisticRegression()), CALIBRATED], expected_failed_checks=expected_failures
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def samples(names=("a", "b", "c")):
    x, y = make_classification(300, 6, n_informative=4, n_classes=3, class_sep=0.6, random_state=0)
    return x, np.array(names)[y]


def cheapest(likely, prices):
    """Return what numpy chooses, one sample at a time."""
    table = np.asarray(prices, dtype=float)
    return [
        min(range(table.shape[1]), key=lambda a: sum(p * c for p, c in zip(row, table[:, a], strict=True)))
        for row in likely
    ]


@pytest.mark.parametrize("names", [("a", "b", "c"), (0, 1, 2), (1.0, 2.0, 7.0), (False, True)])
def test_decisions_are_the_cheapest(names):
    x, y = load_iris(return_X_y=True) if len(names) == 2 else samples(range(3))
    y = np.array(names)[y % len(names)]
    prices = np.array(PRICES)[: len(names), : len(names)]
    model = CostSensitiveClassifier(GaussianNB(), prices).fit(x, y)
    plain = GaussianNB().fit(x, y)
    np.testing.assert_array_equal(model.predict_proba(x), plain.predict_proba(x))
    chosen = model.classes_[cheapest(plain.predict_proba(x), prices)]
    np.testing.assert_array_equal(model.predict(x), chosen)
    assert model.predict(x).dtype == plain.predict(x).dtype
    assert (model.predict(x) != plain.predict(x)).any()
    np.testing.assert_allclose(model.expected_costs(x), plain.predict_proba(x) @ prices, rtol=1e-9, atol=1e-9)


def test_prices_go_by_names():
    x, y = samples()
    expected = CostSensitiveClassifier(GaussianNB(), PRICES).fit(x, y).predict(x)
    frame = pandas.DataFrame(PRICES, index=list("abc"), columns=list("abc"))
    turned = frame.loc[list("cab"), list("bca")]
    nested = {true: {done: frame.loc[true, done] for done in "bca" if done != true} for true in "cab"}
    for cost in (frame, turned, nested):
        np.testing.assert_array_equal(CostSensitiveClassifier(GaussianNB(), cost).fit(x, y).predict(x), expected)


def test_classes_that_a_fold_lacks_are_left_out_of_a_table():
    x, y = samples()
    frame = pandas.DataFrame(PRICES, index=list("abc"), columns=list("abc")).loc[list("cba"), list("bac")]
    model = CostSensitiveClassifier(GaussianNB(), frame).fit(x[y != "b"], y[y != "b"])
    assert model.cost_.matrix.tolist() == [[0, 4], [30, 0]]
    assert set(model.predict(x)) == {"a", "c"}


def test_words():
    x, y = samples(("low", "mid", "top"))
    order = ordinal(["low", "mid", "top"])
    squared = CostSensitiveClassifier(GaussianNB(), "squared", space=order).fit(x, y)
    assert squared.cost_.matrix.tolist() == [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
    steps = CostSensitiveClassifier(GaussianNB(), "under=5,over=1", space="low<mid<top").fit(x, y)
    assert steps.cost_.matrix.tolist() == [[0, 1, 2], [5, 0, 1], [10, 5, 0]]


@pytest.mark.parametrize("names", [("a", "b", "c"), (0, 1, 2)])
def test_actions(names):
    x, y = samples(names)
    prices = np.array([[0, 9, 9, 2.5], [9, 0, 9, 2.5], [9, 9, 0, 2.5]])
    done = [*names, "ask"]
    frame = pandas.DataFrame(prices, index=names, columns=done)
    array = CostSensitiveClassifier(GaussianNB(), prices, actions=[*map(str, names), "ask"]).fit(x, y)
    table = CostSensitiveClassifier(GaussianNB(), frame).fit(x, y)
    chosen = [done[place] for place in cheapest(GaussianNB().fit(x, y).predict_proba(x), prices)]
    assert set(chosen) == set(done)
    for model in (array, table):
        assert model.predict(x).tolist() == chosen
        assert model.action_labels_.tolist() == done


def test_a_calibrated_model_is_that_of_held_out_probabilities():
    from labelspace.decisions import Temperature

    x, y = samples(range(3))
    model = CostSensitiveClassifier(GaussianNB(), PRICES, calibration="temperature").fit(x, y)
    held = np.zeros((len(y), 3))
    for rows, out in StratifiedKFold(5).split(x, y):
        held[out] = GaussianNB().fit(x[rows], y[rows]).predict_proba(x[out])
    tau = Temperature().fit(np.log(held), y).value
    powers = GaussianNB().fit(x, y).predict_proba(x) ** (1 / tau)
    expected = powers / powers.sum(axis=1, keepdims=True)
    assert tau > 1.02
    np.testing.assert_allclose(model.predict_proba(x), expected, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(x), cheapest(expected, PRICES))
    assert CostSensitiveClassifier(GaussianNB(), PRICES, calibration="auto").fit(x, y).predict(x).shape == y.shape


def test_calibration_keeps_the_names_of_classes_for_what_goes_by_them():
    x, y = samples(("low", "mid", "top"))
    inner = LabelSpaceClassifier("semantic", space="low<mid<top", model="linear", epochs=2, random_state=0)
    model = CostSensitiveClassifier(inner, PRICES, calibration="temperature").fit(x, y)
    assert set(model.predict(x)) <= {"low", "mid", "top"}


def test_a_fitted_classifier_stays_as_it_is():
    x, y = samples()
    fitted = GaussianNB().fit(x[:200], y[:200])
    model = CostSensitiveClassifier(FrozenEstimator(fitted), PRICES, calibration="temperature").fit(x[200:], y[200:])
    assert model.estimator_.estimator is fitted
    assert model.decision_.temperature != 1


def test_in_pipelines_searches_frames_and_files():
    x, y = samples()
    frame = pandas.DataFrame(x, columns=[f"column {place}" for place in range(6)])
    pipeline = make_pipeline(
        StandardScaler().set_output(transform="pandas"), CostSensitiveClassifier(GaussianNB(), PRICES)
    )
    grid = {"costsensitiveclassifier__estimator__var_smoothing": [1e-9, 1e-1]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(frame, y)
    inner = search.best_estimator_[-1]
    assert inner.feature_names_in_.tolist() == frame.columns.tolist()
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(frame), search.predict(frame))
    calibrated = CalibratedClassifierCV(CostSensitiveClassifier(GaussianNB(), PRICES), cv=2).fit(x, y)
    assert calibrated.predict_proba(x).shape == (300, 3)


def test_weights_are_routed_to_the_classifier():
    x, y = samples(range(3))
    weights = np.random.default_rng(0).uniform(0.1, 2, len(y))
    expected = GaussianNB().fit(x, y, sample_weight=weights).predict_proba(x)
    model = CostSensitiveClassifier(GaussianNB(), PRICES).fit(x, y, sample_weight=weights)
    np.testing.assert_array_equal(model.predict_proba(x), expected)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = GaussianNB().set_fit_request(sample_weight="amount")
        pipeline = make_pipeline(CostSensitiveClassifier(asking, PRICES))
        np.testing.assert_array_equal(pipeline.fit(x, y, amount=weights).predict_proba(x), expected)
        calibrated = CostSensitiveClassifier(asking, PRICES, calibration="temperature").fit(x, y, amount=weights)
    direct = CostSensitiveClassifier(GaussianNB(), PRICES, calibration="temperature").fit(x, y, sample_weight=weights)
    assert calibrated.decision_.temperature == direct.decision_.temperature


NAN = [[0, 1, np.nan], [1, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cost": [[0, 1], [1, 0]]}, "must be of shape (3, 3) for the classes 'a', 'b', 'c'. Got shape (2, 2)"),
        ({"cost": NAN}, "must be prices that are numbers. Got nan for true 'a'"),
        ({"cost": [[0, -1, 1], [1, 0, 1], [1, 1, 0]]}, "must be"),
        ({"cost": {"a": {"b": 1, "c": 1}, "b": {"a": 1, "c": 1}, "see": {"a": 1, "b": 1}}}, "'see' (line 4), which is"),
        ({"cost": {"a": {"b": 1}, "b": {"a": 1}}}, "nothing for 'c'"),
        ({"cost": {"a": {"b": 1}, "b": {"a": 1, "c": 1}, "c": {"a": 1, "b": 1}}}, "nothing for true 'a' called 'c'"),
        ({"cost": {"a": 1}}, "must be a dict of dicts"),
        ({"cost": "squard"}, "Did you mean 'squared'?"),
        ({"cost": object()}, "must be an array of prices"),
        ({"cost": "squared", "space": "a<b"}, "`space` of CostSensitiveClassifier"),
        ({"estimator": LinearSVC()}, "must be a classifier with predict_proba. Got LinearSVC"),
        ({"calibration": "platt"}, "`calibration` of CostSensitiveClassifier must be one of"),
    ],
)  # fmt: skip
def test_bad_input_is_said_in_one_line(change, message):
    x, y = samples()
    with pytest.raises(InputError) as caught:
        CostSensitiveClassifier(**{"estimator": GaussianNB(), "cost": PRICES, **change}).fit(x, y)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_single_samples_cannot_be_held_out():
    x, y = samples()
    y[y == "c"] = "b"
    y[0] = "c"
    with pytest.raises(InputError, match="fewer than two samples"):
        CostSensitiveClassifier(GaussianNB(), PRICES, calibration="temperature").fit(x, y)

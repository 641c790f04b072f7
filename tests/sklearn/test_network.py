"""LabelSpaceClassifier: scikit-learn's checks, the same training as labelspace.train, weights, spaces and bad input."""

import pickle

import numpy as np
import pytest
import sklearn
import torch
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import labelspace
from labelspace import InputError
from labelspace.sklearn import LabelSpaceClassifier

DRAWN = (
    "quantiles and dropout of the network for tables, and the batches of a step, are of rows: a weight is no repetition"
)
# one batch of everything in double precision: weights and repetitions are then the same sums
EXACT = {"model": "linear", "epochs": 30, "learning_rate": 0.1, "batch_size": 512}
CHECKED = [
    LabelSpaceClassifier(**EXACT, training_options={"precision": "float64"}, random_state=0),
    LabelSpaceClassifier(learning_rate=0.01, model_options={"width": 32}),
]
NAMES = np.array(["setosa", "versicolor", "virginica"])
SMALL = {"model": "linear", "epochs": 3, "random_state": 0}


def expected_failures(estimator):
    return {"check_sample_weight_equivalence_on_dense_data": DRAWN} if estimator.model == "auto" else {}


@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def samples():
    x, y = load_iris(return_X_y=True)
    return x, NAMES[y]


def options_of(method):
    return {"space": "ordinal"} if labelspace.criterion_class(method).requires_space else {}


@pytest.mark.parametrize("method", sorted(set(labelspace.methods()) - {"kd"}))
def test_every_method(method):
    x, y = load_iris(return_X_y=True)
    model = LabelSpaceClassifier(method, **options_of(method), **{**SMALL, "model": "mlp-8"}).fit(x, y)
    likely = model.predict_proba(x)
    np.testing.assert_allclose(likely.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[likely.argmax(axis=1)], model.predict(x))
    assert model.label_space_.names == ("0", "1", "2")
    one_by_one = np.concatenate([model.predict_proba(row[None]) for row in x[:5]])
    np.testing.assert_allclose(one_by_one, likely[:5], atol=1e-12)


def test_a_linear_network_finds_what_scipy_finds():
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    x, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.2, 2, len(y))
    given = {"method_options": {"smoothing": 0.3}, "method": "uniform"}
    exact = {**EXACT, "epochs": 1500, "learning_rate": 0.05}
    model = LabelSpaceClassifier(**given, **exact, random_state=0).fit(x, y, sample_weight=weights)
    mean = np.average(x, axis=0, weights=weights)
    scaled = (x - mean) / np.sqrt(np.average((x - mean) ** 2, axis=0, weights=weights))
    targets = (0.7 * np.eye(3) + 0.1)[y] * weights[:, None]

    def objective(flat):
        return -(targets * log_softmax(scaled @ flat[:12].reshape(4, 3) + flat[12:], axis=1)).sum()

    found = minimize(objective, np.zeros(15), options={"gtol": 1e-7}).x
    expected = np.exp(log_softmax(scaled @ found[:12].reshape(4, 3) + found[12:], axis=1))
    np.testing.assert_allclose(model.predict_proba(x), expected, atol=5e-3)


def test_spaces_go_by_names():
    x, y = samples()
    space = labelspace.ordinal(["virginica", "versicolor", "setosa"])
    given = {"method": "semantic", "smoothing": 0.4, **SMALL}
    one = LabelSpaceClassifier(space=space, **given).fit(x, y)
    two = LabelSpaceClassifier(space="setosa<versicolor<virginica", **given).fit(x, y)
    assert one.label_space_.names == tuple(NAMES)
    np.testing.assert_array_equal(one.predict_proba(x), two.predict_proba(x))


@pytest.mark.parametrize("method", ["mixed", "labelemb", "lls"])
def test_weights_go_with_any_terms_and_with_weights_of_classes(method):
    """Twice the weight is a sample twice, for a loss whose terms are no means over samples too."""
    x, y = load_iris(return_X_y=True)
    options = {"mixed": {"learn": "class", "preset": "paper"}, "labelemb": {"hinge_total": False}, "lls": {}}[method]
    given = {"method": method, "method_options": {**options, "weight": [1.0, 3.0, 0.5]}, **EXACT, "epochs": 5}
    given["training_options"] = {"precision": "float64"}
    space = {"space": "ordinal"} if method == "mixed" else {}
    one, two = (LabelSpaceClassifier(**given, **space, random_state=0) for _ in range(2))
    one.fit(x, y, sample_weight=np.repeat([1.0, 2.0, 1.0], 50))
    two.fit(np.concatenate([x, x[50:100]]), np.concatenate([y, y[50:100]]))
    np.testing.assert_allclose(one.predict_proba(x), two.predict_proba(x), atol=1e-9)


def test_mixed_samples_have_no_weight():
    x, y = samples()
    mixing = LabelSpaceClassifier(training_options={"augment": ["mixup:0.2"]}, **SMALL)
    with pytest.raises(InputError, match="must be of samples as they are. Got samples that are mixed"):
        mixing.fit(x, y, sample_weight=np.linspace(1, 2, 150))


def test_samples_without_weight_are_not_there():
    x, y = samples()
    weights = np.repeat([1.0, 2.0, 0.0], 50)
    given = LabelSpaceClassifier(**SMALL).fit(x, y, sample_weight=weights)
    left = LabelSpaceClassifier(**SMALL).fit(x[:100], y[:100], sample_weight=weights[:100])
    assert given.classes_.tolist() == ["setosa", "versicolor"]
    np.testing.assert_array_equal(given.predict_proba(x), left.predict_proba(x))


def test_held_out_samples_keep_the_best_epoch():
    x, y = samples()
    given = {**SMALL, "epochs": 5}
    whole = LabelSpaceClassifier(**given).fit(x, y).predict_proba(x)
    held = LabelSpaceClassifier(**given, validation_fraction=0.2, patience=2).fit(x, y).predict_proba(x)
    assert np.abs(whole - held).max() > 1e-3
    with pytest.raises(InputError, match="`patience` of LabelSpaceClassifier must be given with a validation part"):
        LabelSpaceClassifier(**given, patience=2).fit(x, y)


def mine(input_shape, output_dim):
    return torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.Flatten(), torch.nn.Linear(144, output_dim))


def test_pictures_and_networks_of_ones_own():
    x, y = load_digits(return_X_y=True)
    model = LabelSpaceClassifier(model=mine, input_shape=(1, 8, 8), epochs=3, learning_rate=0.01, random_state=0)
    model.fit(x[:600], y[:600])
    assert model.score(x[600:900], y[600:900]) > 0.8
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(x[:50]), model.predict_proba(x[:50]))
    given = LabelSpaceClassifier(model=torch.nn.Linear(64, 10), epochs=1, random_state=0)
    assert clone(given).fit(x[:100], y[:100]).predict(x).shape == y.shape


def test_in_pipelines_searches_and_frames():
    pandas = pytest.importorskip("pandas")
    x, y = samples()
    frame = pandas.DataFrame(x, columns=["a", "b", "c", "d"])
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), LabelSpaceClassifier("semantic", **SMALL))
    spaces = ["setosa<versicolor<virginica", labelspace.uniform(list(NAMES))]
    grid = {"labelspaceclassifier__space": spaces, "labelspaceclassifier__smoothing": [0.1, 0.4]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(frame, y)
    assert search.best_estimator_[-1].feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert cross_val_score(LabelSpaceClassifier(**SMALL), x, y, cv=2, error_score="raise").shape == (2,)
    assert CalibratedClassifierCV(LabelSpaceClassifier(**SMALL), cv=2).fit(x, y).predict_proba(x).shape == (150, 3)


def test_weights_are_routed():
    x, y = samples()
    weights = np.linspace(0.1, 3, 150)
    expected = LabelSpaceClassifier(**SMALL).fit(x, y, sample_weight=weights).predict_proba(x)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = LabelSpaceClassifier(**SMALL).set_fit_request(sample_weight=True)
        found = make_pipeline(asking).fit(x, y, sample_weight=weights).predict_proba(x)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "semantik"}, "semantic"),
        ({"method": "semantic"}, "LabelSpace"),
        ({"method": "semantic", "space": "setosa<virginica"}, "`space` of LabelSpaceClassifier must be an order"),
        ({"method": "uniform", "smoothing": 1.5}, "`smoothing` of LabelSpaceClassifier must be a number in [0, 1]"),
        ({"epochs": 0}, "`epochs` of LabelSpaceClassifier must be"),
        ({"model": "mpl-8"}, "must be the name of a model. Got 'mpl-8'."),
        ({"input_shape": (1, 8, 8)}, "a shape of 4 numbers"),
        ({"validation_fraction": 1.0}, "`validation_fraction` of LabelSpaceClassifier must be a number in [0, 1)"),
        ({"training_options": {"epochs": 3}}, "It has a parameter of its own: epochs."),
        ({"training_options": {"nothing": 3}}, "option name"),
        ({"device": "tpu"}, "`device` of LabelSpaceClassifier must be"),
    ],
)
def test_bad_input_is_said_in_one_line(change, message):
    x, y = samples()
    with pytest.raises(InputError) as caught:
        LabelSpaceClassifier(**{**SMALL, **change}).fit(x, y)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)

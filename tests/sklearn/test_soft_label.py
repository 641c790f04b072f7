"""SoftLabelClassifier: scikit-learn's checks, soft cross-entropy minimised by scipy, weights, routing and bad input."""

import pickle

import numpy as np
import pytest
import sklearn
from scipy.optimize import minimize
from scipy.sparse import coo_array
from scipy.special import log_softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import labelspace
from labelspace import InputError
from labelspace.sklearn import CostSensitiveClassifier, SoftLabelClassifier
from labelspace.sklearn.soft_label import weight_argument

NAMES = np.array(["setosa", "versicolor", "virginica"])
ORDER = "setosa<versicolor<virginica"


@parametrize_with_checks([SoftLabelClassifier(LogisticRegression())])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def samples():
    x, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(x), NAMES[y]


@pytest.mark.parametrize(("space", "smoothing"), [(None, 0.2), (ORDER, 0.3), (ORDER, 0.0)])
def test_logistic_regression_minimises_soft_cross_entropy(space, smoothing):
    x, y = samples()
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    inner = LogisticRegression(C=2.0, tol=1e-10, max_iter=5000)
    model = SoftLabelClassifier(inner, space, smoothing=smoothing).fit(x, y, sample_weight=weights)
    steps = np.ones((3, 3)) if space is None else np.abs(np.subtract.outer(np.arange(3), np.arange(3)))
    near = np.divide(1, steps, out=np.zeros((3, 3)), where=(steps > 0) & ~np.eye(3, dtype=bool))
    targets = (1 - smoothing) * np.eye(3) + smoothing * near / near.sum(axis=1, keepdims=True)
    soft = targets[np.searchsorted(NAMES, y)] * weights[:, None]

    def objective(flat):
        w, b = flat[:12].reshape(3, 4), flat[12:]
        return -2.0 * (soft * log_softmax(x @ w.T + b, axis=1)).sum() + 0.5 * (w**2).sum()

    found = minimize(objective, np.zeros(15), options={"gtol": 1e-8, "maxiter": 5000}).x
    expected = np.exp(log_softmax(x @ found[:12].reshape(3, 4).T + found[12:], axis=1))
    np.testing.assert_allclose(model.predict_proba(x), expected, atol=2e-5)
    np.testing.assert_allclose(model.targets_, targets, atol=1e-7)


def test_without_smoothing_it_is_the_classifier_itself():
    x, y = samples()
    forest = RandomForestClassifier(10, random_state=0)
    soft = SoftLabelClassifier(forest, ORDER, smoothing=0).fit(x, y)
    np.testing.assert_array_equal(soft.predict_proba(x), forest.fit(x, y, sample_weight=np.ones(150)).predict_proba(x))


def test_spaces_go_by_names_and_may_know_more_classes():
    x, y = samples()
    space = labelspace.ordinal(["virginica", "versicolor", "setosa", "chamaeiris"])
    model = SoftLabelClassifier(GaussianNB(), space).fit(x, y)
    assert model.label_space_.names == tuple(NAMES)
    two = SoftLabelClassifier(GaussianNB(), ORDER).fit(x[:100], y[:100])
    np.testing.assert_allclose(two.targets_, [[0.9, 0.1], [0.1, 0.9]])
    near = SoftLabelClassifier(GaussianNB(), "lda", smoothing=0.3).fit(x, y)
    assert near.label_space_.nearest("setosa", k=1)[0][0] == "versicolor"


def test_in_pipelines_searches_frames_and_files():
    pandas = pytest.importorskip("pandas")
    x, y = samples()
    frame = pandas.DataFrame(x, columns=["a", "b", "c", "d"])
    inside = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    grid = {"smoothing": [0.0, 0.2], "space": [None, ORDER], "estimator__logisticregression__C": [1.0]}
    search = GridSearchCV(SoftLabelClassifier(inside), grid, cv=2).fit(frame, y)
    assert search.best_estimator_.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(search)).predict(frame), search.predict(frame))
    model = CalibratedClassifierCV(SoftLabelClassifier(GaussianNB(), ORDER), cv=2)
    assert CostSensitiveClassifier(model, "squared", space=ORDER).fit(x, y).predict(x).shape == (150,)
    sparse = SoftLabelClassifier(LogisticRegression(max_iter=300), ORDER).fit(coo_array(x), y)
    dense = SoftLabelClassifier(LogisticRegression(max_iter=300), ORDER).fit(x, y)
    np.testing.assert_allclose(sparse.predict_proba(x), dense.predict_proba(x), atol=1e-4)
    assert not hasattr(SoftLabelClassifier(LinearSVC()), "predict_proba")


def test_where_weights_go():
    assert weight_argument(GaussianNB()) == "sample_weight"
    assert weight_argument(GridSearchCV(GaussianNB(), {})) == "sample_weight"
    assert weight_argument(KNeighborsClassifier()) is None
    assert weight_argument(make_pipeline(StandardScaler(), KNeighborsClassifier())) is None


def test_weights_are_routed():
    x, y = samples()
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    expected = SoftLabelClassifier(GaussianNB(), ORDER).fit(x, y, sample_weight=weights).predict_proba(x)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = GaussianNB().set_fit_request(sample_weight=True)
        inner = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asking)
        soft = SoftLabelClassifier(inner, ORDER).set_fit_request(sample_weight=True)
        found = make_pipeline(soft).fit(x, y, sample_weight=weights).predict_proba(x)
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"smoothing": 1.5}, "`smoothing` of SoftLabelClassifier must be a number in [0, 1]. Got 1.5."),
        ({"smoothing": float("nan")}, "`smoothing` of SoftLabelClassifier must be a number"),
        ({"estimator": KNeighborsClassifier()}, "that takes sample_weight. Got KNeighborsClassifier"),
        ({"space": "setosa<virginca"}, "`space` of SoftLabelClassifier must be an order that names every class once"),
        ({"space": labelspace.ordinal(["low", "high"])}, "Got nothing for 'setosa' and 2 more"),
        ({"space": "wordnett"}, "Did you mean 'wordnet'?"),
    ],
)  # fmt: skip
def test_bad_input_is_said_in_one_line(change, message):
    x, y = samples()
    with pytest.raises(InputError) as caught:
        SoftLabelClassifier(**{"estimator": GaussianNB(), **change}).fit(x, y)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_some_weight_must_count():
    x, y = samples()
    with pytest.raises(ValueError, match="(?i)zero"):
        SoftLabelClassifier(GaussianNB()).fit(x, y, sample_weight=np.zeros(150))

"""An estimator as a network: scores are scikit-learn's own, at any batch, after any journey through a file."""

import numpy as np
import pytest
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from torch import nn

from labelspace.models import FitError, Fitted, Untrusted, build
from labelspace.models.fitted import FLOOR, counts

DRAWS = torch.Generator().manual_seed(0)
X = torch.randn(120, 2, 3, generator=DRAWS)
Y = (X.flatten(1).sum(dim=1) > 0).long() + (X[:, 0, 0] > 1).long()
FLAT, LABELS = X.flatten(1).numpy(), Y.numpy()


def fitted(name: str, y: torch.Tensor = Y, classes: int = 3, **options: object) -> Fitted:
    model = build(f"sklearn:{name}", (2, 3), classes, **options)
    assert isinstance(model, Fitted)
    model.fit(X, y, 7)
    return model


def test_scores_are_the_logarithms_of_its_own_probabilities() -> None:
    expected = ExtraTreesClassifier(20, random_state=7).fit(FLAT, LABELS).predict_proba(FLAT)
    output, features = fitted("ExtraTreesClassifier", n_estimators=20)(X)
    np.testing.assert_allclose(output.numpy(), np.log(expected.clip(FLOOR, 1)), rtol=1e-6)
    assert features is None
    assert output.isfinite().all()


def test_a_seed_of_its_own_stays() -> None:
    mine = [fitted("ExtraTreesClassifier", n_estimators=3, random_state=1)(X)[0] for _ in range(2)]
    expected = ExtraTreesClassifier(3, random_state=1).fit(FLAT, LABELS).predict_proba(FLAT)
    np.testing.assert_allclose(mine[0].numpy(), np.log(expected.clip(FLOOR, 1)), rtol=1e-6)
    torch.testing.assert_close(mine[0], mine[1], rtol=0, atol=0)


def test_decision_functions_are_scores() -> None:
    expected = SVC().fit(FLAT, LABELS).decision_function(FLAT)
    np.testing.assert_allclose(fitted("SVC")(X)[0].numpy(), expected, rtol=1e-5)
    # of two classes there is one number, the logit of the second
    two = SVC().fit(FLAT, LABELS > 0).decision_function(FLAT)
    scores = fitted("SVC", (Y > 0).long(), 2)(X)[0]
    np.testing.assert_allclose((scores[:, 1] - scores[:, 0]).numpy(), two, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["LogisticRegression", "SVC"])
def test_a_class_that_training_lacks_is_the_least_likely(name: str) -> None:
    y = Y * 2  # of five classes, 0, 2 and 4
    output = fitted(name, y, 5)(X)[0]
    assert output.isfinite().all()
    assert (output[:, [1, 3]].amax(dim=1) <= output[:, [0, 2, 4]].amin(dim=1)).all()
    assert set(output.argmax(dim=1).tolist()) <= {0, 2, 4}


def test_one_sample_is_scored_as_in_a_batch() -> None:
    for name in ("HistGradientBoostingClassifier", "StandardScaler+LogisticRegression", "SVC"):
        model = fitted(name)
        torch.testing.assert_close(torch.cat([model(x[None])[0] for x in X[:5]]), model(X)[0][:5])


@pytest.mark.parametrize("name", ["HistGradientBoostingClassifier", "StandardScaler+LogisticRegression", "SVC"])
def test_weights_hold_what_was_fitted(name: str) -> None:
    model = fitted(name)
    again = build(f"sklearn:{name}", (2, 3), 3)
    again.load_state_dict(model.state_dict())
    torch.testing.assert_close(again(X)[0], model(X)[0], rtol=0, atol=0)
    (content,) = model.state_dict().values()
    assert content.dtype == torch.uint8


def test_weights_of_something_else_are_refused() -> None:
    tree = fitted("DecisionTreeClassifier").state_dict()
    with pytest.raises(Untrusted, match="it is DecisionTreeClassifier where SVC is said"):
        build("sklearn:SVC", (2, 3), 3).load_state_dict(tree)
    for shape, classes in (((7,), 3), ((6,), 2)):
        with pytest.raises(Untrusted, match="other samples or classes"):
            build("sklearn:DecisionTreeClassifier", shape, classes).load_state_dict(tree)
    with pytest.raises(Untrusted, match="no bytes"):
        build("sklearn:SVC", (2, 3), 3).load_state_dict({"_extra_state": torch.zeros(3)})


def test_texts_become_tfidf() -> None:
    ids = torch.randint(0, 6, (40, 5), generator=DRAWS)
    words = [" ".join(f"w{token}" for token in row if token) for row in ids.tolist()]
    assert counts(ids, 6).toarray().sum() == sum(map(len, map(str.split, words)))
    y = (ids == 3).any(dim=1).long()
    model = build("sklearn:LogisticRegression", (5,), 2, vocabulary=6)
    model.fit(ids, y, 0)
    x = TfidfVectorizer(sublinear_tf=True).fit_transform(words)
    expected = LogisticRegression().fit(x, y.numpy()).predict_log_proba(x)
    np.testing.assert_allclose(model(ids)[0].numpy(), expected, rtol=1e-3, atol=1e-4)


def test_weights_of_samples_reach_the_last_step() -> None:
    weight = torch.rand(120, generator=DRAWS)
    model = build("sklearn:StandardScaler+LogisticRegression", (2, 3), 3)
    model.fit(X, Y, 0, weight)
    scaled = (FLAT - FLAT.mean(0)) / FLAT.std(0)
    expected = LogisticRegression().fit(scaled, LABELS, sample_weight=weight.numpy()).predict_log_proba(scaled)
    np.testing.assert_allclose(model(X)[0].numpy(), expected, rtol=1e-3, atol=1e-3)
    with pytest.raises(ValueError, match="takes sample_weight"):
        build("sklearn:KNeighborsClassifier", (2, 3), 3).fit(X, Y, 0, weight)


class Failing(ClassifierMixin, BaseEstimator):
    def fit(self, x, y):
        raise RuntimeError("no memory left\nfor this")

    def predict_proba(self, x):
        return x


class Odd(Failing):
    def fit(self, x, y):
        self.classes_ = np.array([0, 1, 2])
        return self


def test_what_fails_is_one_line() -> None:
    with pytest.raises(FitError, match="^Failing could not be fitted: no memory left$"):
        build_of(Failing()).fit(X, Y, 0)
    model = build_of(Odd())
    model.fit(X, Y, 0)
    with pytest.raises(FitError, match="Odd gives scores of another shape"):
        model(X)
    with pytest.raises(FitError, match="could not be fitted: .*C.*must be"):
        build("sklearn:LogisticRegression", (2, 3), 3, C=-1).fit(X, Y, 0)


def build_of(estimator: object) -> Fitted:
    from labelspace.models.registry import model_name

    found = build(model_name(estimator), (2, 3), 3)
    assert isinstance(found, Fitted)
    return found


def test_what_does_not_converge_is_told() -> None:
    with pytest.warns(UserWarning, match="^sklearn:LogisticRegression: lbfgs failed to converge"):
        fitted("LogisticRegression", max_iter=1)


def test_there_is_no_head() -> None:
    model = fitted("SVC")
    assert isinstance(model, nn.Module)
    assert not list(model.parameters())
    with pytest.raises(ValueError, match="head_l2"):
        model.head_weight()
    with pytest.raises(ValueError, match="was not"):
        build("sklearn:SVC", (2, 3), 3)(X)

"""The door for estimators: names of scikit-learn's classes, and objects."""

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline

from labelspace import InputError
from labelspace.models import Fitted, build, is_fitted, names
from labelspace.models.registry import model_name

X, Y = torch.randn(90, 4, generator=torch.Generator().manual_seed(0)), torch.arange(90) % 3


def test_a_name_is_a_class_and_its_options() -> None:
    model = build("sklearn:LogisticRegression", (4,), 3, C=0.3)
    assert isinstance(model, Fitted)
    assert type(model.estimator) is LogisticRegression
    assert model.estimator.C == 0.3
    assert "sklearn:NAME" in names()


def test_names_with_a_plus_are_a_pipeline() -> None:
    model = build("sklearn:StandardScaler+LogisticRegression", (4,), 3, C=0.3)
    assert isinstance(model.estimator, Pipeline)
    assert [type(step).__name__ for _, step in model.estimator.steps] == ["StandardScaler", "LogisticRegression"]
    assert model.estimator[-1].C == 0.3


def test_an_object_is_copied() -> None:
    mine = GaussianNB()
    name = model_name(mine)
    assert name.startswith("given-GaussianNB-")
    assert name == model_name(GaussianNB()) != model_name(GaussianNB(var_smoothing=1e-3))
    assert is_fitted(name)
    model = build(name, (4,), 3)
    model.fit(X, Y, 0)
    assert not hasattr(mine, "classes_")
    expected = GaussianNB().fit(X.numpy(), Y.numpy()).predict_proba(X.numpy())
    np.testing.assert_allclose(model(X)[0].exp().numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("sklearn:HistGradientBosting", {}, "Did you mean 'HistGradientBoostingClassifier'"),
        ("sklearn:os", {}, "the name of a class of scikit-learn"),
        ("sklearn:SVC+nothing", {}, "the name of a class of scikit-learn"),
        ("sklearn:StandardScaler", {}, "that of a classifier"),
        ("sklearn:LinearRegression", {}, "Did you mean 'LogisticRegression'"),
        ("sklearn:VotingClassifier", {}, "Give the object itself"),
        ("sklearn:LogisticRegression", {"c": 1}, "`option name`"),
    ],
)
def test_other_names_and_options_are_refused(name: str, options: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        build(name, (4,), 3, **options)
    assert "\n" not in str(caught.value)


def test_objects_that_say_no_scores_are_refused() -> None:
    with pytest.raises(InputError, match="KMeans, which has neither"):
        model_name(KMeans())
    with pytest.raises(InputError, match="left out for an estimator"):
        build(model_name(GaussianNB()), (4,), 3, priors=None)

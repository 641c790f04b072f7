"""SoftLabelClassifier: soft labels for any classifier of scikit-learn that takes weights of samples."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing, assert_all_finite, check_consistent_length, column_or_1d, get_tags
from sklearn.utils.metadata_routing import _routing_enabled
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from labelspace import _checks
from labelspace.sklearn.known import indexable_rows, known_space, names_of, positive_weights
from labelspace.sources.matrices import uniform
from labelspace.space import LabelSpace
from labelspace.spec.named import SpaceSpec

OWNER = "SoftLabelClassifier"


def _has(method: str) -> Callable[["SoftLabelClassifier"], bool]:
    def found(self: "SoftLabelClassifier") -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method)  # whose message is the better one
        return True

    return found


class SoftLabelClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Fit a classifier to soft labels: each sample enters once for every class of its target, with that weight.

    A sample of class k has the target ``(1−σ)·one-hot(k) + σ·relations[k]``. For a classifier that minimises a weighted
    sum of log-losses, such as logistic regression, this is cross-entropy with soft targets; trees and others take the
    weights in their own way. Samples become up to K times as many. A classifier that holds samples out inside its own
    ``fit`` (early stopping, calibration) would hold out copies of those it learns from: calibrate outside instead.

    Args:
        estimator: a classifier whose ``fit`` takes ``sample_weight``, or a pipeline that ends in one; it is copied.
        space: which classes are near: a ``LabelSpace`` or what ``labelspace.train`` takes (``"low<mid<high"``, a
            taxonomy's file, groups, ``"lda"``), aligned by names. None: all others alike.
        smoothing: σ, the share of a target that lies on other classes, in [0, 1].

    Attributes:
        estimator_: the fitted classifier.
        classes_: its classes.
        label_space_: the relations that were used.
        targets_: soft targets ``(K, K)``, a row for each class.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> x, y = load_iris(return_X_y=True)
        >>> model = SoftLabelClassifier(LogisticRegression(max_iter=500), space="0<1<2", smoothing=0.3).fit(x, y)
        >>> model.targets_.round(2)
        array([[0.7 , 0.2 , 0.1 ],
               [0.15, 0.7 , 0.15],
               [0.1 , 0.2 , 0.7 ]])
    """

    def __init__(self, estimator: Any, space: SpaceSpec | None = None, *, smoothing: float = 0.1) -> None:
        """Keep everything as it is: it is looked at when there are samples."""
        self.estimator = estimator
        self.space = space
        self.smoothing = smoothing

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "SoftLabelClassifier":
        """Fit the classifier.

        Args:
            X: samples, as the classifier takes them.
            y: their classes.
            sample_weight: what the weights of a sample's entries are multiplied by; 0 is as if it were not there.
        """
        share = _checks.number(OWNER, "smoothing", self.smoothing, low=0, high=1)
        argument = weight_argument(self.estimator)
        if argument is None:
            got = f"{type(self.estimator).__name__}, whose fit does not"
            remedy = "Every sample enters once for each class of its target, with weights."
            raise _checks.fail(OWNER, "estimator", "a classifier that takes sample_weight", got, remedy)
        given: NDArray[Any] = column_or_1d(y, warn=True)
        assert_all_finite(given, input_name="y")
        check_classification_targets(given)
        check_consistent_length(X, given)
        weights = np.ones(len(given)) if sample_weight is None else positive_weights(OWNER, sample_weight, X)
        counted = np.flatnonzero(weights)
        labels, codes = np.unique(given[counted], return_inverse=True)
        names = names_of(labels)
        samples = np.asarray(X)[counted] if isinstance(self.space, str) and self.space == "lda" else None
        self.label_space_ = (
            uniform(names) if self.space is None else known_space(OWNER, self.space, names, samples, codes)
        )
        self.targets_ = _targets(self.label_space_, share)
        shares = self.targets_[codes] * weights[counted, None]
        places, classes = np.nonzero(shares)
        entered = _safe_indexing(indexable_rows(X), counted[places])
        entries = {argument: shares[places, classes]}
        self.estimator_ = clone(self.estimator).fit(entered, labels[classes], **entries)
        self.classes_ = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    @available_if(_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the classifier's classes."""
        check_is_fitted(self)
        return self.estimator_.predict(X)  # type: ignore[no-any-return]

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the classifier's probabilities, which are those of soft labels."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)  # type: ignore[no-any-return]

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return the logarithms of the classifier's probabilities."""
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(X)  # type: ignore[no-any-return]

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the classifier's scores."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Any:
        """Return tags: samples are what the classifier takes."""
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        if inner.classifier_tags is not None:
            tags.classifier_tags = inner.classifier_tags
        return tags


def weight_argument(estimator: Any) -> str | None:
    """Return the argument of ``fit`` that takes weights of samples; of a pipeline that of its last step.

    Args:
        estimator: of scikit-learn, or like it; of those that hand arguments on to another, that one is asked.

    Example:
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.pipeline import make_pipeline
        >>> from sklearn.preprocessing import StandardScaler
        >>> weight_argument(make_pipeline(StandardScaler(), LogisticRegression()))
        'logisticregression__sample_weight'
    """
    if steps := getattr(estimator, "steps", None):
        found = weight_argument(steps[-1][1])
        # with metadata routing every step says itself what it takes
        return found if found is None or _routing_enabled() else f"{steps[-1][0]}__{found}"
    parameters = inspect.signature(estimator.fit).parameters
    if "sample_weight" in parameters:
        return "sample_weight"
    passed_on = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    inner = getattr(estimator, "estimator", None)
    return weight_argument(inner) if passed_on and hasattr(inner, "fit") else None


def _targets(space: LabelSpace, share: float) -> NDArray[np.float64]:
    """Return ``(1−σ)·I + σ·relations`` with rows that sum to 1 in double precision."""
    relations: NDArray[np.float64] = space.relations().matrix.double().numpy()
    found: NDArray[np.float64] = relations / relations.sum(axis=1, keepdims=True)
    return (1 - share) * np.eye(len(space)) + share * found

"""CostSensitiveClassifier: the decision of least expected cost on top of any classifier of scikit-learn."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, _routing_enabled, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_method_params, check_is_fitted

from labelspace import _checks
from labelspace.decisions.choosing import CALIBRATIONS, Chosen, chosen, fitted
from labelspace.decisions.decision import Decision
from labelspace.models.fitted import FLOOR
from labelspace.sklearn.known import Priced, indexable_rows, known_prices, names_of
from labelspace.space import LabelSpace
from labelspace.spec.actions import actions_of
from labelspace.spec.named import SpaceSpec
from labelspace.spec.prices import ActionSpec, has_prices

OWNER = "CostSensitiveClassifier"
FOLDS = 5


class CostSensitiveClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Decide for what is expected to cost least: ``argmin_a Σ_j p_j C[j, a]``, with p of any classifier.

    ``predict_proba`` is that of the classifier, calibrated where that is asked for; ``predict`` is the decision. So
    with prices the likeliest class is not always the predicted one; without them (``cost=None``) it is.

    Args:
        estimator: a classifier with ``predict_proba``; it is copied.
        cost: prices of true class × decision. An array with rows and columns in the order of ``classes_``; a DataFrame
            (index: true classes, columns: decisions) or a dict of dicts, which go by names, so that their order does
            not matter and classes that a fold of the data lacks are left out; a cost space; or words: ``"squared"``,
            ``"under=5,over=1"``, a file. None: every mistake costs 1.
        actions: names of the columns of an array that are not the classes; ``"tree"`` for the nodes of ``space``. A
            table with columns that are no classes has actions anyway. ``predict`` then returns the class or the name
            of the action that is done.
        space: label space that knows the order or the tree which prices in words speak of.
        calibration: of probabilities, fitted on predictions about samples that were held out in turn (five folds):
            ``"temperature"``, ``"vector"``, ``"matrix"``, ``"isotonic"`` (two classes), ``"auto"`` for the one whose
            decisions cost least, or ``"none"``, which takes one fit in place of six. It counts samples alike.

    Attributes:
        estimator_: the fitted classifier.
        classes_: its classes.
        cost_: the prices, a label space of kind ``"cost"``.
        decision_: the ``labelspace.Decision``, which can be saved and decides about logarithms of probabilities.

    Example:
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.naive_bayes import GaussianNB
        >>> x, y = load_breast_cancer(return_X_y=True)  # 0 is malignant
        >>> prices = {0: {0: 0, 1: 50}, 1: {0: 1, 1: 0}}
        >>> plain, careful = GaussianNB().fit(x, y), CostSensitiveClassifier(GaussianNB(), cost=prices).fit(x, y)
        >>> missed = lambda model: int(((y == 0) & (model.predict(x) == 1)).sum())
        >>> missed(plain), missed(careful)
        (23, 17)
    """

    def __init__(
        self,
        estimator: Any,
        cost: Priced = None,
        *,
        actions: ActionSpec = None,
        space: SpaceSpec | None = None,
        calibration: str = "none",
    ) -> None:
        """Keep everything as it is: it is looked at when there are samples."""
        self.estimator = estimator
        self.cost = cost
        self.actions = actions
        self.space = space
        self.calibration = calibration

    # of those who route metadata, the classifier asks for weights, not this class
    __metadata_request__fit = {"sample_weight": UNUSED}

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> "CostSensitiveClassifier":
        """Fit the classifier, then its calibration.

        Args:
            X: samples, as the classifier takes them.
            y: their classes.
            sample_weight: goes to the classifier.
            params: what else the classifier's ``fit`` takes.
        """
        self._check(y)
        params = params if sample_weight is None else {**params, "sample_weight": sample_weight}
        own = process_routing(self, "fit", **params).estimator.fit if _routing_enabled() else params
        self.estimator_ = clone(self.estimator).fit(X, y, **own)
        self.classes_ = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        names = names_of(self.classes_)
        self.cost_ = known_prices(OWNER, self.cost, names, self.actions, self.space)
        found = self._calibrated(indexable_rows(X), y, own)
        rule = "min_cost" if has_prices(self.cost_) else "argmax"
        self.decision_ = Decision(rule, found.temperature, self.cost_, names, calibration=found.calibrator)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the cheapest decision about each sample: a class, or the name of an action that is none."""
        check_is_fitted(self)
        done = self.decision_.decide(self._scores(X))
        found: NDArray[Any] = self.action_labels_[done.actions.numpy()]
        return found

    @property
    def action_labels_(self) -> NDArray[Any]:
        """What ``predict`` returns for each action, in the order of ``decision_.action_names``."""
        classes = dict(zip(self.decision_.names, self.classes_.tolist(), strict=True))
        names = self.decision_.action_names
        if set(names) <= set(classes):
            places = [list(classes).index(name) for name in names]
            return np.asarray(self.classes_)[places]
        found = [classes.get(name, name) for name in names]
        return np.array(found, dtype=None if self.classes_.dtype.kind == "U" else object)

    def predict_proba(self, X: ArrayLike) -> NDArray[Any]:
        """Return the probabilities of ``classes_`` that decisions are made by."""
        check_is_fitted(self)
        if self.calibration == "none":
            likely: NDArray[Any] = self.estimator_.predict_proba(X)
            return likely
        honest: NDArray[np.float64] = self.decision_.probabilities(self._scores(X)).numpy()
        return honest

    def predict_log_proba(self, X: ArrayLike) -> NDArray[Any]:
        """Return the logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            found: NDArray[Any] = np.log(self.predict_proba(X))
        return found

    def expected_costs(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return what every action is expected to cost for each sample, in the order of ``action_labels_``."""
        check_is_fitted(self)
        found: NDArray[np.float64] = self.decision_.expected_costs(self._scores(X)).numpy()
        return found

    def get_metadata_routing(self) -> Any:
        """Return that what ``fit`` is given goes to the classifier."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        """Return tags: samples are what the classifier takes."""
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        if inner.classifier_tags is not None:
            tags.classifier_tags = inner.classifier_tags
        return tags

    def _check(self, y: ArrayLike) -> None:
        """Refuse what cannot be used before time is spent on a fit."""
        _checks.choice(OWNER, "calibration", self.calibration, CALIBRATIONS)
        if not hasattr(self.estimator, "predict_proba"):
            remedy = "CalibratedClassifierCV makes probabilities for any classifier."
            got = f"{type(self.estimator).__name__}, which has none"
            raise _checks.fail(OWNER, "estimator", "a classifier with predict_proba", got, remedy)
        if self.cost is not None:
            check_classification_targets(y)
            known_prices(OWNER, self.cost, names_of(np.unique(np.asarray(y))), self.actions, self.space)

    def _scores(self, X: ArrayLike) -> torch.Tensor:
        return _logarithms(self.estimator_.predict_proba(X))

    def _calibrated(self, X: Any, y: ArrayLike, params: Mapping[str, Any]) -> Chosen:
        """Return temperature and calibrator, fitted on predictions about samples that were held out."""
        if self.calibration == "none" or len(self.classes_) == 1:
            return Chosen(1.0)
        labels = np.asarray(y).ravel()
        counted = np.asarray(params.get("sample_weight", np.ones(len(labels)))) > 0
        _, codes = np.unique(labels, return_inverse=True)
        rarest = int(np.bincount(codes[counted]).min())
        if rarest < 2:
            expected = "'none' where a class has fewer than two samples, as none can be held out"
            raise _checks.fail(OWNER, "calibration", expected, repr(self.calibration))
        likely = np.zeros((len(labels), len(self.classes_)))
        for rows, held in StratifiedKFold(min(FOLDS, rarest)).split(codes[counted], codes[counted]):
            inside, outside = np.flatnonzero(counted)[rows], np.flatnonzero(counted)[held]
            own = _check_method_params(X, params, inside)
            model = clone(self.estimator).fit(_safe_indexing(X, inside), labels[inside], **own)
            likely[outside] = model.predict_proba(_safe_indexing(X, outside))
        logits = _logarithms(likely[counted])
        places = torch.from_numpy(np.searchsorted(self.classes_, labels[counted]))
        if self.calibration == "auto":
            return chosen(logits, places, _table(self.cost_))
        return fitted(self.calibration, logits, places)  # type: ignore[arg-type]


def _table(cost: LabelSpace) -> torch.Tensor:
    found = actions_of(cost)
    return cost.matrix.double() if found is None else found.prices


def _logarithms(probabilities: ArrayLike) -> torch.Tensor:
    """Return scores whose softmax are the probabilities; what was never seen is as unlikely as can be."""
    return torch.from_numpy(np.log(np.asarray(probabilities, dtype=np.float64).clip(FLOOR, 1)))

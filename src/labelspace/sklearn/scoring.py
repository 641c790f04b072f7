"""cost_scorer: what decisions cost, as a scorer for searches and cross-validation."""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metadata_routing import MetadataRequest

from labelspace import _checks
from labelspace.sklearn.known import Priced, known_prices, names_of
from labelspace.spec.actions import Actions, actions_of
from labelspace.spec.named import SpaceSpec
from labelspace.spec.prices import ActionSpec

OWNER = "cost_scorer"


@final
class CostScorer:
    """A scorer ``(estimator, X, y) -> float``, see ``cost_scorer``."""

    def __init__(self, cost: Priced, names: ArrayLike | None, actions: ActionSpec, space: SpaceSpec | None) -> None:
        """Keep everything: prices are read when the classes are known."""
        self.cost, self.names, self.actions, self.space = cost, names, actions, space
        self._request = MetadataRequest(owner=self)

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the mean cost of the estimator's predictions, so that greater is better."""
        true = np.asarray(y).ravel()
        done = names_of(np.asarray(estimator.predict(X)).ravel())
        table, names = self._table(estimator, true)
        rows, columns = _places(names_of(true), names, "classes"), _places(done, table.names, "classes or actions")
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return -float(np.average(table.prices.numpy()[rows, columns], weights=weights))

    def __repr__(self) -> str:
        """Return how it was made."""
        return f"cost_scorer({self.cost!r})"

    def set_score_request(self, *, sample_weight: bool | str | None) -> "CostScorer":
        """Say whether weights of samples are to be routed here, as for scikit-learn's own scorers."""
        self._request.score.add_request(param="sample_weight", alias=sample_weight)
        return self

    def get_metadata_routing(self) -> Any:
        """Return what was asked for."""
        return self._request

    def _table(self, estimator: Any, true: NDArray[Any]) -> tuple[Actions, list[str]]:
        """Return prices, and the names of their rows."""
        if self.names is not None:
            names = names_of(np.asarray(self.names))
        else:
            known = [estimator.classes_] if hasattr(estimator, "classes_") else []
            names = names_of(np.unique(np.concatenate([*known, true])))
        found = known_prices(OWNER, self.cost, names, self.actions, self.space)
        return actions_of(found) or Actions(found.names, found.matrix.double()), names


def cost_scorer(
    cost: Priced,
    *,
    names: ArrayLike | None = None,
    actions: ActionSpec = None,
    space: SpaceSpec | None = None,
) -> CostScorer:
    """Return a scorer for ``GridSearchCV`` and ``cross_val_score``: minus the mean cost, so that greater is better.

    Prices go with predictions by the names of classes, never by position. Predictions may be actions, as those of
    ``CostSensitiveClassifier`` are.

    Args:
        cost: as for ``CostSensitiveClassifier``.
        names: the classes, in the order of the rows of an array; by default those of the estimator and of the samples,
            sorted. A fold that lacks a class has fewer ranks, which matters to ``"squared"`` and an array: give names
            where that may happen.
        actions: as for ``CostSensitiveClassifier``.
        space: as for ``CostSensitiveClassifier``.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.dummy import DummyClassifier
        >>> x, y = load_iris(return_X_y=True)  # 50 samples of each class
        >>> model = DummyClassifier(strategy="constant", constant=2).fit(x, y)
        >>> cost_scorer("squared")(model, x, y)  # (4 + 1 + 0) / 3
        -1.6666666666666667
    """
    return CostScorer(cost, names, actions, space)


def _places(given: list[str], known: list[str] | tuple[str, ...], what: str) -> list[int]:
    place = {name: index for index, name in enumerate(known)}
    absent = next((name for name in given if name not in place), None)
    if absent is not None:
        expected = f"prices for all {what}"
        raise _checks.fail(OWNER, "cost", expected, f"none for {absent!r}", f"They are for {_checks.listed(known)}.")
    return [place[name] for name in given]

"""LabelSpaceClassifier: a network trained with any label method, as an estimator of scikit-learn."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from labelspace import _checks, _devices
from labelspace.learner import Learner
from labelspace.sklearn.known import known_space, names_of, positive_weights
from labelspace.sklearn.prepared import Prepared, Scales, dataset_of
from labelspace.spec.named import SpaceSpec
from labelspace.training.asked import asked
from labelspace.training.build import prepare
from labelspace.training.feed import BATCH
from labelspace.training.finished import Run
from labelspace.training.restored import Teacher
from labelspace.training.run import learned

OWNER = "LabelSpaceClassifier"


class LabelSpaceClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A network that is trained with a label method: ``labelspace.train`` as an estimator.

    Columns are standardised with statistics of the training samples. Scores are computed in double precision, so that
    what is predicted of a sample does not depend on the others beside it.

    Args:
        method: a name of ``labelspace.methods()``, a ``Criterion`` class or a factory of one.
        space: for methods that need one, a ``LabelSpace`` or what ``labelspace.train`` takes (``"ordinal"``,
            ``"low<mid<high"``, groups, a taxonomy's file, ``"lda"``), aligned with ``classes_`` by names. A number's
            name is what people write: 3.
        smoothing: the method's strength, where it calls it so; others are among ``method_options``.
        method_options: other options of the method.
        model: a name of ``labelspace.models.names()``, ``"auto"`` (the network for tables), a torch module, or a
            function ``(input_shape, output_dim) -> module``.
        model_options: of the model.
        input_shape: of one sample, where rows of X are flat pictures: ``(1, 8, 8)``. By default rows stay rows.
        epochs: how often all samples are seen.
        batch_size: of a step.
        learning_rate: of ``optimizer``.
        weight_decay: of the model's weights.
        optimizer: ``"adam"``, ``"adamw"`` or ``"sgd"``.
        validation_fraction: share of the samples that is held out, class by class, to keep the best epoch; None
            trains on all samples to the last epoch.
        best_by: what the best epoch has least of on held-out samples: ``"nll"``, ``"error"``, or ``"calibrated"``.
        patience: stop after so many epochs without a better one.
        training_options: other fields of ``labelspace.training.config.Config``: ``schedule``, ``clip``, ``precision``,
            ``threads``, ``teacher``, ….
        random_state: a seed, a ``RandomState``, or None for another network at each fit.
        device: ``"cpu"``, ``"cuda"``, ``"mps"`` or ``"auto"``.

    Attributes:
        classes_: what ``predict`` returns.
        learner_: the trained model and its criterion, a ``labelspace.Learner`` on the CPU; None of a single class.
        label_space_: the label space that was used or learned; not there for a single class.
        n_features_in_: columns of X.
        feature_names_in_: their names, where X was a DataFrame.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> x, y = load_iris(return_X_y=True)
        >>> model = LabelSpaceClassifier("semantic", space="ordinal", smoothing=0.2, random_state=0).fit(x, y)
        >>> model.score(x, y) > 0.9, model.label_space_.nearest("0", k=1)[0][0]
        (True, '1')
    """

    def __init__(
        self,
        method: Any = "onehot",
        *,
        space: SpaceSpec | None = None,
        smoothing: float | None = None,
        method_options: Mapping[str, object] | None = None,
        model: Any = "auto",
        model_options: Mapping[str, object] | None = None,
        input_shape: Sequence[int] | None = None,
        epochs: int = 20,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        optimizer: str = "adam",
        validation_fraction: float | None = None,
        best_by: str = "nll",
        patience: int | None = None,
        training_options: Mapping[str, object] | None = None,
        random_state: Any = None,
        device: str = "cpu",
    ) -> None:
        """Keep everything as it is: it is looked at when there are samples."""
        self.method = method
        self.space = space
        self.smoothing = smoothing
        self.method_options = method_options
        self.model = model
        self.model_options = model_options
        self.input_shape = input_shape
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.optimizer = optimizer
        self.validation_fraction = validation_fraction
        self.best_by = best_by
        self.patience = patience
        self.training_options = training_options
        self.random_state = random_state
        self.device = device

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "LabelSpaceClassifier":
        """Train a network from its start.

        Args:
            X: samples, ``(N, columns)``.
            y: their classes, numbers or text.
            sample_weight: what each counts in the loss; 0 is as if it were not there.
        """
        x, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        weights = None if sample_weight is None else positive_weights(OWNER, sample_weight, x)
        if weights is not None:
            x, labels, weights = x[weights > 0], labels[weights > 0], weights[weights > 0]
        self.classes_, codes = np.unique(labels, return_inverse=True)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.scales_ = Scales.of(x, self._shape(x.shape[1]), weights)
        self.learner_: Learner | None = None
        if len(self.classes_) > 1:
            self._train(Prepared(self.scales_(x), codes, weights), seed)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the likeliest class of each sample."""
        scores = self._scores(X)
        found: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        return found

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return probabilities ``(N, K)``: the softmax of the scores, as in ``Run.predict_proba``."""
        scores = torch.from_numpy(self._scores(X))
        return scores.softmax(dim=1).numpy()

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return logarithms of ``predict_proba``."""
        return torch.from_numpy(self._scores(X)).log_softmax(dim=1).numpy()

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return scores, the largest of which predicts; of two classes one number, positive for the second."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _shape(self, columns: int) -> tuple[int, ...]:
        shape = (columns,) if self.input_shape is None else tuple(self.input_shape)
        if np.prod(shape) != columns:
            raise _checks.fail(OWNER, "input_shape", f"a shape of {columns} numbers, as X has columns", shape)
        return shape

    def _train(self, prepared: Prepared, seed: int) -> None:
        names = names_of(self.classes_)
        space = None
        if self.space is not None:
            space = known_space(OWNER, self.space, names, prepared.x.reshape(len(prepared.x), -1), prepared.codes)
        dataset, weights = dataset_of(prepared, names, self._fraction(), seed)
        options = {**self._options(), **({"best_by": self.best_by} if len(dataset.validation) else {})}
        try:
            config, _, spaces = asked(dataset, space, self.smoothing, {**options, "seed": seed})
            job = prepare(config, dataset, space, spaces)._replace(weights=weights)
            taught = None if config.teacher is None else Path(config.teacher)
            # the teacher undoes what was done to columns here, not in the dataset
            teacher = None if taught is None else Teacher(Run.load(taught), self.scales_.noted(dataset))
            learner = learned(job, teacher)
        except _checks.InputError as error:
            raise error.about(owner=OWNER) from error
        self.label_space_ = learner.criterion.label_space()
        self.learner_ = learner.double()

    def _fraction(self) -> float:
        if self.validation_fraction is None:
            return 0.0
        return _checks.number(OWNER, "validation_fraction", self.validation_fraction, low=0, high=1, open_high=True)

    def _options(self) -> dict[str, object]:
        own = ("method", "model", "epochs", "batch_size", "learning_rate", "weight_decay", "optimizer", "device")
        found = {name: getattr(self, name) for name in (*own, "patience")}
        for name, options in (("method_options", self.method_options), ("model_options", self.model_options)):
            found[name] = dict(options or {})
        more = dict(self.training_options or {})
        for name in more:
            if name in self.get_params(deep=False) or name == "seed":
                remedy = f"It has a parameter of its own: {'random_state' if name == 'seed' else name}."
                raise _checks.fail(OWNER, "training_options", "what has no parameter of its own", repr(name), remedy)
        return {**found, **more}

    @torch.no_grad()
    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        x = torch.from_numpy(self.scales_(validate_data(self, X, dtype=np.float64, reset=False)))
        if self.learner_ is None:
            return np.zeros((len(x), 1))
        device = _devices.placed(_devices.resolved(OWNER, self.device))
        kind = _devices.wide(device)
        learner = self.learner_ if device.type == "cpu" else self.learner_.to(device, kind)
        found = [learner(part.to(device, kind)).cpu().double() for part in torch.split(x, BATCH)]
        self.learner_.to("cpu", torch.float64)
        return torch.cat(found).numpy()

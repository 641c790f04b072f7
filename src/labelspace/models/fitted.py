"""An estimator as a network: a call gives the logarithms of its probabilities.

Estimators are fitted, not trained by steps. What was fitted is their weights: bytes that skops wrote, in a tensor.
"""

import importlib
import inspect
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, final, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from labelspace import _checks
from labelspace.models import estimator_files

if TYPE_CHECKING:
    from scipy import sparse

FLOOR = 1e-12  # of probabilities: what was never seen is as unlikely as can be, and its logarithm finite
ESTIMATOR = "estimator"  # of an architecture in a record
LARGEST_SEED = 2**32  # of numpy
Samples: TypeAlias = "NDArray[np.floating[Any]] | sparse.csr_array"


def as_one(probabilities: Sequence[Tensor], shares: Sequence[float]) -> Tensor:
    """Return the scores of several models that are one: the logarithms of their mean probabilities.

    Args:
        probabilities: of each, ``(N, K)``.
        shares: what each counts, 1 together.

    Example:
        >>> as_one([torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])], [0.25, 0.75]).exp()
        tensor([[0.2500, 0.7500]])
    """
    parts = [share * each for share, each in zip(shares, probabilities, strict=True)]
    return torch.stack(parts).sum(dim=0).clamp_min(FLOOR).log()


@runtime_checkable
class Estimator(Protocol):
    """What is asked of an estimator; ``predict_proba`` or ``decision_function`` are looked for beside it."""

    def fit(self, x: Samples, y: NDArray[np.int64]) -> object:
        """Learn from samples and their classes."""


class FitError(_checks.WorkError):
    """An estimator that could not be fitted, or said something that is no score."""


def is_estimator(content: object) -> bool:
    """Return whether something is meant as an estimator: an object, no class and no network, that can be fitted."""
    return isinstance(content, Estimator) and not isinstance(content, type | nn.Module)


def check_scores(owner: str, content: object) -> None:
    """Refuse an estimator that says no more than a class."""
    if not hasattr(content, "predict_proba") and not hasattr(content, "decision_function"):
        expected = "an estimator with predict_proba or decision_function"
        remedy = "Prices need probabilities: CalibratedClassifierCV makes them of any classifier."
        raise _checks.fail(owner, "model", expected, f"{type(content).__name__}, which has neither", remedy)


@final
class Fitted(nn.Module):
    """An estimator as training, records and predictions want a model: a call returns ``(output, None)``.

    The output holds logarithms of probabilities, or what the decision function says where there are none: a
    temperature makes probabilities of it. Classes that training did not have get the least score.

    Args:
        estimator: not fitted, or not as it will be: it is copied; None for the one that a record holds.
        name: what to call it.
        input_shape: of one sample; samples are flattened.
        output_dim: how many classes there are.
        tokens: of texts, how many token ids there are; texts become TF-IDF vectors.
    """

    def __init__(
        self, estimator: object, name: str, input_shape: tuple[int, ...], output_dim: int, tokens: int | None
    ) -> None:
        """Copy the estimator."""
        super().__init__()
        if torch.empty(0).is_meta:
            raise NotImplementedError("an estimator has no form without content")
        self.name, self.inputs, self.output_dim, self.tokens = name, int(np.prod(input_shape)), output_dim, tokens
        self.feature_dim = None
        self.architecture = {ESTIMATOR: name}  # so that a record tells what it is
        self.estimator, self.content = None if estimator is None else _copied(estimator, tokens), b""
        self.trusted = () if estimator is None else _own_types(estimator)

    def fit(self, x: Tensor, y: Tensor, seed: int, weight: Tensor | None = None) -> float:
        """Fit a copy of the estimator and return the seconds; the seed decides what it does not decide itself.

        Args:
            x: all training samples, as a network would read them.
            y: their classes.
            seed: 0 or more.
            weight: of each sample, where they do not count alike.
        """
        estimator = _seeded(_copied(self.estimator), seed % LARGEST_SEED)
        given = {} if weight is None else {_weighted(self.name, estimator): weight.double().numpy()}
        with warnings.catch_warnings(record=True) as caught, threadpool_limits(torch.get_num_threads()):
            warnings.simplefilter("always")
            began = time.perf_counter()
            try:
                estimator.fit(self._samples(x), y.numpy(), **given)
                spent = time.perf_counter() - began
                self.content = estimator_files.dumped(estimator, self.trusted)
            except Exception as error:  # estimators of all origins
                raise FitError(f"{self.name} could not be fitted: {estimator_files.first_line(error)}") from error
        said = [estimator_files.first_line(each.message) for each in caught if issubclass(each.category, UserWarning)]
        for text in dict.fromkeys(said):
            warnings.warn(f"{self.name}: {text}", UserWarning, stacklevel=2)
        check_scores("train", estimator)
        self.estimator = estimator
        return spent

    @torch.no_grad()
    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        """Return scores ``(N, K)``, and no features."""
        if not self.content:
            raise _checks.fail("train", "model", "an estimator that was fitted", f"{self.name}, which was not")
        with threadpool_limits(torch.get_num_threads()):
            found = self._scores(self._samples(x.cpu()))
        return torch.from_numpy(found).to(device=x.device, dtype=_dtype(x)), None

    def has_map(self, input_shape: tuple[int, ...]) -> bool:
        """Return whether features are the mean of a map: there are none."""
        return False

    def head_weight(self) -> Tensor:
        """Refuse: an estimator has no linear layer of ours."""
        raise _checks.fail("train", "head_l2", "given for a network", self.name, "Leave head_l2 out.")

    def get_extra_state(self) -> Tensor:
        """Return what was fitted, as bytes in a tensor."""
        return torch.frombuffer(bytearray(self.content), dtype=torch.uint8) if self.content else torch.empty(0)

    def set_extra_state(self, state: object) -> None:
        """Read what was fitted, which may have come from anywhere; code in it is refused."""
        if not isinstance(state, Tensor) or state.dtype != torch.uint8 or state.ndim != 1:
            raise estimator_files.Untrusted("its weights are no bytes")
        content = state.cpu().numpy().tobytes()
        found = estimator_files.loaded(content, self.trusted)
        if self.estimator is not None and _outline(found) != _outline(self.estimator):
            raise estimator_files.Untrusted(f"it is {_outline(found)} where {_outline(self.estimator)} is said")
        width = getattr(found, "n_features_in_", self._width)
        if width != self._width or not set(self._classes(found, self.output_dim)) <= set(range(self.output_dim)):
            raise estimator_files.Untrusted("it was fitted to other samples or classes")
        self.estimator, self.content = cast(Any, found), content

    @property
    def takes_shares(self) -> bool:
        """Whether it fits probabilities to weighted samples: a weight can then be the share of a class in a label."""
        estimator: Any = self.estimator
        likely = hasattr(estimator, "predict_proba") and not hasattr(
            estimator, "probability"
        )  # of SVC, an afterthought
        return likely and _weights(estimator) is not None

    @property
    def _width(self) -> int:
        """How many numbers the estimator reads of a sample."""
        return self.inputs if self.tokens is None else self.tokens

    def _samples(self, x: Tensor) -> Samples:
        return x.flatten(1).numpy() if self.tokens is None else counts(x, self.tokens)

    def _scores(self, samples: Samples) -> NDArray[np.float64]:
        likely = hasattr(self.estimator, "predict_proba")
        said = getattr(self.estimator, "predict_proba" if likely else "decision_function")(samples)
        scores = np.asarray(said, dtype=np.float64)
        if scores.ndim == 1:  # of two classes, one number: positive for the second
            scores = np.stack([-scores / 2, scores / 2], axis=1)
        scores = np.log(scores.clip(FLOOR, 1)) if likely else scores
        classes = self._classes(self.estimator, scores.shape[1])
        if scores.shape != (samples.shape[0], len(classes)):
            got = f"{scores.shape} for {samples.shape[0]} samples of {len(classes)} classes"
            raise FitError(f"{self.name} gives scores of another shape than one for each class: {got}")
        least = np.full(len(scores), np.log(FLOOR)) if likely else scores.min(axis=1) + np.log(FLOOR)
        found = np.repeat(least[:, None], self.output_dim, axis=1)
        found[:, classes] = scores
        return found

    @staticmethod
    def _classes(estimator: object, width: int) -> list[int]:
        """Return the class of each column of scores; an estimator that does not say has all of them."""
        return [int(each) for each in getattr(estimator, "classes_", range(width))]


def counts(ids: Tensor, tokens: int) -> "sparse.csr_array":
    """Return how often each token occurs in each text; padding, id 0, does not count.

    Example:
        >>> counts(torch.tensor([[2, 1, 2, 0]]), 4).toarray()
        array([[0., 1., 2., 0.]])
    """
    from scipy import sparse  # slow to import

    rows, places = torch.nonzero(ids, as_tuple=True)
    content = np.ones(len(rows)), (rows.numpy(), ids[rows, places].numpy())
    return sparse.csr_array(content, shape=(len(ids), tokens))  # what occurs twice is added up


def joined(parts: Sequence[object]) -> object:
    """Return estimators one after the other."""
    make = importlib.import_module("sklearn.pipeline").make_pipeline
    return parts[0] if len(parts) == 1 else make(*parts)


def _copied(estimator: object, tokens: int | None = None) -> Any:
    """Return the estimator as it was before any fit; of texts, behind what weighs their tokens."""
    copied = importlib.import_module("sklearn.base").clone(estimator, safe=False)
    if tokens is None:
        return copied
    weigh = importlib.import_module("sklearn.feature_extraction.text").TfidfTransformer
    return joined([weigh(sublinear_tf=True), copied])


def _seeded(estimator: Any, seed: int) -> Any:
    """Return the estimator with the seed wherever it has none of its own."""
    options = estimator.get_params() if hasattr(estimator, "get_params") else {}
    free = [name for name, value in options.items() if name.split("__")[-1] == "random_state" and value is None]
    return estimator.set_params(**dict.fromkeys(free, seed)) if free else estimator


def _weighted(name: str, estimator: Any) -> str:
    """Return the argument of ``fit`` that takes weights of samples; of a pipeline that of its last step."""
    found = _weights(estimator)
    if found is None:
        expected = "one whose fit takes sample_weight, for labels that are not one-hot"
        raise _checks.fail("train", "model", expected, name, "Use method='onehot'.")
    return found


def _weights(estimator: Any) -> str | None:
    """Return the argument of ``fit`` that takes weights of samples; None where there is none."""
    steps = getattr(estimator, "steps", None)
    last = steps[-1][1] if steps else estimator
    if "sample_weight" not in inspect.signature(last.fit).parameters:
        return None
    return f"{steps[-1][0]}__sample_weight" if steps else "sample_weight"


def _parts(estimator: object) -> Iterator[object]:
    """Yield an estimator and those inside it."""
    yield estimator
    options = estimator.get_params() if hasattr(estimator, "get_params") else {}
    yield from (value for value in options.values() if is_estimator(value))


def _own_types(estimator: object) -> tuple[str, ...]:
    """Return what may be in the files of an estimator beside scikit-learn's own: whoever gave it knows its packages."""
    packages = {type(part).__module__.partition(".")[0] for part in _parts(estimator)} - {"sklearn", "builtins"}
    return tuple(sorted(f"{package}." for package in packages))


def _outline(estimator: object) -> str:
    """Return the class of an estimator, of a pipeline those of its steps."""
    steps = getattr(estimator, "steps", None)
    parts = [part for _, part in steps] if isinstance(steps, list) else [estimator]
    return " + ".join(type(part).__name__ for part in parts)


def _dtype(x: Tensor) -> torch.dtype:
    return x.dtype if x.is_floating_point() else torch.float32

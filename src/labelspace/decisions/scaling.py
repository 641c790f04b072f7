"""A scale and a bias for each class, or a whole matrix: calibrators with more to say than one temperature.

Letters: N samples, K classes, u the log-probabilities of scores, D and b what is fitted, p the probabilities.

Both begin where nothing is changed and are held back by a prior around it, so that few rows change little: in units of
the total NLL, ``½·penalty`` times the squares of what was changed. The objective is strictly convex, and its minimum
finite also where data are separated perfectly, or where a class never occurs: that class gets a bias as low as the
prior allows, and no lower.
"""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.decisions.calibration import like

Array = NDArray[np.float64]
LOWEST = -100.0  # a log-probability; less than that is as impossible, and would only spoil the search
OPTIONS = {"maxiter": 2000, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-9}


class Scaling:
    """What both have in common: ``p = softmax(u + D-times-u + b)``, with u the log-probabilities of the scores.

    Args:
        change: D, to restore what was fitted before.
        bias: b, ``(K,)``.
        penalty: the weight of squares, see above; 0 for none, where data bound everything by themselves.
    """

    kind: ClassVar[str]
    square: ClassVar[bool]

    def __init__(self, change: Numbers | None = None, bias: Numbers | None = None, *, penalty: float = 1.0) -> None:
        """Start from what was fitted before, or from no change at all."""
        name = type(self).__name__
        self.penalty = _checks.number(name, "penalty", penalty, low=0)
        self.change: Tensor | None = None
        self.bias: Tensor | None = None
        if (change is None) != (bias is None):
            raise _checks.fail(name, "bias", "given beside change, or neither", "one of them")
        if change is not None and bias is not None:
            self.bias = _inputs.vector(name, "bias", bias)
            classes = len(self.bias)
            numbers = _inputs.tensor(name, "change", change).to("cpu", torch.float64)
            wanted = (classes, classes) if self.square else (classes,)
            if tuple(numbers.shape) != wanted or not bool(torch.isfinite(numbers).all()):
                got = f"shape {tuple(numbers.shape)}" if tuple(numbers.shape) != wanted else "numbers that are not"
                raise _checks.fail(name, "change", f"finite and of shape {wanted}", got)
            self.change = numbers

    @property
    def classes(self) -> int | None:
        """How many classes it was fitted on; None where it was not."""
        return None if self.bias is None else len(self.bias)

    def fit(self, scores: Numbers, y: Numbers) -> Self:
        """Set ``change`` and ``bias`` from held-out scores and their labels, and return itself.

        Args:
            scores: best after a temperature: what is fitted is held back around leaving them as they are.
            y: class indices.
        """
        owner = f"{type(self).__name__}.fit"
        logits = _inputs.scores(owner, "scores", scores)
        samples, classes = logits.shape
        labels = _inputs.class_indices(owner, "y", y, samples=samples, classes=classes)
        start = None if self.change is None or self.bias is None or len(self.bias) != classes else self._flat()
        found = _minimum(
            _log_probabilities(logits).numpy(), labels.numpy(), self._weights(classes), self.penalty, start
        )
        self.change, self.bias = torch.from_numpy(found.change), torch.from_numpy(found.bias)
        return self

    def logits(self, scores: Tensor) -> Tensor:
        """Return what the softmax is taken of, in float64; tensor operations alone, as ONNX graphs need it."""
        u = _log_probabilities(scores.double())
        if self.change is None or self.bias is None:
            return u
        change, bias = self.change.to(u.device), self.bias.to(u.device)
        return u + (u @ change if self.square else u * change) + bias

    def apply(self, scores: Numbers) -> Tensor:
        """Return probabilities, in float32 or, for float64 scores, float64."""
        owner = f"{type(self).__name__}.apply"
        given = _inputs.tensor(owner, "scores", scores)
        logits = _inputs.scores(owner, "scores", given)
        if self.classes not in (None, logits.shape[1]):
            expected = f"of {self.classes} columns, as it was fitted on"
            raise _checks.fail(owner, "scores", expected, f"shape {tuple(logits.shape)}")
        return like(self.logits(logits).softmax(dim=1), given)

    def __call__(self, scores: Numbers) -> Tensor:
        """Return probabilities, as ``apply`` does."""
        return self.apply(scores)

    def plain(self) -> dict[str, object]:
        """Return it as plain JSON data."""
        if self.change is None or self.bias is None:
            raise _checks.fail(type(self).__name__, "change", "fitted", "nothing", "Call fit first.")
        return {"kind": self.kind, "change": self.change.tolist(), "bias": self.bias.tolist()}

    @classmethod
    def of(cls, facts: Mapping[str, object]) -> Self:
        """Return what ``plain`` wrote."""
        return cls(cast(Numbers, facts["change"]), cast(Numbers, facts["bias"]))  # checked by what they are for

    def _flat(self) -> Array:
        assert self.change is not None
        assert self.bias is not None
        return torch.cat([self.change.flatten(), self.bias]).numpy()

    def _weights(self, classes: int) -> Array:
        """Return the weight of the square of each entry of D."""
        raise NotImplementedError


class VectorScaling(Scaling):
    """A scale and a bias for each class: ``p = softmax(u·(1 + D) + b)``, with u the log-probabilities of the scores.

    ``fit`` minimises ``Σ_n −log p[n, y_n] + ½·penalty·(Σ D² + Σ b²)`` (L-BFGS, float64).

    Args:
        change: D, ``(K,)``, to restore what was fitted before.
        bias: b, ``(K,)``.
        penalty: 1 expects scales of 1 ± 1 and biases of 0 ± 1.

    Example:
        >>> scores = torch.tensor([[2.0, 0.0], [2.0, 0.0], [0.0, 2.0], [0.0, 2.0]]).repeat(50, 1)
        >>> y = torch.tensor([0, 1, 1, 1]).repeat(50)
        >>> VectorScaling().fit(scores, y)(scores)[:1].round(decimals=2)  # the first class is half of what it seems
        tensor([[0.5000, 0.5000]])

    Reference:
        Guo and others, "On calibration of modern neural networks", 2017, section 4.2.
    """

    kind = "vector"
    square = False

    def _weights(self, classes: int) -> Array:
        return np.full(classes, self.penalty)


class MatrixScaling(Scaling):
    """A whole matrix and a bias: ``p = softmax(u + u·D + b)``, with u the log-probabilities of the scores.

    ``fit`` minimises ``Σ_n −log p[n, y_n] + ½·penalty·(Σ_k D_kk² + (K − 1)·Σ_{j≠k} D_jk² + Σ b²)`` (L-BFGS, float64):
    off-diagonal entries are held back the more, so that those of a class together vary as much as its diagonal one.

    Args:
        change: D, ``(K, K)``, to restore what was fitted before.
        bias: b, ``(K,)``.
        penalty: as for ``VectorScaling``.

    Reference:
        Kull and others, "Beyond temperature scaling: obtaining well-calibrated multiclass probabilities with Dirichlet
        calibration", 2019, section 3 (off-diagonal and intercept regularisation, ODIR).
    """

    kind = "matrix"
    square = True

    def _weights(self, classes: int) -> Array:
        found = np.full((classes, classes), self.penalty * (classes - 1))
        np.fill_diagonal(found, self.penalty)
        return found


class Minimum(NamedTuple):
    """What was fitted: D and b."""

    change: Array
    bias: Array


def _log_probabilities(scores: Tensor) -> Tensor:
    # of scores themselves, a number added to a whole row would change what a scale for each class does
    return torch.log_softmax(scores, dim=1).clamp_min(LOWEST)


def _minimum(u: Array, y: NDArray[np.int64], weights: Array, penalty: float, start: Array | None) -> Minimum:
    """Return D and b of the least mean NLL and penalty."""
    from scipy.optimize import minimize

    samples, classes = u.shape
    square, size = weights.ndim == 2, weights.size
    rows = np.arange(samples)

    def objective(x: Array) -> tuple[float, Array]:
        change, bias = x[:size].reshape(weights.shape), x[size:]
        z = u + (u @ change if square else u * change) + bias
        z -= z.max(axis=1, keepdims=True)
        p = np.exp(z)
        total = p.sum(axis=1)
        nll = float((np.log(total) - z[rows, y]).sum())
        p /= total[:, None]
        p[rows, y] -= 1
        slope = u.T @ p if square else np.einsum("nk,nk->k", u, p)
        held = float((weights * change**2).sum() + penalty * (bias**2).sum())
        gradient = np.concatenate([(slope + weights * change).ravel(), p.sum(axis=0) + penalty * bias])
        return (nll + held / 2) / samples, gradient / samples

    begin = np.zeros(size + classes) if start is None else start
    found = minimize(objective, begin, jac=True, method="L-BFGS-B", options=OPTIONS).x
    return Minimum(found[:size].reshape(weights.shape).copy(), found[size:].copy())

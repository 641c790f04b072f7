"""How good probabilities are: likelihood, squared error, and whether confidence is what it says.

Letters: N samples, K classes, p the probabilities, y the true class indices. Scores become probabilities with
``torch.softmax`` or, calibrated on held-out data, with ``decisions.Temperature``.
"""

from typing import Literal, overload

import torch
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers


@overload
def nll(probabilities: Numbers, y: Numbers, *, per_sample: Literal[False] = False) -> float: ...
@overload
def nll(probabilities: Numbers, y: Numbers, *, per_sample: Literal[True]) -> Tensor: ...
def nll(probabilities: Numbers, y: Numbers, *, per_sample: bool = False) -> float | Tensor:
    """Return the negative log-likelihood in nats: ``−1/N Σ_n log p[n, y_n]``.

    A probability of 0 is read as the smallest normal number of its type (87 nats in float32, 708 in float64), so
    that one sample cannot make the mean infinite.

    Args:
        probabilities: rows that sum to 1.
        y: true class indices.
        per_sample: return each sample's value instead of their mean.

    Shape:
        ``probabilities (N, K)``, ``y (N,)``; per sample ``(N,)``.

    Example:
        >>> nll([[0.5, 0.5], [1.0, 0.0]], [0, 0])
        0.34657359027997264
    """
    rows, labels = _checked("nll", probabilities, y)
    given = _inputs.tensor("nll", "probabilities", probabilities).dtype
    smallest = torch.finfo(given if given.is_floating_point else torch.float64).tiny
    said = rows.gather(1, labels[:, None]).squeeze(1)
    values = -torch.where(said == 0, smallest, said).log()
    # −log 1 is a negative zero
    values = values + 0.0
    return values if per_sample else values.mean().item()


@overload
def brier(probabilities: Numbers, y: Numbers, *, per_sample: Literal[False] = False) -> float: ...
@overload
def brier(probabilities: Numbers, y: Numbers, *, per_sample: Literal[True]) -> Tensor: ...
def brier(probabilities: Numbers, y: Numbers, *, per_sample: bool = False) -> float | Tensor:
    """Return the Brier score, ``1/N Σ_n Σ_k (p[n, k] − [y_n = k])²``, from 0 to 2.

    Args:
        probabilities: rows that sum to 1.
        y: true class indices.
        per_sample: return each sample's value instead of their mean.

    Shape:
        ``probabilities (N, K)``, ``y (N,)``; per sample ``(N,)``.

    Example:
        >>> brier([[0.5, 0.5], [1.0, 0.0]], [0, 0])
        0.25
    """
    rows, labels = _checked("brier", probabilities, y)
    values = (rows - _one_hot(labels, rows.shape[1])).square().sum(dim=1)
    return values if per_sample else values.mean().item()


def calibration_error(probabilities: Numbers, y: Numbers, bins: int = 15) -> float:
    """Return the expected calibration error (ECE) of the predicted class.

    Samples are sorted by confidence, the largest probability, into bins of equal width, open below and closed
    above: ``Σ_b n_b/N · |accuracy of b − mean confidence of b|``.

    Args:
        probabilities: rows that sum to 1.
        y: true class indices.
        bins: how many.

    Shape:
        ``probabilities (N, K)``, ``y (N,)``.

    Example:
        >>> round(calibration_error([[0.8, 0.2], [0.8, 0.2]], [0, 1]), 4)  # 80 % sure, right in half
        0.3

    Reference:
        Guo and others, "On calibration of modern neural networks", 2017, eq. (3).
    """
    rows, labels = _checked("calibration_error", probabilities, y)
    number = _checks.whole("calibration_error", "bins", bins, low=1)
    predicted = rows.argmax(dim=1, keepdim=True)
    confidence = rows.gather(1, predicted)
    return _gap(confidence, (predicted == labels[:, None]).double(), number).item()


@overload
def class_calibration_error(
    probabilities: Numbers, y: Numbers, bins: int = 15, *, per_class: Literal[False] = False
) -> float: ...
@overload
def class_calibration_error(
    probabilities: Numbers, y: Numbers, bins: int = 15, *, per_class: Literal[True]
) -> Tensor: ...
def class_calibration_error(
    probabilities: Numbers, y: Numbers, bins: int = 15, *, per_class: bool = False
) -> float | Tensor:
    """Return the class-wise calibration error: that of every class's own probability, averaged over classes.

    For class k samples are binned by ``p[n, k]``: ``Σ_b n_b/N · |share of class k in b − mean p_k of b|``. A class
    without samples is named in a warning and counts all the same: any probability it is given is too much.

    Args:
        probabilities: rows that sum to 1.
        y: true class indices.
        bins: how many.
        per_class: return the value of each class instead of their mean.

    Shape:
        ``probabilities (N, K)``, ``y (N,)``; per class ``(K,)``.

    Example:
        >>> class_calibration_error([[0.75, 0.25], [0.75, 0.25]], [0, 1])
        0.25

    Reference:
        Kull and others, "Beyond temperature scaling", 2019, eq. (3).
    """
    rows, labels = _checked("class_calibration_error", probabilities, y)
    number = _checks.whole("class_calibration_error", "bins", bins, low=1)
    _inputs.warn_absent("class_calibration_error", labels, rows.shape[1], "any probability it is given is an error")
    gaps = _gap(rows, _one_hot(labels, rows.shape[1]), number)
    return gaps if per_class else gaps.mean().item()


def _gap(confidence: Tensor, happened: Tensor, bins: int) -> Tensor:
    """Return, per column, the mean distance between what was said and what happened in bins of what was said."""
    edges = torch.linspace(0, 1, bins + 1, dtype=torch.float64)[1:-1]
    place = torch.bucketize(confidence.contiguous(), edges)
    # n_b/N · |mean of b| is |sum of b|/N, so that empty bins need no care
    sums = torch.zeros(bins, confidence.shape[1], dtype=torch.float64).scatter_add_(0, place, happened - confidence)
    return sums.abs().sum(dim=0) / len(confidence)


def _one_hot(labels: Tensor, classes: int) -> Tensor:
    return torch.nn.functional.one_hot(labels, classes).double()


def _checked(owner: str, probabilities: Numbers, y: Numbers) -> tuple[Tensor, Tensor]:
    rows = _inputs.probabilities(owner, "probabilities", probabilities)
    samples, classes = rows.shape
    return rows, _inputs.class_indices(owner, "y", y, samples=samples, classes=classes)

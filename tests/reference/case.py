"""What a numpy reference is given, and the few formulas that all of them share.

A reference is a module ``tests/reference/<registry name>.py`` with

* ``loss(case, frozen) -> float``: the mean loss from the equations, in float64, slow and obvious. Whatever the method
  keeps gradients from (``sg(·)``) is computed from ``frozen``, a second copy that the harness does not vary when it
  differentiates by finite differences;
* ``after(case) -> dict``, running methods only: the buffers after one training batch and ``end_epoch()``;
* ``target(case) -> Array``, where there is one target per class: the T of ``target_matrix()``, from what it holds now.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """One batch and everything the criterion holds, as numpy arrays in float64."""

    output: Array  # (n, D)
    y: Array  # (n, K) probabilities; a row of zeros is an ignored sample
    weight: Array  # (n,) the sample's class weight, 0 where ignored
    extras: dict[str, Array] = field(default_factory=dict)
    state: dict[str, Array] = field(default_factory=dict)  # parameters, buffers and float options by name
    attributes: dict[str, Any] = field(default_factory=dict)  # the criterion's plain attributes (str, int, bool, …)

    def with_value(self, place: tuple[str, str], value: Array) -> "Case":
        """Return the case with one array replaced: ("output", ""), ("extras", name) or ("state", name)."""
        where, name = place
        if where == "output":
            return replace(self, output=value)
        return replace(self, **{where: {**getattr(self, where), name: value}})


def log_softmax(z: Array) -> Array:
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def softmax(z: Array) -> Array:
    return np.exp(log_softmax(z))


def cross_entropy(target: Array, log_p: Array) -> Array:
    """−Σ t log p per row, a class without mass adding nothing."""
    return -np.where(target == 0, 0.0, target * np.where(target == 0, 0.0, log_p)).sum(axis=-1)


def weighted_mean(values: Array, weight: Array) -> float:
    counted = np.where(weight > 0, values, 0.0)  # what has no weight may be infinite
    return float((counted * weight).sum() / weight.sum()) if weight.sum() > 0 else 0.0

"""Isotonic calibration of two classes: any rising curve from scores to probabilities, as the data draw it."""

from collections.abc import Mapping
from typing import ClassVar, Self, cast

import numpy as np
import torch
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.decisions.calibration import like

CLASSES = 2


class Isotonic:
    """The rising curve of least squared error from ``scores[:, 1] − scores[:, 0]`` to the second class's probability.

    Between the points of the curve it is straight, beyond its ends level. Probabilities keep a distance of 1/(N + 2)
    from 0 and 1, N being the samples it was fitted on: what was not seen among so few is not impossible.

    Args:
        points: rising differences of scores, to restore what was fitted before.
        values: the probability of the second class at each.

    Example:
        >>> scores = torch.tensor([[0.0, -2.0], [0.0, -1.0], [0.0, 1.0], [0.0, 2.0]]).repeat(25, 1)
        >>> isotonic = Isotonic().fit(scores, torch.tensor([0, 1, 0, 1]).repeat(25))
        >>> isotonic(torch.tensor([[0.0, 0.3]]))  # both in the middle are right half the time
        tensor([[0.5000, 0.5000]])

    Reference:
        Zadrozny and Elkan, "Transforming classifier scores into accurate multiclass probability estimates", 2002.
    """

    kind: ClassVar[str] = "isotonic"
    classes = CLASSES

    def __init__(self, points: Numbers = (0.0,), values: Numbers = (0.5,)) -> None:
        """Start from a curve, which says nothing of any score if it is not given."""
        self.points = _inputs.vector("Isotonic", "points", points)
        self.values = _inputs.vector("Isotonic", "values", values, length=len(self.points))
        if bool((self.points.diff() <= 0).any()):
            raise _checks.fail("Isotonic", "points", "rising", "some that do not")
        inside = bool((self.values > 0).all()) and bool((self.values < 1).all())
        if not inside or bool((self.values.diff() < 0).any()):
            raise _checks.fail("Isotonic", "values", "rising probabilities between 0 and 1", "others")

    def fit(self, scores: Numbers, y: Numbers) -> Self:
        """Set the curve from held-out scores and their labels, and return itself."""
        from scipy.optimize import isotonic_regression

        owner = "Isotonic.fit"
        logits = _two_columns(owner, scores)
        labels = _inputs.class_indices(owner, "y", y, samples=len(logits), classes=CLASSES)
        if bool((labels == labels[0]).all()):
            got = f"only {int(labels[0])} in {len(labels)} samples"
            raise _checks.fail(owner, "y", "of both classes", got, "A curve needs some of each: fit a Temperature.")
        # equal scores are one point, as heavy as all of them
        points, place, counts = np.unique(_difference(logits).numpy(), return_inverse=True, return_counts=True)
        means = np.bincount(place, weights=labels.numpy()) / counts
        curve = isotonic_regression(means, weights=counts).x
        edge = 1 / (len(labels) + 2)
        values = np.clip(curve, edge, 1 - edge)
        # of a level stretch its two ends say it all
        bends = np.ones(len(values), dtype=bool)
        bends[1:-1] = (values[1:-1] != values[:-2]) | (values[1:-1] != values[2:])
        self.points, self.values = torch.from_numpy(points[bends]), torch.from_numpy(values[bends])
        return self

    def logits(self, scores: Tensor) -> Tensor:
        """Return log-probabilities in float64; tensor operations alone, as ONNX graphs need it."""
        x = _difference(scores.double())
        points, values = self.points.to(x.device), self.values.to(x.device)
        after = (x[:, None] >= points).sum(dim=1)  # how many points lie at x or before it
        low, high = (after - 1).clamp(min=0), after.clamp(max=len(points) - 1)
        span = points[high] - points[low]
        level = span <= 0
        along = torch.where(level, 0.0, (x - points[low]) / torch.where(level, 1.0, span))
        p = values[low] + along * (values[high] - values[low])
        return torch.stack([(1 - p).log(), p.log()], dim=1)

    def apply(self, scores: Numbers) -> Tensor:
        """Return probabilities ``(N, 2)``, in float32 or, for float64 scores, float64."""
        given = _inputs.tensor("Isotonic.apply", "scores", scores)
        return like(self.logits(_two_columns("Isotonic.apply", given)).softmax(dim=1), given)

    def __call__(self, scores: Numbers) -> Tensor:
        """Return probabilities, as ``apply`` does."""
        return self.apply(scores)

    def plain(self) -> dict[str, object]:
        """Return it as plain JSON data."""
        return {"kind": self.kind, "points": self.points.tolist(), "values": self.values.tolist()}

    @classmethod
    def of(cls, facts: Mapping[str, object]) -> Self:
        """Return what ``plain`` wrote."""
        return cls(cast(Numbers, facts["points"]), cast(Numbers, facts["values"]))  # checked by what they are for


def _two_columns(owner: str, scores: Numbers) -> Tensor:
    logits = _inputs.scores(owner, "scores", scores)
    if logits.shape[1] != CLASSES:
        remedy = "Of more classes, VectorScaling is the next after Temperature."
        raise _checks.fail(owner, "scores", "of two classes", f"shape {tuple(logits.shape)}", remedy)
    return logits


def _difference(scores: Tensor) -> Tensor:
    return scores[:, 1] - scores[:, 0]

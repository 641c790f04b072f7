"""Online label smoothing: soft labels from the model's own correct predictions of the last epoch."""

from collections.abc import Mapping
from typing import Unpack, final

import numpy as np
import torch
from torch import Tensor

from labelspace import _room
from labelspace._devices import may_look_at
from labelspace.criteria import divergences, kernels, targets
from labelspace.criteria.base import Common, Criterion, Example, Labels, Share, Term, Tuned
from labelspace.criteria.known import likeliest
from labelspace.criteria.maths import Array
from labelspace.criteria.statistics import Observed, RowSum
from labelspace.space import LabelSpace, kept_mass


@final
class OnlineSmoothing(Criterion):
    """Half cross-entropy, half the mean softmax of the class: ``(1−σ)·H(δ_y, p) + σ·H(S[y], p)``.

    ``S[c]`` is the mean softmax over correctly classified training samples of class c in the last epoch; a class with
    none becomes uniform. Call ``end_epoch()`` after every epoch, or set ``commit_every``.

    Paper says: S starts uniform. Code does: S starts at 0 (CIFAR), so the first epoch is half cross-entropy; the
    fine-grained code starts at 1/K, weighs both terms 1 and freezes a row once its maximum reaches 0.88. We do: as
    the CIFAR code; ``preset="reference-fine"`` is the other, ``"paper"`` starts uniform.

    Args:
        labels: a number of classes, their names, or a LabelSpace, of which the names alone are used.
        smoothing: σ in [0, 1].
        start: what S holds in the first epoch, ``"zero"`` or ``"uniform"``.
        both: weigh both terms 1 instead of 1−σ and σ.
        freeze: a row stops changing once its maximum has reached this value.
        commit_every: commit every so many steps instead of at the end of the epoch.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, K)`` or ``(N, K, d…)``; y class indices ``(N, d…)`` or probabilities like output.

    Example:
        >>> criterion = OnlineSmoothing(3)
        >>> loss = criterion(torch.eye(3, requires_grad=True), torch.tensor([0, 1, 2]))
        >>> criterion.end_epoch()
        >>> criterion.label_matrix[0]
        tensor([0.5761, 0.2119, 0.2119])

    Reference:
        Zhang et al. 2021, "Delving deep into label smoothing", eq. (3)–(6).
    """

    name = "ols"
    display = "OLS"
    smooths = "learning"
    tuned = Tuned("smoothing", "σ", (0.1, 0.3, 0.5, 0.7, 0.9))
    scope = "sample"
    additive = True
    class_axes = {"output": (1,), "label_matrix": (0, 1), "statistics.mass": (0, 1), "statistics.count": (0,)}
    presets = {
        "paper": {"start": "uniform"},
        "reference": {},
        "reference-fine": {"start": "uniform", "both": True, "freeze": 0.88},
    }
    smoothing: Tensor
    freeze: Tensor
    label_matrix: Tensor

    def __init__(
        self,
        labels: Labels,
        *,
        smoothing: float = 0.5,
        start: str | None = None,
        both: bool | None = None,
        freeze: float | None = None,
        commit_every: int | None = None,
        **common: Unpack[Common],
    ) -> None:
        """Start the label matrix and its statistics."""
        count = self.count_classes(labels)
        _room.check_state(type(self).__name__, count, tables=2)
        super().__init__(
            labels,
            **common,
            commit_every=commit_every,
            sums={"mass": (count, count), "count": (count,), "seen": ()},
        )
        given = {"start": start, "both": both, "freeze": freeze}
        chosen = self.resolved(common.get("preset"), {"start": "zero", "both": False, "freeze": 2.0}, given)
        self.start = self.choose("start", chosen["start"], ["zero", "uniform"])
        self.both = bool(chosen["both"])
        self.option("smoothing", smoothing, low=0, high=1)
        self.option("freeze", chosen["freeze"], low=0)
        self._rows = targets.TargetRows()
        value = 0.0 if self.start == "zero" else 1 / count
        self.register_buffer("label_matrix", torch.full((count, count), value))

    def terms(self, output: Tensor, y: Tensor) -> list[Term]:
        """Return ``H((1−σ)·δ_y + σ·S[y], p)``."""
        own, spread = (1.0, 1.0) if self.both else (1 - self.smoothing, self.smoothing)
        soft = targets.rows(self.label_matrix.to(output.dtype), y)
        target = own * targets.membership(y, len(self.names), output.dtype) + spread * soft
        return [Term(divergences.soft_cross_entropy(output, target))]

    def summed(self, output: Tensor, y: Tensor, share: Share) -> Tensor | None:
        """Return the same by a kernel; mixed labels have none."""
        if targets.is_soft(y):
            return None
        sigma, matrix = self.value("smoothing"), self._buffers["label_matrix"]
        assert matrix is not None
        own, spread = (1.0, 1.0) if self.both else (1 - sigma, sigma)
        return kernels.smoothed_cross_entropy(output, y, own, spread, matrix, self._rows, share)

    def observe(self, output: Tensor, y: Tensor) -> Observed:
        """Return the summed softmax and the number of correctly classified samples of each class."""
        label = targets.hard(y)
        if may_look_at(output):
            return _of_right(output, label.numpy())
        seen = (label >= 0).sum().to(output.dtype)
        right = (output.argmax(dim=-1) == label).to(output.dtype)
        row = label.clamp_min(0)
        mass = RowSum(row, torch.softmax(output, dim=-1) * right.unsqueeze(1))
        return {"mass": mass, "count": RowSum(row, right), "seen": seen}

    def commit(self, gathered: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the mean softmax per class."""
        count = gathered["count"].unsqueeze(1)
        mean = torch.where(count > 0, gathered["mass"] / count.clamp_min(1), 1 / len(self.names))
        frozen = self.label_matrix.amax(dim=1, keepdim=True) >= self.freeze
        # after an epoch without training the labels stay as they are
        keep = frozen | (gathered["seen"] == 0)
        return {"label_matrix": torch.where(keep, self.label_matrix.to(mean.dtype), mean)}

    def label_space(self) -> LabelSpace:
        """Return S as relations; before the first commit every class keeps its mass."""
        matrix = kept_mass(self.label_matrix.detach().cpu().double())
        untouched = self.label_matrix == (0.0 if self.start == "zero" else 1 / len(self.names))
        source = {"builder": "ols", "smoothing": float(self.smoothing), **targets.first_seen(untouched)}
        return LabelSpace(self.names, matrix, "relations", source)

    def target_matrix(self) -> Tensor:
        """Return the target of both terms, ``(1−σ)·I + σ·S`` or ``I + S``, its rows divided by their sum."""
        target = self.smoothed_identity(0.5 if self.both else self.smoothing, self.label_matrix)
        return kept_mass(target)

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes and eight samples, most of them classified correctly."""
        generator = torch.Generator().manual_seed(0)
        y = torch.tensor([0, 1, 2, 3, 1, 2, 0, 3])
        output = torch.randn(8, 4, generator=generator) + 1.5 * torch.nn.functional.one_hot(y, 4)
        criterion = cls(["a", "b", "c", "d"])
        criterion.label_matrix = torch.softmax(torch.randn(4, 4, generator=generator), dim=1)
        return Example(criterion, output, y, {})


def _of_right(output: Tensor, classes: Array) -> Observed:
    """Return the statistics where values may be looked at: softmax is computed of those that are right alone."""
    places = (likeliest(output) == classes).nonzero()[0]
    # by torch, to the bits that other devices have
    mass = output.index_select(0, torch.from_numpy(places)).softmax(dim=1)
    row = torch.from_numpy(classes[places])
    count = RowSum(row, mass.new_ones(len(row)))
    return {"mass": RowSum(row, mass), "count": count, "seen": float(np.count_nonzero(classes >= 0))}

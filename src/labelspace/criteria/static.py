"""Static labels: regress to one fixed vector per class, predict the nearest."""

from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.criteria import divergences, targets
from labelspace.criteria.base import Criterion, Example, Reduction, Term
from labelspace.space import LabelSpace


@final
class StaticLabels(Criterion):
    """Regression to the rows of a label space: ``mean_d huber(z_d − V[y]_d)``, predicting the nearest row.

    Scores are ``−‖z − V_c‖``. The other losses are ``"mse"``, ``mean_d (z_d − V[y]_d)²``, and ``"cosine"``,
    ``1 − cos(z, V[y])``, whose scores compare directions only. Probabilities in ``y`` mix rows: the target is
    ``y @ V``. The output has as many numbers as a row, not one per class: see ``output_dim``.

    Paper says: Huber loss, nearest label. Code does: smooth L1 with its corner at 1, the mean over dimensions; the
    nearest label by squared distance. We do: the same. Where all errors stay below 1, as with unit vectors, the
    Huber loss is half the ``"mse"``.

    Args:
        labels: a LabelSpace. Vectors and relations are regressed to row by row; a cost becomes relations first.
        loss: ``"huber"`` (default), ``"mse"`` or ``"cosine"``.
        weight, ignore_index, reduction, class_dim, preset, global_mean: as in every criterion, see ``Criterion``.

    Shape:
        output ``(N, D)`` or ``(N, D, d…)``; y class indices ``(N, d…)`` or probabilities ``(N, K, d…)``.

    Example:
        >>> space = LabelSpace(("cat", "dog"), torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), "vectors")
        >>> criterion = StaticLabels(space)
        >>> output = torch.tensor([[0.2, 0.0, 3.0]])
        >>> criterion(output, torch.tensor([0]))  # (0.2²/2 + 0 + (2 − ½)) / 3
        tensor(0.5067)
        >>> criterion.predict(output)
        tensor([0])

    Reference:
        Chen et al. 2021, "Beyond categorical label representations for image classification"; "StaticLabel" in
        Yu and Verma, "Improving model training via self-learned label representations".
    """

    name = "static"
    scope = "sample"
    piecewise = True
    class_axes = {"label_matrix": (0,)}
    presets = {"paper": {}, "reference": {}}
    label_matrix: Tensor

    def __init__(
        self,
        labels: LabelSpace,
        *,
        loss: str | None = None,
        weight: Tensor | Sequence[float] | None = None,
        ignore_index: int = -100,
        reduction: Reduction = "mean",
        class_dim: int = 1,
        preset: str | None = None,
        global_mean: bool = True,
    ) -> None:
        """Keep the rows as a buffer."""
        space = self.needs_space(labels)
        space = space.relations() if space.kind == "cost" else space
        super().__init__(
            space,
            weight=weight,
            ignore_index=ignore_index,
            reduction=reduction,
            class_dim=class_dim,
            preset=preset,
            global_mean=global_mean,
            width=space.matrix.shape[1],
        )
        chosen = self.resolved(preset, {"loss": "huber"}, {"loss": loss})
        self.loss = str(self.choose("loss", chosen["loss"], ["huber", "mse", "cosine"]))
        self.kind = space.kind
        self.source = space.source
        self.register_buffer("label_matrix", _distinct(space).clone())

    def terms(self, output: Tensor, y: Tensor) -> list[Term]:
        """Return the regression loss, per dimension on average."""
        target = targets.rows(self.label_matrix.to(output.dtype), y)
        if self.loss == "cosine":
            return [Term(1 - (_unit(output) * _unit(target)).sum(dim=-1))]
        if self.loss == "mse":
            return [Term((output - target).square().mean(dim=-1))]
        return [Term(_huber(output - target).mean(dim=-1))]

    def row_scores(self, output: Tensor) -> Tensor:
        """Return minus the distance to every row."""
        matrix = self.label_matrix.to(output.dtype)
        if self.loss == "cosine":
            # distance between unit vectors falls as their cosine grows: ‖u − v‖² = 2 − 2·cos
            return -divergences.euclidean(_unit(output), _unit(matrix))
        return -divergences.euclidean(output, matrix)

    def label_space(self) -> LabelSpace:
        """Return the rows it regresses to; vectors are compared as they predict, by Euclidean distance or cosine."""
        compared = {"metric": "cosine" if self.loss == "cosine" else "euclidean"} if self.kind == "vectors" else {}
        return LabelSpace(self.names, self.label_matrix.cpu(), self.kind, {**self.source, **compared})

    def target_matrix(self) -> Tensor:
        """Return the rows it regresses to, ``(K, D)``."""
        return self.label_matrix.cpu().double()

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes in five dimensions and six samples, with errors on both sides of 1."""
        generator = torch.Generator().manual_seed(0)
        space = LabelSpace(("a", "b", "c", "d"), torch.randn(4, 5, generator=generator), "vectors")
        output = torch.randn(6, 5, generator=generator)
        return Example(cls(space), output, torch.tensor([0, 1, 2, 3, 1, 2]), {})


def _huber(error: Tensor) -> Tensor:
    size = error.abs()
    return torch.where(size < 1, 0.5 * error.square(), size - 0.5)


def _unit(rows: Tensor) -> Tensor:
    """Return rows of length 1; a row of zeros stays as it is, with a gradient of 1 instead of none at all."""
    squared = rows.square().sum(dim=-1, keepdim=True)
    return rows / torch.where(squared > 0, squared, 1).sqrt()


def _distinct(space: LabelSpace) -> Tensor:
    """Return the matrix of a space in which no two classes share a row: nothing could tell them apart."""
    owners: dict[tuple[float, ...], str] = {}
    for name, row in zip(space.names, space.matrix.tolist(), strict=True):
        other = owners.setdefault(tuple(row), name)
        if other != name:
            got = f"the same row for {other!r} and {name!r}"
            raise _checks.fail("StaticLabels", "labels", "a LabelSpace whose rows differ", got, "Merge the classes.")
    return space.matrix

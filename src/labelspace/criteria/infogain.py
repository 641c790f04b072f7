"""Infogain loss: any matrix that says how much each class counts for each label."""

from collections.abc import Mapping, Sequence
from typing import Unpack, final

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.criteria import divergences, targets
from labelspace.criteria.base import Common, Criterion, Example, Term, Tuned
from labelspace.criteria.penalties import off_diagonal
from labelspace.space import LabelSpace


def infogain_loss(output: Tensor, y: Tensor, matrix: Tensor) -> Tensor:
    """Return ``−Σ_i H[i, y]·log p_i`` per sample for any matrix H, eq. (1): mixed cross-entropy without the simplex."""
    return divergences.soft_cross_entropy(output, targets.rows(matrix.T, y))


@final
class Infogain(Criterion):
    """Cross-entropy weighed by a matrix H without the simplex rule: ``−Σ_i H[i, y]·log p_i``.

    Column y of H is what a sample of class y is held to: the first index is the class that the model speaks of, the
    second the label. H = I is one-hot; ``diag(min(n)/n)`` for class sizes n counts every class alike; columns need not
    sum to 1, and one with a larger sum counts for more. A LabelSpace gives the H that does keep to the simplex,
    ``H = ((1−σ)·I + σ·A)ᵀ``: the loss of ``semantic`` and of ``mixed``.

    Paper says: the loss, eq. (1), of the Caffe framework, mostly with a diagonal H. Code: none was published. We do:
    that, entries not negative; the mean is over samples (or class weights), not over the mass of H.

    Args:
        labels: a LabelSpace; beside a matrix also class names or their number.
        matrix: H, ``(K, K)`` numbers of at least 0, in place of what the LabelSpace says. On the command line
            ``--option "matrix=[[1, 0.2], [0, 3]]"``.
        smoothing: σ in [0, 1], the mass that leaves the class; a matrix is taken as it is.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, K)`` or ``(N, K, d…)``; y class indices ``(N, d…)`` or probabilities like output.

    Example:
        >>> criterion = Infogain(["rare", "common"], matrix=[[3.0, 0.1], [0.0, 1.0]])
        >>> criterion(torch.zeros(2, 2), torch.tensor([0, 1]))  # (3·log 2 + 1.1·log 2)/2
        tensor(1.4210)

    Reference:
        Negi, Chen et al., "Leveraging class similarity to improve deep neural network robustness", eq. (1).
    """

    name = "infogain"
    requires_space = True  # unless a matrix takes its place
    invertible = True
    tuned = Tuned("smoothing", "σ", (0.1, 0.2, 0.3, 0.5, 0.7), idle_with=("matrix",))
    scope = "sample"
    class_axes = {"output": (1,), "relations": (0, 1), "matrix": (0, 1)}
    smoothing: Tensor
    relations: Tensor | None
    matrix: Tensor | None

    def __init__(
        self,
        labels: LabelSpace,
        *,
        matrix: Tensor | Sequence[Sequence[float]] | None = None,
        smoothing: float = 0.1,
        **common: Unpack[Common],
    ) -> None:
        """Keep the matrix, or the relations that it is made of."""
        super().__init__(self.needs_space(labels) if matrix is None else labels, **common)
        self.option("smoothing", smoothing, low=0, high=1)
        relations = labels.relations() if matrix is None else None
        self.source = {"builder": "infogain"} if relations is None else relations.source
        self.hops = None if relations is None else relations.hops
        self.constant("relations", None if relations is None else relations.matrix.clone())
        self.constant("matrix", None if matrix is None else self._checked(matrix))

    def _checked(self, matrix: Tensor | Sequence[Sequence[float]]) -> Tensor:
        owner = type(self).__name__
        found = _checks.matrix(owner, "matrix", matrix, rows=len(self.names), square=True)
        if bool((found < 0).any()):
            row, column = (found < 0).nonzero()[0].tolist()
            got = f"{found[row, column].item():g} at row {row}, column {column}"
            raise _checks.fail(owner, "matrix", "not negative: less than nothing has no optimum", got)
        return found.float()

    def terms(self, output: Tensor, y: Tensor) -> list[Term]:
        """Return ``−Σ_i H[i, y]·log p_i``."""
        if self.matrix is not None:
            return [Term(infogain_loss(output, y, self.matrix.to(output.dtype)))]
        assert self.relations is not None
        target = targets.smoothed(self.relations.to(output.dtype), y, self.smoothing)
        return [Term(divergences.soft_cross_entropy(output, target))]

    def label_space(self) -> LabelSpace:
        """Return the relations it was built from; of a matrix, how each column spreads over the other classes."""
        if self.relations is not None:
            return LabelSpace(self.names, self.relations.cpu(), "relations", self.source, self.hops)
        assert self.matrix is not None
        spread = off_diagonal(self.matrix.detach().cpu().double().T)
        # a class that gives nothing to others keeps its mass
        spread = spread + (spread.sum(dim=1) == 0).double().diag()
        return LabelSpace(self.names, spread / spread.sum(dim=1, keepdim=True), "relations", self.source)

    def target_matrix(self) -> Tensor:
        """Return the columns of H as rows that sum to 1; one without any mass is its class."""
        if self.relations is not None:
            return self.smoothed_identity(self.smoothing, self.relations)
        assert self.matrix is not None
        columns = self.matrix.detach().cpu().double().T
        total = columns.sum(dim=1, keepdim=True)
        return torch.where(total > 0, columns / total.clamp_min(1e-300), torch.eye(len(self.names)).double())

    @classmethod
    def looks_at_space(cls, options: Mapping[str, object]) -> bool:
        """Return whether no matrix takes the place of a space."""
        return options.get("matrix") is None

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes with a matrix whose columns sum to what they like, and six samples."""
        matrix = [[1.5, 0.2, 0.0, 0.0], [0.4, 0.8, 0.1, 0.0], [0.0, 0.3, 2.0, 0.7], [0.1, 0.0, 0.0, 0.25]]
        space = LabelSpace(("a", "b", "c", "d"), torch.eye(4), "relations")
        output = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))
        return Example(cls(space, matrix=matrix), output, torch.tensor([0, 1, 2, 3, 1, 2]), {})

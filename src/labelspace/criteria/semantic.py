"""Semantic target smoothing: mass goes to the classes that are related."""

from typing import Unpack, final

import torch
from torch import Tensor

from labelspace.compressed import fits
from labelspace.criteria import divergences, kernels, targets
from labelspace.criteria.base import Common, Criterion, Example, Share, Term, Tuned
from labelspace.criteria.maths import RowMaker
from labelspace.space import LabelSpace


@final
class SemanticSmoothing(Criterion):
    """Cross-entropy with mass spread by a label space: ``T = (1−σ)·I + σ·A``, loss ``H(T[y], p)``.

    σ = 0 is one-hot exactly. Paper says, code does, we do: the same thing.

    Args:
        labels: a LabelSpace; vectors and costs are turned into relations. A compressed one of more than 8,192 classes
            stays so.
        smoothing: σ in [0, 1], the mass that leaves the class.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, K)`` or ``(N, K, d…)``; y class indices ``(N, d…)`` or probabilities like output.

    Example:
        >>> from labelspace import ordinal
        >>> criterion = SemanticSmoothing(ordinal(["low", "mid", "high"]), smoothing=0.3)
        >>> criterion(torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([0]))
        tensor(0.8076)

    Reference:
        "Embedding semantic relationships in hidden representations via label smoothing",
        eq. (1)–(4).
    """

    name = "semantic"
    requires_space = True
    invertible = True
    tuned = Tuned("smoothing", "σ", (0.1, 0.2, 0.3, 0.5, 0.7))
    scope = "sample"
    class_axes = {"output": (1,), "relations": (0, 1)}
    smoothing: Tensor
    relations: Tensor

    def __init__(
        self,
        labels: LabelSpace,
        *,
        smoothing: float = 0.1,
        **common: Unpack[Common],
    ) -> None:
        """Keep the relations as a buffer."""
        space = self.needs_space(labels)
        super().__init__(space, **common)
        self.option("smoothing", smoothing, low=0, high=1)
        known = space.relations()
        self.source, self.hops = known.source, known.hops
        # of many classes the rule alone is kept, which is no part of the state: it comes with the space
        self.rule = None if fits(len(space)) else known.rule
        self.constant("relations", known.matrix.clone() if self.rule is None else None)
        self._rows = targets.TargetRows()

    def terms(self, output: Tensor, y: Tensor) -> list[Term]:
        """Return ``H(T[y], p)``."""
        if self.rule is None:
            target = targets.smoothed(self.relations.to(output.dtype), y, self.smoothing)
        else:
            rule = self.rule.on(output.device)
            spread = rule.mixed(y) if targets.is_soft(y) else rule.rows(y.clamp_min(0)).to(output.dtype)
            target = self.smoothing * spread + (1 - self.smoothing) * targets.membership(y, len(rule), spread.dtype)
        return [Term(divergences.soft_cross_entropy(output, target))]

    def summed(self, output: Tensor, y: Tensor, share: Share) -> Tensor | None:
        """Return the same by a kernel; a rule makes its rows anew for every batch."""
        sigma, relations, soft = self.value("smoothing"), self._buffers["relations"], targets.is_soft(y)
        if soft and (y.requires_grad or relations is None):
            return None
        if sigma == 0:
            return kernels.cross_entropy(output, y, share)  # one-hot labels, to the last bit
        if relations is None:
            return kernels.mixed_cross_entropy(output, y, self._made(y, output.dtype), share, 1 - sigma, sigma)
        if soft:
            whole = targets.smoothed(relations.to(output.dtype), y, self.smoothing)
            return kernels.soft_cross_entropy(output, whole, share)
        return kernels.smoothed_cross_entropy(output, y, 1 - sigma, sigma, relations, self._rows, share)

    def _made(self, y: Tensor, dtype: torch.dtype) -> RowMaker:
        rule = self.rule
        assert rule is not None
        return lambda part: rule.rows(y[part]).to(dtype)

    def label_space(self) -> LabelSpace:
        """Return the relations it was built from."""
        held = self.relations.cpu() if self.rule is None else self.rule
        return LabelSpace(self.names, held, "relations", self.source, self.hops)

    def target_matrix(self) -> Tensor | None:
        """Return ``(1−σ)·I + σ·A``; None for a compressed space of many classes."""
        if self.rule is not None:
            return None
        return self.smoothed_identity(self.smoothing, self.relations)

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes in a chain of groups and six samples."""
        matrix = torch.tensor([[0, 1, 0, 0], [0.5, 0, 0.5, 0], [0, 0.75, 0, 0.25], [0, 0, 1, 0]])
        space = LabelSpace(("a", "b", "c", "d"), matrix, "relations")
        generator = torch.Generator().manual_seed(0)
        output = torch.randn(6, 4, generator=generator)
        return Example(cls(space, smoothing=0.3), output, torch.tensor([0, 1, 2, 3, 1, 2]), {})

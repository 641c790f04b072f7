"""Confidence penalty: cross-entropy that rewards an uncertain output."""

from typing import Unpack, final

import torch
from torch import Tensor

from labelspace.criteria import kernels, targets
from labelspace.criteria.base import Common, Criterion, Example, Labels, Share, Term, Tuned
from labelspace.sources.matrices import even
from labelspace.space import LabelSpace


@final
class ConfidencePenalty(Criterion):
    """Cross-entropy minus the entropy of the prediction: ``H(δ_y, p) − β·H(p)``, ``H(p) = −Σ_k p_k log p_k``.

    β = 0 is cross-entropy. The loss can be negative: its floor is not 0.

    Paper says: this, and as variants a β that grows and a penalty only below an entropy threshold. Code does: none
    known to us. We do: the plain form.

    Args:
        labels: a number of classes, their names, or a LabelSpace, of which the names alone are used.
        strength: β, at least 0.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, K)`` or ``(N, K, d…)``; y class indices ``(N, d…)`` or probabilities like output.

    Example:
        >>> ConfidencePenalty(2, strength=0.5)(torch.zeros(1, 2), torch.tensor([0]))  # log 2 − ½·log 2
        tensor(0.3466)

    Reference:
        Pereyra et al. 2017, "Regularizing neural networks by penalizing confident output distributions", section 3.
    """

    name = "maxent"
    tuned = Tuned("strength", "β", (0.05, 0.1, 0.2, 0.5, 1.0))
    scope = "sample"
    class_axes = {"output": (1,)}
    strength: Tensor

    def __init__(
        self,
        labels: Labels,
        *,
        strength: float = 0.1,
        **common: Unpack[Common],
    ) -> None:
        """Check and keep the strength."""
        super().__init__(labels, **common)
        self.option("strength", strength, low=0)

    def terms(self, output: Tensor, y: Tensor) -> list[Term]:
        """Return ``−log p_y + β·Σ_k p_k log p_k``."""
        log_p = torch.log_softmax(output, dim=-1)
        p = log_p.exp()
        # p·log p tends to 0 where p does; there log p may be −inf
        negative_entropy = (p * torch.where(p == 0, 0, log_p)).sum(dim=-1)
        return [Term(-targets.pick(log_p, y) + self.strength * negative_entropy)]

    def summed(self, output: Tensor, y: Tensor, share: Share) -> Tensor | None:
        """Return the same by a kernel; mixed labels have none."""
        if targets.is_soft(y):
            return None
        strength = self.value("strength")
        return kernels.confident(output, y, strength, share, lambda output: self.terms(output, y)[0].values)

    def label_space(self) -> LabelSpace:
        """Return relations in which every class keeps its mass."""
        return even(self.names, {"builder": "maxent"}, own=1.0)

    def target_matrix(self) -> Tensor:
        """Return the identity: labels are one-hot."""
        return torch.eye(len(self.names), dtype=torch.float64)

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes and six samples."""
        generator = torch.Generator().manual_seed(0)
        output = torch.randn(6, 4, generator=generator)
        return Example(cls(["a", "b", "c", "d"], strength=0.3), output, torch.tensor([0, 1, 2, 3, 1, 2]), {})

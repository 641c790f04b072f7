"""One-hot labels: plain cross-entropy, the baseline of everything."""

from typing import Unpack, final

import torch
from torch import Tensor

from labelspace.criteria import kernels, targets
from labelspace.criteria.base import Common, Criterion, Example, Labels, Share, Term
from labelspace.sources.matrices import even
from labelspace.space import LabelSpace


@final
class OneHot(Criterion):
    """Cross-entropy with one-hot labels, ``T = I``: ``H(δ_y, p) = −log p_y``.

    Paper says, code does, we do: the same thing.

    Args:
        labels: a number of classes, their names, or a LabelSpace, of which the names alone are used.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, K)`` or ``(N, K, d…)``; y class indices ``(N, d…)`` or probabilities like output.

    Example:
        >>> OneHot(3)(torch.zeros(1, 3), torch.tensor([0]))
        tensor(1.0986)
    """

    name = "onehot"
    display = "one-hot"
    scope = "sample"
    class_axes = {"output": (1,)}

    def __init__(self, labels: Labels, **common: Unpack[Common]) -> None:
        """Keep the common options; there are no others."""
        super().__init__(labels, **common)

    def terms(self, output: Tensor, y: Tensor) -> list[Term]:
        """Return ``−log p_y``."""
        return [Term(-targets.pick(torch.log_softmax(output, dim=-1), y))]

    def summed(self, output: Tensor, y: Tensor, share: Share) -> Tensor:
        """Return torch's own, in one go."""
        return kernels.cross_entropy(output, y, share)

    def label_space(self) -> LabelSpace:
        """Return relations in which every class keeps its mass."""
        return even(self.names, {"builder": "onehot"}, own=1.0)

    def target_matrix(self) -> Tensor:
        """Return the identity: labels are one-hot."""
        return torch.eye(len(self.names), dtype=torch.float64)

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes and six samples."""
        generator = torch.Generator().manual_seed(0)
        output = torch.randn(6, 4, generator=generator)
        return Example(cls(["a", "b", "c", "d"]), output, torch.tensor([0, 1, 2, 3, 1, 2]), {})

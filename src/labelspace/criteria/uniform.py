"""Uniform label smoothing, the rival everyone knows."""

from typing import Unpack, final

import torch
from torch import Tensor

from labelspace.criteria import kernels, targets
from labelspace.criteria.base import Common, Criterion, Example, Labels, Share, Term, Tuned
from labelspace.sources.matrices import even
from labelspace.space import LabelSpace


@final
class UniformSmoothing(Criterion):
    """Cross-entropy with mass spread evenly over all classes: ``T = (1−ε)·I + ε/K``.

    Equals ``torch.nn.functional.cross_entropy(label_smoothing=ε)`` for unweighted classes and for weighted hard labels
    without smoothing. With class weights *and* smoothing torch weighs each entry of the soft target by its own
    class, so the weights leak into the smoothing mass; here a weight only ever scales a sample's loss.

    Paper says, code does, we do: the same thing.

    Args:
        labels: a number of classes, their names, or a LabelSpace, of which the names alone are used.
        smoothing: ε in [0, 1], the mass given to all classes together.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, K)`` or ``(N, K, d…)``; y class indices ``(N, d…)`` or probabilities like output.

    Example:
        >>> UniformSmoothing(3, smoothing=0.3)(torch.tensor([[9.0, 0.0, 0.0]]), torch.tensor([0]))
        tensor(1.8002)

    Reference:
        Szegedy et al. 2016, section 7.
    """

    name = "uniform"
    invertible = True
    smooths = "blindly"
    tuned = Tuned("smoothing", "σ", (0.05, 0.1, 0.2, 0.3, 0.5))
    scope = "sample"
    class_axes = {"output": (1,)}
    smoothing: Tensor

    def __init__(
        self,
        labels: Labels,
        *,
        smoothing: float = 0.1,
        **common: Unpack[Common],
    ) -> None:
        """Check and keep the smoothing."""
        super().__init__(labels, **common)
        self.option("smoothing", smoothing, low=0, high=1)
        self._rows = targets.TargetRows()

    def terms(self, output: Tensor, y: Tensor) -> list[Term]:
        """Return ``−(1−ε)·log p_y − (ε/K)·Σ_j log p_j``."""
        log_p = torch.log_softmax(output, dim=-1)
        own = -targets.pick(log_p, y)
        spread = -log_p.sum(dim=-1)
        # at ε = 0 an infinite sum must not turn into 0·∞
        spread = torch.where(self.smoothing == 0, torch.zeros_like(spread), spread)
        return [Term((1 - self.smoothing) * own + (self.smoothing / len(self.names)) * spread)]

    def summed(self, output: Tensor, y: Tensor, share: Share) -> Tensor | None:
        """Return the same by a kernel; mixed labels have none."""
        if targets.is_soft(y):
            return None
        epsilon, count = self.value("smoothing"), len(self.names)
        careful = lambda output: self.terms(output, y)[0].values  # noqa: E731
        other = epsilon / count
        return kernels.even_cross_entropy(output, y, 1 - epsilon + other, other, share, careful, self._rows)

    def label_space(self) -> LabelSpace:
        """Return relations of ``1/K``, the diagonal included, so that ``targets(ε)`` is the T of this loss."""
        source = {"builder": "uniform", "smoothing": float(self.smoothing)}
        return even(self.names, source, own=1 / len(self.names))

    def target_matrix(self) -> Tensor:
        """Return ``(1−ε)·I + ε/K``."""
        count = len(self.names)
        return self.smoothed_identity(self.smoothing, torch.full((count, count), 1 / count, dtype=torch.float64))

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes and six samples."""
        generator = torch.Generator().manual_seed(0)
        output = torch.randn(6, 4, generator=generator)
        return Example(cls(["a", "b", "c", "d"], smoothing=0.2), output, torch.tensor([0, 1, 2, 3, 1, 2]), {})

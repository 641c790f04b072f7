"""Knowledge distillation: another model's outputs as soft labels."""

from typing import Unpack, final

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.criteria import divergences, targets
from labelspace.criteria.base import Common, Criterion, Example, Labels, Term
from labelspace.sources.matrices import even
from labelspace.space import LabelSpace


@final
class Distillation(Criterion):
    """Cross-entropy with a teacher's softened outputs: ``β·H(δ_y, p) + (1−β)·τ²·H(softmax(t/τ), softmax(z/τ))``.

    By default (``hard=0``) **nothing is learned from the true labels**: ``y`` says which samples count, and by class
    how much. ``hard=0.3`` gives them a share. The teacher's logits ``t`` come with every call, for the same samples;
    they are constants, whatever made them. A copy of the trained model as teacher is the self-training form of
    teacher-free distillation.

    Paper says: multiply the soft term by τ², so that its gradient keeps its size as τ changes. Code does: none was
    published with it. We do: as the paper; ``scale=False`` leaves τ² out. The cross-entropy is used, not the
    divergence: they differ by the teacher's entropy, which has no gradient.

    Args:
        labels: a number of classes, their names, or a LabelSpace, of which the names alone are used.
        temperature: τ > 0, for the teacher and the model alike.
        hard: β in [0, 1], the share of the true label; 0, the default, learns from the teacher alone.
        scale: multiply the soft term by τ².
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, K)`` or ``(N, K, d…)``; y class indices ``(N, d…)`` or probabilities like output; teacher like
        output.

    Example:
        >>> criterion = Distillation(3, temperature=2.0)
        >>> criterion(torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([0]), teacher=torch.tensor([[4.0, 0.0, 0.0]]))
        tensor(3.3601)

    Reference:
        Hinton et al. 2015, "Distilling the knowledge in a neural network", section 2.
    """

    name = "kd"
    scope = "sample"
    class_axes = {"output": (1,), "teacher": (1,)}
    needs = ("teacher",)
    stops_gradient = True
    temperature: Tensor
    hard: Tensor

    def __init__(
        self,
        labels: Labels,
        *,
        temperature: float = 1.0,
        hard: float = 0.0,
        scale: bool = True,
        **common: Unpack[Common],
    ) -> None:
        """Check and keep the options."""
        super().__init__(labels, **common)
        self.scale = bool(scale)
        self.option("temperature", temperature, low=0, open_low=True)
        self.option("hard", hard, low=0, high=1)

    def terms(self, output: Tensor, y: Tensor, *, teacher: Tensor) -> list[Term]:  # type: ignore[override]
        """Return both cross-entropies; the shares are in the targets, so that a share of 0 meets no infinity."""
        if teacher.shape != output.shape:
            remedy = "Give the teacher's logits over the same classes, not its predictions."
            expected = f"logits for {len(self.names)} classes, in the layout of `output`"
            got = f"{teacher.shape[-1]} columns"
            raise _checks.fail(type(self).__name__, "teacher", expected, got, remedy)
        soft = torch.softmax(teacher.detach() / self.temperature, dim=-1).to(output.dtype)
        share = (1 - self.hard) * (self.temperature.square() if self.scale else 1)
        own = divergences.soft_cross_entropy(output, self.hard * targets.membership(y, len(self.names), output.dtype))
        return [Term(own + divergences.soft_cross_entropy(output / self.temperature, share * soft))]

    def label_space(self) -> LabelSpace:
        """Return relations in which every class keeps its mass: what is soft is the teacher's, sample by sample."""
        return even(self.names, {"builder": "kd"}, own=1.0)

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes and six samples; the teacher rules one class out for one of them."""
        generator = torch.Generator().manual_seed(0)
        output = torch.randn(6, 4, generator=generator)
        teacher = 2 * torch.randn(6, 4, generator=generator)
        teacher[0, 3] = -4000
        criterion = cls(["a", "b", "c", "d"], temperature=2.0, hard=0.3)
        return Example(criterion, output, torch.tensor([0, 1, 2, 3, 1, 2]), {"teacher": teacher})

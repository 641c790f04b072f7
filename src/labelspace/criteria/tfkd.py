"""Teacher-free distillation, its regularising form: a teacher made by hand instead of trained."""

import math
from typing import Unpack, final

import torch
from torch import Tensor

from labelspace.criteria import divergences, kernels, targets
from labelspace.criteria.base import Common, Criterion, Example, Labels, Share, Term, Tuned
from labelspace.sources.matrices import even
from labelspace.space import LabelSpace


@final
class VirtualTeacher(Criterion):
    """Cross-entropy and a divergence from a virtual teacher: ``(1−α)·H(δ_y, p) + α·m·KL(softmax(u_y/τ) ‖ p)``.

    The teacher ``u_y`` holds ``confidence`` at the class and spreads the rest evenly. Its probabilities are fed through
    a softmax as if they were logits, so it is uniform to within 10 / 5 / 2.5 % at τ = 10 / 20 / 40: with m = 1 this is
    very nearly uniform smoothing by α, less a constant (the teacher's entropy). Soft targets mix the teachers of their
    classes.

    Paper says: the mean over samples; eq. (9) prints p softened by τ as well, which divides the gradient by τ.
    Code does: averages the divergence over samples *and classes*, hence its multiplier m = 100 for the 100 classes of
    CIFAR-100, where the two are the same; p is not softened. We do: the mean over samples with m = 1, so that α means
    the same for any K, and p as in the code; ``preset="reference"`` is the code.

    Args:
        labels: a number of classes, their names, or a LabelSpace, of which the names alone are used.
        strength: α in [0, 1], the share of the teacher; at 0 this is cross-entropy.
        confidence: what the teacher holds at the true class, from 1/K to 1.
        temperature: τ > 0.
        multiplier: m, a factor of the divergence: 1, or 100 in preset ``"reference"``.
        average: divide the divergence by the number of ``"samples"``, or of samples times ``"classes"``.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, K)`` or ``(N, K, d…)``; y class indices ``(N, d…)`` or probabilities like output.

    Example:
        >>> VirtualTeacher(3, strength=0.3, temperature=2.0)(torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([0]))
        tensor(0.3343)

    Reference:
        Yuan et al. 2020, "Revisiting knowledge distillation via label smoothing regularization", eq. (8)–(9).
    """

    name = "tfkd"
    tuned = Tuned("strength", "α", (0.1, 0.3, 0.5, 0.7, 0.9))
    scope = "sample"
    class_axes = {"output": (1,)}
    presets = {
        "paper": {"multiplier": 1.0, "average": "samples"},
        "reference": {"multiplier": 100.0, "average": "classes"},
    }
    strength: Tensor
    confidence: Tensor
    temperature: Tensor
    multiplier: Tensor

    def __init__(
        self,
        labels: Labels,
        *,
        strength: float = 0.1,
        confidence: float = 0.99,
        temperature: float = 20.0,
        multiplier: float | None = None,
        average: str | None = None,
        **common: Unpack[Common],
    ) -> None:
        """Check and keep the options; the teacher is computed from them."""
        super().__init__(labels, **common)
        given = {"multiplier": multiplier, "average": average}
        chosen = self.resolved(common.get("preset"), {"multiplier": 1.0, "average": "samples"}, given)
        self.average = self.choose("average", chosen["average"], ["samples", "classes"])
        self.option("strength", strength, low=0, high=1)
        # a teacher less sure than chance would teach the wrong class; one class alone has no chance to speak of
        self.option("confidence", confidence, low=1 / max(len(self.names), 2), high=1)
        self.option("temperature", temperature, low=0, open_low=True)
        self.option("multiplier", chosen["multiplier"], low=0)
        self._rows = targets.TargetRows()
        self._of, self._values = (0.0, 0.0), (0.0, 0.0)

    def terms(self, output: Tensor, y: Tensor) -> list[Term]:
        """Return ``H((1−α)·δ_y + αm·v, p) − αm·H(v)``, one pass for both terms, with ``v`` the teacher."""
        member = targets.membership(y, len(self.names), output.dtype)
        teacher = self._teacher(member)
        share = self.strength * self.multiplier / (len(self.names) if self.average == "classes" else 1)
        target = (1 - self.strength) * member + share * teacher
        entropy = torch.special.entr(teacher).sum(dim=-1)
        return [Term(divergences.soft_cross_entropy(output, target) - share * entropy)]

    def summed(self, output: Tensor, y: Tensor, share: Share) -> Tensor | None:
        """Return the same by a kernel; mixed labels have none."""
        if targets.is_soft(y):
            return None
        count, strength = len(self.names), self.value("strength")
        own, other = self._two()
        part = strength * self.value("multiplier") / (count if self.average == "classes" else 1)
        entropy = -sum(times * v * math.log(v) for times, v in ((1, own), (count - 1, other)) if v > 0)
        careful = lambda output: self.terms(output, y)[0].values  # noqa: E731
        total = share.sum() if isinstance(share, Tensor) else share * y.shape[0]
        own, other = 1 - strength + part * own, part * other
        loss = kernels.even_cross_entropy(output, y, own, other, share, careful, self._rows)
        return loss - part * entropy * total

    def _two(self) -> tuple[float, float]:
        """Return what the teacher gives the class and each other one."""
        options = (self.value("confidence"), self.value("temperature"))
        if self._of != options:
            own, other = self._teacher(torch.tensor([1.0, 0.0], dtype=torch.float64)).tolist()
            self._of, self._values = options, (own, other)
        return self._values

    def _teacher(self, member: Tensor) -> Tensor:
        # softmax of u/τ has two values, a ratio r = exp(−(u_y − u_j)/τ) ≤ 1 apart, so no (K, K) matrix is needed
        others = len(self.names) - 1
        gap = self.confidence - (1 - self.confidence) / max(others, 1)
        ratio = torch.exp(-gap.clamp_min(0) / self.temperature)
        own = 1 / (1 + others * ratio)
        return ratio * own + (1 - ratio) * own * member

    def label_space(self) -> LabelSpace:
        """Return the teacher's rows, the diagonal included: with m = 1, ``targets(α)`` is the T of this loss."""
        own = float(self._teacher(torch.ones_like(self.strength)))
        source = {name: float(getattr(self, name)) for name in ("strength", "confidence", "temperature")}
        return even(self.names, {"builder": "tfkd", **source}, own=own)

    def target_matrix(self) -> Tensor:
        """Return ``(1−α)·I + α·m·v``, v the teacher's rows, divided by the sum of each row."""
        own = torch.eye(len(self.names), dtype=self.strength.dtype, device=self.strength.device)
        share = self.strength * self.multiplier / (len(self.names) if self.average == "classes" else 1)
        target = ((1 - self.strength) * own + share * self._teacher(own)).detach().cpu().double()
        return target / target.sum(dim=1, keepdim=True)

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes and six samples, with a teacher that is far from uniform."""
        generator = torch.Generator().manual_seed(0)
        output = torch.randn(6, 4, generator=generator)
        criterion = cls(["a", "b", "c", "d"], strength=0.3, temperature=1.5, multiplier=1.5)
        return Example(criterion, output, torch.tensor([0, 1, 2, 3, 1, 2]), {})

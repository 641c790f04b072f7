"""Focal loss: samples that the model already gets right count less."""

from typing import Unpack, final

import torch
from torch import Tensor

from labelspace.criteria import kernels, targets
from labelspace.criteria.base import Common, Criterion, Example, Labels, Share, Term, Tuned
from labelspace.sources.matrices import even
from labelspace.space import LabelSpace


@final
class Focal(Criterion):
    """Cross-entropy damped where the model is confident: ``−(1−p_y)^γ · log p_y``.

    γ = 0 is cross-entropy. ``gamma="flsd53"`` takes γ = 5 where ``p_y < 0.2`` and γ = 3 elsewhere. Probabilities in
    ``y`` mix the losses of the classes: ``Σ_k y_k · focal_k``, each with its own ``p_k`` (and its own γ).

    Paper says, code does, we do: the same thing; both leave γ open, and the labels are hard. We do γ = 3 by
    default, the fixed value that Mukhoti et al. compare with their schedule.

    Args:
        labels: a number of classes, their names, or a LabelSpace, of which the names alone are used.
        gamma: γ, at least 0, or ``"flsd53"``.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, K)`` or ``(N, K, d…)``; y class indices ``(N, d…)`` or probabilities like output.

    Example:
        >>> Focal(2, gamma=2.0)(torch.zeros(1, 2), torch.tensor([0]))  # (1 − 1/2)²·log 2
        tensor(0.1733)

    Reference:
        Lin et al. 2017, "Focal loss for dense object detection", eq. (4); Mukhoti et al. 2020, "Calibrating deep
        neural networks using focal loss" (the schedule).
    """

    name = "focal"
    tuned = Tuned("gamma", "γ", (0.5, 1.0, 2.0, 3.0, 5.0), words=("flsd53",))
    scope = "sample"
    piecewise = True
    class_axes = {"output": (1,)}
    presets = {"paper": {}, "reference": {}}
    gamma: Tensor | str

    def __init__(
        self,
        labels: Labels,
        *,
        gamma: float | str = 3.0,
        **common: Unpack[Common],
    ) -> None:
        """Check and keep γ or the name of its schedule."""
        super().__init__(labels, **common)
        if isinstance(gamma, str):
            self.gamma = str(self.choose("gamma", gamma, self.tuned.words))
        else:
            self.option("gamma", gamma, low=0)

    def terms(self, output: Tensor, y: Tensor) -> list[Term]:
        """Return ``−Σ_k y_k · (1−p_k)^γ · log p_k``."""
        member = targets.membership(y, len(self.names), output.dtype)
        log_p = torch.log_softmax(output, dim=-1)
        # classes without mass leave before the product: there log p may be −inf
        damping = torch.exp(self._gamma(output) * torch.where(member > 0, _log_complement(log_p), 0))
        return [Term(-(member * damping * torch.where(member > 0, log_p, 0)).sum(dim=-1))]

    def summed(self, output: Tensor, y: Tensor, share: Share) -> Tensor | None:
        """Return the same by a kernel; mixed labels and the schedule have none."""
        if targets.is_soft(y) or isinstance(self.gamma, str):
            return None
        return kernels.focal(output, y, self.value("gamma"), share, lambda output: self.terms(output, y)[0].values)

    def _gamma(self, output: Tensor) -> Tensor:
        if isinstance(self.gamma, Tensor):
            return self.gamma
        # p_k < 1/5 as 5·e_k < Σ_j e_j, less what all have in common: logits that are nearly equal differ in digits
        # that a probability near 0.2 has no room for
        above = torch.expm1(output.detach() - output.detach().amax(dim=-1, keepdim=True))
        rare = 5 * above - above.sum(dim=-1, keepdim=True) < len(self.names) - 5
        return torch.where(rare, 5.0, 3.0).to(output.dtype)

    def label_space(self) -> LabelSpace:
        """Return relations in which every class keeps its mass."""
        return even(self.names, {"builder": "focal"}, own=1.0)

    def target_matrix(self) -> Tensor:
        """Return the identity: labels are one-hot."""
        return torch.eye(len(self.names), dtype=torch.float64)

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes and six samples."""
        generator = torch.Generator().manual_seed(0)
        output = torch.randn(6, 4, generator=generator)
        return Example(cls(["a", "b", "c", "d"]), output, torch.tensor([0, 1, 2, 3, 1, 2]), {})


def _log_complement(log_p: Tensor) -> Tensor:
    """Return ``log(1 − p_k)`` for every class, finite with its gradient even where p_k rounds to 1."""
    # Only the likeliest class can have p > 1/2, and only there 1 − p loses digits: its complement is the sum of the
    # others, taken in log space. The fill stands for log 0 but stays finite, for a row that has no others.
    top = log_p.argmax(dim=-1, keepdim=True) == torch.arange(log_p.shape[-1], device=log_p.device)
    others = torch.where(top, torch.finfo(log_p.dtype).min, log_p)
    rest = torch.logsumexp(others, dim=-1, keepdim=True)
    return torch.where(top, rest, torch.log1p(-torch.where(top, 0, log_p.exp())))

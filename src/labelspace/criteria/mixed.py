"""Mixed cross-entropy with a similarity prior: fixed, per-class or per-entry mixing."""

import math
from collections.abc import Sequence
from typing import Literal, final

import torch
from torch import Tensor, nn

from labelspace import _checks
from labelspace.criteria import divergences, targets
from labelspace.criteria.base import Criterion, Example, Reduction, Term, Tuned
from labelspace.space import LabelSpace


def infogain_loss(output: Tensor, y: Tensor, matrix: Tensor) -> Tensor:
    """Return ``−Σ_i H[i, y]·log p_i`` per sample for any matrix H, eq. (1): the same loss without the simplex rule."""
    return divergences.soft_cross_entropy(output, targets.rows(matrix.T, y))


@final
class MixedCrossEntropy(Criterion):
    """Cross-entropy with mass mixed in from a prior: ``T_y = (1−ε)·δ_y + ε·A_y``, ε fixed or learned.

    ``learn=None`` keeps ε. ``"class"`` learns one ε per class. ``"entry"`` learns all of T. Learned mixtures come in
    two parametrisations. Ours is bounded: ε by a sigmoid into (0, ½), rows of T by a softmax that always leaves the
    class ahead by ``margin``. The paper's is free, with the penalties of eq. (10) and (11).

    Paper says: free parameters with penalties, whose weights it does not give. Code: none was published. We do: the
    bounded form; ``preset="paper"`` is the free form with α=β=γ=η=1, p=2, c=0.1. Losses are means over samples.

    Args:
        labels: a LabelSpace, the prior A; ``labelspace.lda(x, y)`` gives the paper's.
        smoothing: ε in [0, 0.5), the start where it is learned.
        learn: ``None``, ``"class"`` or ``"entry"``.
        bounded: parametrise so that constraints always hold, instead of penalising.
        margin: c, by how much the class stays ahead of any other (``"entry"``).
        row_penalty, high_penalty, low_penalty, margin_penalty: α, β, γ and η of eq. (10) and (11).
        exponent: p ≥ 1, the norm of the penalties.
        weight, ignore_index, reduction, class_dim, preset, global_mean: as in every criterion, see ``Criterion``.

    Shape:
        output ``(N, K)`` or ``(N, K, d…)``; y class indices ``(N, d…)`` or probabilities like output.

    Example:
        >>> from labelspace import ordinal
        >>> criterion = MixedCrossEntropy(ordinal(3), smoothing=0.2, learn="class")
        >>> criterion.mixing()
        tensor([0.2000, 0.2000, 0.2000], grad_fn=<MulBackward0>)

    Reference:
        Negi, Chen et al., "Leveraging class similarity to improve deep neural network robustness",
        eq. (4), (6), (9), (10), (11).
    """

    name = "mixed"
    tuned = Tuned("smoothing", "ε", (0.05, 0.1, 0.2, 0.3, 0.4))
    scope = "sample"
    class_axes = {
        "output": (1,),
        "relations": (0, 1),
        "mixing_logits": (0,),
        "entry_logits": (0, 1),
        "mixing_free": (0,),
        "entry_free": (0, 1),
    }
    label_parameters = ("mixing_logits", "entry_logits", "mixing_free", "entry_free")
    presets = {"paper": {"bounded": False}}
    smoothing: Tensor
    margin: Tensor
    row_penalty: Tensor
    high_penalty: Tensor
    low_penalty: Tensor
    margin_penalty: Tensor
    exponent: Tensor
    relations: Tensor

    def __init__(
        self,
        labels: LabelSpace,
        *,
        smoothing: float = 0.2,
        learn: Literal["class", "entry"] | None = None,
        bounded: bool | None = None,
        margin: float = 0.1,
        row_penalty: float = 1.0,
        high_penalty: float = 1.0,
        low_penalty: float = 1.0,
        margin_penalty: float = 1.0,
        exponent: float = 2.0,
        weight: Tensor | Sequence[float] | None = None,
        ignore_index: int = -100,
        reduction: Reduction = "mean",
        class_dim: int = 1,
        preset: str | None = None,
        global_mean: bool = True,
    ) -> None:
        """Start every mixture at the prior with the given ε."""
        space = self.needs_space(labels)
        super().__init__(
            space,
            weight=weight,
            ignore_index=ignore_index,
            reduction=reduction,
            class_dim=class_dim,
            preset=preset,
            global_mean=global_mean,
        )
        self.learn = self.choose("learn", learn, [None, "class", "entry"])
        self.bounded = bool(self.resolved(preset, {"bounded": True}, {"bounded": bounded})["bounded"])
        self.option("smoothing", smoothing, low=0, high=0.5, open_high=True)
        self.option("margin", margin, low=0, high=1, open_high=True)
        self.option("row_penalty", row_penalty, low=0)
        self.option("high_penalty", high_penalty, low=0)
        self.option("low_penalty", low_penalty, low=0)
        self.option("margin_penalty", margin_penalty, low=0)
        self.option("exponent", exponent, low=1)
        self.source, self.hops = space.relations().source, space.hops
        self.register_buffer("relations", space.relations().matrix.clone())
        if self.learn is not None:
            self._make_parameters(float(smoothing), float(margin))

    def _make_parameters(self, epsilon: float, margin: float) -> None:
        count = len(self.names)
        if self.learn == "class" and self.bounded:
            self.mixing_logits = nn.Parameter(torch.full((count,), _logit(2 * epsilon)))
        elif self.learn == "class":
            self.mixing_free = nn.Parameter(torch.full((count,), epsilon))
        elif self.bounded:
            # off the diagonal: logits of who gets the mass; on it: how much leaves the class
            most = (1 - margin) / 2
            if epsilon > most:
                expected = f"at most (1 − margin)/2 = {most:g} where the class must stay ahead by margin={margin:g}"
                raise _checks.fail(type(self).__name__, "smoothing", expected, epsilon)
            logits = self.relations.clamp_min(1e-6).log()
            # a class that keeps part of its mass in the prior lets only the rest go
            leaving = (epsilon / most) * (1 - self.relations.diagonal())
            logits.diagonal().copy_(torch.tensor([_logit(float(share)) for share in leaving]))
            self.entry_logits = nn.Parameter(logits)
        else:
            self.entry_free = nn.Parameter((1 - epsilon) * torch.eye(count) + epsilon * self.relations)

    def mixing(self) -> Tensor:
        """Return ε: a number, or one per class."""
        if self.learn is None:
            return self.smoothing
        if self.learn == "class":
            return 0.5 * torch.sigmoid(self.mixing_logits) if self.bounded else self.mixing_free
        if self.bounded:
            # ε ≤ (1−c)/2 keeps 1−ε ≥ ε + c, so the class is ahead of any other by c whoever gets the mass
            return (0.5 * (1 - self.margin)) * torch.sigmoid(self.entry_logits.diagonal())
        return 1 - self.entry_free.diagonal()

    def matrix(self) -> Tensor:
        """Return the label matrix T."""
        everyone = torch.arange(len(self.names), device=self.relations.device)
        return self._rows(everyone, self.relations.dtype)

    def terms(self, output: Tensor, y: Tensor) -> list[Term]:
        """Return ``H(T[y], p)`` and, in the free form, the penalty once."""
        loss = Term(divergences.soft_cross_entropy(output, self._rows(y, output.dtype)))
        if self.learn is None or self.bounded:
            return [loss]
        # the mean of a constant is the constant: the penalty enters once whatever the size of the batch
        return [loss, Term(self._penalty().to(output.dtype).expand(len(output)))]

    def _rows(self, y: Tensor, dtype: torch.dtype) -> Tensor:
        """Return rows of T for the samples at hand, never all of T: ``y·(1−ε) + (y·ε) @ A``."""
        if self.learn is None:
            return targets.smoothed(self.relations.to(dtype), y, self.smoothing)
        if self.learn == "entry" and not self.bounded:
            return targets.rows(self.entry_free.to(dtype), y)
        epsilon = self.mixing().to(dtype)
        if targets.is_soft(y):
            everyone = torch.arange(len(self.names), device=y.device)
            return y * (1 - epsilon) + (y * epsilon) @ self._spread(everyone, dtype)
        own = targets.membership(y, len(self.names), dtype)
        leaving = targets.rows(epsilon.unsqueeze(1), y)
        return (1 - leaving) * own + leaving * self._spread(y, dtype)

    def _spread(self, classes: Tensor, dtype: torch.dtype) -> Tensor:
        """Return where the mass of each class goes: the prior, or what was learned off its diagonal."""
        own = targets.membership(classes, len(self.names), dtype)
        if self.learn == "class":
            return targets.rows(self.relations.to(dtype), classes)
        if len(self.names) == 1:
            return own
        logits = targets.rows(self.entry_logits.to(dtype), classes)
        # −1 (an ignored sample) is no class: it has nothing to leave out
        return torch.softmax(logits.masked_fill(own > 0, -torch.inf), dim=1)

    def _penalty(self) -> Tensor:
        if self.learn == "class":
            # eq. (10): the row (ε·A with 1−ε on the diagonal) must sum to 1, ε stay in [0, ½]
            mass = (1 - self.mixing_free).abs() + self.mixing_free.abs() * self._off_diagonal(self.relations).sum(dim=1)
            entries, high = self.mixing_free, 0.5
            margins = torch.zeros((), dtype=mass.dtype, device=mass.device)
        else:
            # eq. (11): rows sum to 1, entries stay in [0, 1], the class stays ahead by c
            mass, entries, high = self.entry_free.sum(dim=1), self.entry_free, 1.0
            ahead = (len(self.names) - 1) * (self.entry_free.diagonal() - self.margin)
            margins = (ahead - self._off_diagonal(self.entry_free).sum(dim=1)).square().sum()
        rows = (mass - 1).square().sum()
        above, below = (entries - high).abs().pow(self.exponent).sum(), entries.abs().pow(self.exponent).sum()
        return (
            self.row_penalty * rows
            + self.high_penalty * above
            + self.low_penalty * below
            + self.margin_penalty * margins
        )

    @staticmethod
    def _off_diagonal(matrix: Tensor) -> Tensor:
        return matrix - torch.diag(matrix.diagonal())

    def label_space(self) -> LabelSpace:
        """Return the prior, or what was learned of it (``"entry"``), as relations."""
        source = {
            "builder": "mixed",
            "learn": self.learn,
            "mixing": self.mixing().detach().tolist(),
            "of": dict(self.source),
        }
        if self.learn != "entry":
            return LabelSpace(self.names, self.relations.cpu(), "relations", source, self.hops)
        matrix = self._off_diagonal(self.matrix().detach().cpu().double()).clamp_min(0)
        total = matrix.sum(dim=1, keepdim=True)
        spread = torch.where(total > 0, matrix / torch.where(total > 0, total, 1), torch.eye(len(self.names)).double())
        return LabelSpace(self.names, spread, "relations", source)

    def target_matrix(self) -> Tensor:
        """Return T, with ε or the entries as they are now."""
        return self.matrix().detach().cpu().double()

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes that learns every entry, and six samples."""
        matrix = torch.tensor([[0, 0.7, 0.2, 0.1], [0.5, 0, 0.3, 0.2], [0.1, 0.65, 0, 0.25], [0.4, 0.4, 0.2, 0]])
        space = LabelSpace(("a", "b", "c", "d"), matrix, "relations")
        generator = torch.Generator().manual_seed(0)
        output = torch.randn(6, 4, generator=generator)
        criterion = cls(space, smoothing=0.3, learn="entry")
        return Example(criterion, output, torch.tensor([0, 1, 2, 3, 1, 2]), {})


def _logit(share: float) -> float:
    """Return the inverse of a sigmoid, a share of 0 or 1 being taken as almost that."""
    inside = min(max(share, 1e-4), 1 - 1e-4)
    return math.log(inside / (1 - inside))

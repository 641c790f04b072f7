"""Mixed cross-entropy with a similarity prior: fixed, per-class or per-entry mixing."""

from collections.abc import Sequence
from numbers import Real
from typing import Literal, Unpack, final

import torch
from torch import Tensor, nn

from labelspace import _checks
from labelspace.criteria import divergences, targets
from labelspace.criteria.base import Common, Criterion, Example, Term, Tuned
from labelspace.criteria.penalties import Weights, class_penalty, entry_box, entry_penalty, off_diagonal
from labelspace.space import LabelSpace

NEVER = 1e-4  # a sigmoid starts at least so far from its ends, which it never reaches


@final
class MixedCrossEntropy(Criterion):
    """Cross-entropy with mass mixed in from a prior: ``T_y = (1−ε)·δ_y + ε·A_y``, ε fixed or learned.

    ``learn=None`` keeps ε. ``"class"`` learns one ε per class, ``"entry"`` all of T. Ours is the bounded form: ε by a
    sigmoid into (0, ½), rows of T by a softmax that always leaves the class ahead by ``margin``. The paper's is free,
    with the penalties of eq. (10) and (11), which a loss of any number of samples holds once.

    Paper says: free, ε learned by ``H(T_y, p)`` and penalties whose weights it does not give. Code: none was published.
    We do: bounded, on ``KL(T_y‖p) + pull·KL(T⁰_y‖T_y)``, T⁰ being T at its start, which to the model is ``H(T_y, p)``.
    Cross-entropy alone falls with ε wherever the model is right, and ends at one-hot. The divergence takes that away,
    the pull makes the given ε the optimum of a model that reaches its targets; where classes overlap or labels are
    wrong ε grows, more so if the prior names the classes in question. Why, and measured: docs/learned-mixing.md.

    ``preset="paper"`` is the free form: α=η=1, p=2, c=0.1; β=γ=1 for ``"class"``, which pulls ε to ¼; β=1/K, γ=1−1/K
    for ``"entry"``, whose penalty is then smallest where rows of T sum to 1 (all at 1: to 2K/(K+2)) and the class leads
    by about c: 0.18 against 0.09 for K=10.

    Args:
        labels: a LabelSpace, the prior A; ``labelspace.lda(x, y)`` gives the paper's.
        smoothing: ε in [0, 0.5], the start where it is learned (the bounded form begins just inside of both ends, and
            with ``"entry"`` takes at most ``(1 − margin)/2``).
        learn: ``None``, ``"class"`` or ``"entry"``.
        bounded: parametrise so that constraints always hold, instead of penalising.
        objective: ``"divergence"`` or ``"cross-entropy"``, what bounded mixtures learn by.
        pull: how strongly bounded mixtures are held to their start, 0 for not at all.
        margin: c, by how much the class stays ahead of any other (``"entry"``); a number, or one per class.
        row_penalty, high_penalty, low_penalty, margin_penalty: α, β, γ and η of eq. (10) and (11).
        exponent: p ≥ 1, the norm of the penalties.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

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
    requires_space = True
    space_from_data = True
    invertible = True
    tuned = Tuned("smoothing", "ε", (0.05, 0.1, 0.2, 0.3, 0.5))
    scope = "sample"
    class_axes = {
        "output": (1,),
        "relations": (0, 1),
        "margin": (0,),
        "mixing_logits": (0,),
        "entry_logits": (0, 1),
        "mixing_free": (0,),
        "entry_free": (0, 1),
    }
    label_parameters = ("mixing_logits", "entry_logits", "mixing_free", "entry_free")
    presets = {"paper": {"bounded": False}}
    smoothing: Tensor
    pull: Tensor
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
        objective: Literal["divergence", "cross-entropy"] | None = None,
        pull: float = 0.1,
        margin: float | Sequence[float] | Tensor = 0.1,
        row_penalty: float = 1.0,
        high_penalty: float | None = None,
        low_penalty: float | None = None,
        margin_penalty: float = 1.0,
        exponent: float = 2.0,
        **common: Unpack[Common],
    ) -> None:
        """Start every mixture at the prior with the given ε."""
        space = self.needs_space(labels)
        super().__init__(space, **common)
        self.learn = self.choose("learn", learn, [None, "class", "entry"])
        self.bounded = bool(self.resolved(common.get("preset"), {"bounded": True}, {"bounded": bounded})["bounded"])
        self.objective = self._chosen_objective(objective)
        self.option("smoothing", smoothing, low=0, high=0.5)
        self.option("pull", pull, low=0)
        self.option("exponent", exponent, low=1)
        high, low = entry_box(len(self.names), float(exponent)) if self.learn == "entry" else (1.0, 1.0)
        self.option("row_penalty", row_penalty, low=0)
        self.option("high_penalty", high if high_penalty is None else high_penalty, low=0)
        self.option("low_penalty", low if low_penalty is None else low_penalty, low=0)
        self.option("margin_penalty", margin_penalty, low=0)
        self._keep_margin(margin)
        self.source, self.hops = space.relations().source, space.hops
        self.constant("relations", space.relations().matrix.clone())
        if self.learn is not None:
            self._make_parameters(float(smoothing))

    def _chosen_objective(self, objective: str | None) -> str:
        if objective is None:
            return "divergence" if self.bounded else "cross-entropy"
        chosen: str = self.choose("objective", objective, ["divergence", "cross-entropy"])
        if chosen == "divergence" and not self.bounded:
            expected = "'cross-entropy' in the free form, whose labels need not be distributions"
            raise _checks.fail(type(self).__name__, "objective", expected, repr(chosen), "Or take bounded=True.")
        return chosen

    def _keep_margin(self, margin: object) -> None:
        if isinstance(margin, Real) or (isinstance(margin, Tensor) and margin.ndim == 0):
            self.option("margin", margin, low=0, high=1, open_high=True)
            return
        each = _checks.class_vector(type(self).__name__, "margin", margin, len(self.names)).float()
        if bool((each >= 1).any()):
            raise _checks.fail(type(self).__name__, "margin", "numbers in [0, 1)", f"{each.max().item():g}")
        self.constant("margin", each)

    def _make_parameters(self, epsilon: float) -> None:
        count = len(self.names)
        if self.learn == "class" and self.bounded:
            self.mixing_logits = nn.Parameter(torch.logit(torch.full((count,), 2 * epsilon), eps=NEVER))
        elif self.learn == "class":
            self.mixing_free = nn.Parameter(torch.full((count,), epsilon))
        elif self.bounded:
            # off the diagonal: logits of who gets the mass; on it: how much leaves the class
            margin = float(self.margin.max())
            if epsilon > (1 - margin) / 2 + 1e-6:
                most = f"(1 − margin)/2 = {(1 - margin) / 2:g}"
                expected = f"at most {most} where the class must stay ahead by margin={margin:g}"
                raise _checks.fail(type(self).__name__, "smoothing", expected, epsilon)
            logits = self.relations.clamp_min(1e-6).log()
            # a class that keeps part of its mass in the prior lets only the rest go
            leaving = 2 * epsilon / (1 - self.margin) * (1 - self.relations.diagonal())
            logits.diagonal().copy_(torch.logit(leaving, eps=NEVER))
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
        """Return ``H(T[y], p)`` with what opposes its pull on ε: in the free form, the penalty once."""
        target = self._rows(y, output.dtype)
        loss = divergences.soft_cross_entropy(output, target)
        if self.learn is None:
            return [Term(loss)]
        if not self.bounded:
            return [Term(loss), Term(self._penalty().to(output.dtype).expand(len(output)), once=True)]
        if self.objective == "divergence":
            loss = loss + divergences.negative_entropy(target)
        start = targets.smoothed(self.relations.to(output.dtype), y, self.smoothing)
        return [Term(loss + self.pull * divergences.divergence(start, target))]

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
        weights = Weights(self.row_penalty, self.high_penalty, self.low_penalty, self.margin_penalty, self.exponent)
        if self.learn == "class":
            return class_penalty(self.mixing_free, self.relations, weights)
        return entry_penalty(self.entry_free, self.margin, weights)

    def label_space(self) -> LabelSpace:
        """Return the prior, or what was learned of it (``"entry"``), as relations."""
        mixing = self.mixing().detach().cpu().tolist()
        source = {"builder": "mixed", "learn": self.learn, "mixing": mixing, "of": dict(self.source)}
        if self.learn != "entry":
            return LabelSpace(self.names, self.relations.cpu(), "relations", source, self.hops)
        matrix = off_diagonal(self.matrix().detach().cpu().double()).clamp_min(0)
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
        output = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))
        criterion = cls(space, smoothing=0.3, learn="entry")
        return Example(criterion, output, torch.tensor([0, 1, 2, 3, 1, 2]), {})

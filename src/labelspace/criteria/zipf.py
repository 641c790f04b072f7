"""Zipf's label smoothing: the other classes share mass by their rank in the model's own output."""

import functools
import sys
from collections.abc import Sequence
from typing import Unpack, final

import numpy as np
import torch
from torch import Tensor

from labelspace import _checks
from labelspace.criteria import divergences, kernels, targets
from labelspace.criteria.base import Common, Criterion, Example, Labels, Share, Term, Tuned
from labelspace.criteria.scratch import LENT, SCRATCH
from labelspace.sources.matrices import even
from labelspace.space import LabelSpace

SORTED = 2**17  # scores that are sorted at a time
UPPER = int(sys.byteorder == "little")  # where the upper half of a word lies


@final
class ZipfSmoothing(Criterion):
    """Cross-entropy plus a divergence among the other classes: ``H(δ_y, p) + λ·KL(z̃ ‖ q)``.

    ``q`` is the softmax over the K−1 classes other than y, and ``z̃_k ∝ 1/rank_k`` over the same classes. Ranks count
    all K classes from 1, before y is dropped; ties share the smallest rank. They come from the logits, or from votes:
    how many positions of the last feature map have the class as their likeliest. Ranks are constants: no gradient
    flows through them. λ = 0 is cross-entropy. A class ruled out by a logit of −inf gets no mass. Soft labels are
    refused, having no one class to leave out.

    Paper says: ranks from dense votes, λ = 0.1. Code does: votes with its flag ``dense``, else logits; an extra head
    on an earlier layer can vote too. We do: logits by default, since any model has them; ``preset="paper"`` and
    ``"reference"`` take votes. A Learner gets them from a network that ends in global average pooling, by its
    ``at_positions``: the head's scores at each position before the mean is taken. For votes of several layers give
    their scores side by side.

    Args:
        labels: a number of classes, their names, or a LabelSpace, of which the names alone are used.
        strength: λ, at least 0.
        votes: ``"logits"`` (default) or ``"dense"``, which needs ``features=``: the class scores at each position.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, K)`` or ``(N, K, d…)``; y class indices ``(N, d…)``; features ``(N, K, positions…)`` with an
        output of ``(N, K)``.

    Example:
        >>> criterion = ZipfSmoothing(3, strength=1.0)
        >>> criterion(torch.zeros(1, 3), torch.tensor([0]))  # all rank 1: KL of two uniforms is 0, left is log 3
        tensor(1.0986)

    Reference:
        Liang et al. 2022, "Efficient one pass self-distillation with Zipf's label smoothing".
    """

    name = "zipf"
    tuned = Tuned("strength", "λ", (0.05, 0.1, 0.2, 0.5, 1.0))
    scope = "sample"
    piecewise = True
    soft_targets = False
    class_axes = {"output": (1,), "features": (1,)}
    presets = {"paper": {"votes": "dense"}, "reference": {"votes": "dense"}}
    strength: Tensor

    def __init__(
        self,
        labels: Labels,
        *,
        strength: float = 0.1,
        votes: str | None = None,
        **common: Unpack[Common],
    ) -> None:
        """Check and keep the strength; with dense votes ask for features."""
        super().__init__(labels, **common)
        chosen = self.resolved(common.get("preset"), {"votes": "logits"}, {"votes": votes})
        self.votes = str(self.choose("votes", chosen["votes"], ["logits", "dense"]))
        self.dense_features = self.votes == "dense"
        self.needs = ("features",) if self.dense_features else ()
        self.option("strength", strength, low=0)

    def terms(self, output: Tensor, y: Tensor, *, features: Tensor | None = None) -> list[Term]:
        """Return ``−log p_y + λ·KL(z̃ ‖ q)``."""
        count = len(self.names)
        ranks = _ranks(output.detach() if features is None else _votes(features.detach(), count))
        others = (targets.membership(y, count, output.dtype) == 0) & (output > -torch.inf)
        mass = torch.where(others, 1 / ranks.to(output.dtype), 0)
        total = mass.sum(dim=-1, keepdim=True)
        target = mass / torch.where(total > 0, total, 1)
        # leaves the true class out of the softmax; finite, so that a row without other classes is 0 and not NaN
        masked = torch.where(others, output, torch.finfo(output.dtype).min)
        divergence = divergences.soft_cross_entropy(masked, target) - torch.special.entr(target).sum(dim=-1)
        own = -targets.pick(torch.log_softmax(output, dim=-1), y)
        return [Term(own + self.strength * divergence)]

    def summed(self, output: Tensor, y: Tensor, share: Share, *, features: Tensor | None = None) -> Tensor | None:
        """Return the same by a kernel, of ranks by logits in single precision; infinite where a class is ruled out."""
        if features is not None or output.dtype != torch.float32 or len(self.names) < 2:
            return None
        mass, sums = _one_by_rank(output.detach())
        careful = lambda output: self.terms(output, y)[0].values  # noqa: E731
        return kernels.ranked(output, y, mass.__getitem__, sums.__getitem__, self.value("strength"), share, careful)

    def label_space(self) -> LabelSpace:
        """Return uniform relations: ranks are a sample's own, before one is seen all other classes are alike."""
        return even(self.names, {"builder": "zipf", "strength": float(self.strength)})

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes and six samples, with features in case dense votes are asked for."""
        generator = torch.Generator().manual_seed(0)
        output = torch.randn(6, 4, generator=generator)
        features = torch.randn(6, 4, 3, 3, generator=generator)
        criterion = cls(["a", "b", "c", "d"], strength=0.3)
        return Example(criterion, output, torch.tensor([0, 1, 2, 3, 1, 2]), {"features": features})


def _ranks(scores: Tensor) -> Tensor:
    """Return each class's rank from 1, the highest score first; ties share the smallest rank."""
    # the place a value would be inserted among the sorted ones is the number of values before it
    descending = -scores
    return torch.searchsorted(descending.sort(dim=-1).values, descending) + 1


def _one_by_rank(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return ``m = 1/rank`` as ``_ranks`` has them of finite scores, and ``Σ m·log m``, ``(n, 1)``.

    Every class has some mass, so that a score that is not finite makes a loss that is not.
    """
    falling, known_sum = _falling(scores.shape[1])
    mass, sums = LENT.take(scores.shape, scores.dtype), scores.new_full((len(scores), 1), known_sum)
    step = max(1, SORTED // scores.shape[1])
    for start in range(0, len(scores), step):  # some at a time: words and what is made of them stay in the cache
        some = slice(start, start + step)
        borrowed = [SCRATCH.take(scores[some].shape, kind) for kind in (torch.float32, torch.int32, torch.int64)]
        try:
            _rank(scores[some], mass[some], sums[some], falling, borrowed)
        finally:
            SCRATCH.give(borrowed)
    return mass, sums


def _rank(scores: Tensor, mass: Tensor, sums: Tensor, falling: Tensor, room: Sequence[Tensor]) -> None:
    """Write ``1/rank`` into ``mass``, and into ``sums`` those of samples with ties.

    By numpy's sort, on a CPU many times faster than torch's. A number's bits, the order of negative ones turned round,
    sort as the number does; with its place in the lower half of a word one sort gives both.
    """
    lowered, signs, words = (each.numpy() for each in room)
    np.subtract(np.float32(0), scores.resolve_neg().numpy(), out=lowered)  # the highest first; −0 becomes 0, its equal
    bits = lowered.view(np.int32)
    np.right_shift(bits, 31, out=signs)
    signs &= 0x7FFFFFFF
    np.bitwise_xor(signs, bits, out=words, casting="safe")
    words <<= 32
    words |= np.arange(words.shape[1])
    words.sort(axis=1)
    by_place = falling.expand_as(mass)
    upper = words.reshape(-1).view(np.int32)[UPPER::2]
    tied = np.flatnonzero(upper[1:] == upper[:-1]) + 1
    tied = tied[tied % words.shape[1] != 0]  # the last of a row and the first of the next are no pair
    if len(tied):
        by_place = by_place.clone()
        # a run of equals, which are few, has the rank of the place before its first
        starts = np.maximum.accumulate(np.where(np.diff(tied, prepend=-1) != 1, tied, 0)) - 1
        flat, rows = by_place.view(-1), torch.from_numpy(np.unique(tied // words.shape[1]))
        flat[torch.from_numpy(tied)] = flat[torch.from_numpy(starts)]
        sums[rows] = torch.xlogy(by_place[rows], by_place[rows]).sum(dim=1, keepdim=True)
    words &= 0xFFFFFFFF
    mass.scatter_(1, room[-1], by_place)


@functools.lru_cache(maxsize=8)
def _falling(classes: int) -> tuple[Tensor, float]:
    """Return ``m = 1/rank`` of ranks from 1, and ``Σ m·log m``."""
    mass = 1 / np.arange(1, classes + 1)
    return torch.from_numpy(mass.astype(np.float32)), float((mass * np.log(mass)).sum())


def _votes(features: Tensor, count: int) -> Tensor:
    """Return how many positions have each class as their likeliest."""
    if features.ndim < 3 or features.shape[1] != count:
        expected = f"class scores at each position, of shape (N, {count}, positions…), for votes='dense'"
        remedy = "Apply the last layer to every position of the last feature map, before pooling."
        raise _checks.fail("ZipfSmoothing", "features", expected, f"shape {tuple(features.shape)}", remedy)
    likeliest = features.flatten(2).argmax(dim=1, keepdim=True)
    classes = torch.arange(count, device=features.device).reshape(-1, 1)
    return (likeliest == classes).sum(dim=-1)

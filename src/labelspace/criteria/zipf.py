"""Zipf's label smoothing: the other classes share mass by their rank in the model's own output."""

import functools
from typing import NamedTuple, Unpack, final

import numpy as np
import torch
from torch import Tensor

from labelspace import _checks
from labelspace.criteria import divergences, kernels, targets
from labelspace.criteria.base import Common, Criterion, Example, Labels, Share, Term, Tuned
from labelspace.criteria.maths import Array
from labelspace.criteria.scratch import LENT, SCRATCH
from labelspace.sources.matrices import even
from labelspace.space import LabelSpace

NOTHING = 2.0**-1000  # added to a score changes 0 alone: with a place in its bits that would be denormal, a 0 to some
PLACES = 2**28 - 1  # bits for a place: those that double precision has more than single, but the one it is rounded by


class Rising(NamedTuple):
    """Classes of a sample without ties, from the lowest score to the highest."""

    mass: Tensor  # m = 1/rank
    places: Tensor  # 0, 1, …
    terms: Array  # m·log m
    sum: float  # of terms


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
        scores, sums = output.detach(), output.new_empty((len(output), 1))
        mass = lambda part: _one_by_rank(scores[part], sums[part])  # noqa: E731
        careful = lambda output: self.terms(output, y)[0].values  # noqa: E731
        return kernels.ranked(output, y, mass, sums.__getitem__, self.value("strength"), share, careful)

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


def _one_by_rank(scores: Tensor, sums: Tensor) -> Tensor:
    """Return ``m = 1/rank`` as ``_ranks`` has them of finite scores, and write ``Σ m·log m`` into ``sums``, ``(n, 1)``.

    Every class has some mass, so that a score that is not finite makes a loss that is not.
    """
    mass, words = LENT.take(scores.shape, scores.dtype), SCRATCH.take(scores.shape, torch.float64)
    try:
        _rank(scores, mass, sums.numpy(), words)
    finally:
        SCRATCH.give([words])
    return mass


def _rank(scores: Tensor, mass: Tensor, sums: Array, words: Tensor) -> None:
    """Write ``1/rank`` into ``mass``, and ``Σ m·log m`` into ``sums``.

    By numpy's sort, on a CPU many times faster than torch's. In double precision a score leaves its last bits free:
    with its place there one sort gives both. Rounded to single precision it is what it was.
    """
    known, numbers, places = _rising(scores.shape[1]), words.copy_(scores).numpy(), words.view(torch.int64)
    numbers += NOTHING
    places |= known.places
    numbers.sort(axis=1)
    if np.isnan(numbers[:, -1]).any():  # as infinity with a place is, of which a sort may keep neither
        mass.fill_(1)
        sums[:] = 0
        return
    single = mass.numpy()  # what was written one after the other is in the cache when it is written all over
    np.copyto(single, numbers, casting="same_kind")
    tied, in_order = _equal(single), places.numpy()
    in_order &= PLACES
    mass.scatter_(1, places, known.mass.expand_as(mass))
    sums[:] = _shared(tied, in_order, single, known) if len(tied) else known.sum


def _equal(rows: Array) -> Array:
    """Return which of all numbers are equal to the next one of their row."""
    flat = rows.reshape(-1)
    pairs = flat[:-1] == flat[1:]
    pairs[rows.shape[1] - 1 :: rows.shape[1]] = False  # the last of a row and the first of the next are none
    return np.flatnonzero(pairs)


def _shared(tied: Array, places: Array, mass: Array, known: Rising) -> Array:
    """Give those in a run of equals what its highest place has; return ``Σ m·log m``, ``(n, 1)``.

    Args:
        tied: which are equal to the next one, of all in order; changed.
        places: where those in order are.
        mass: of all places; changed.
        known: of samples without ties.
    """
    count, classes = mass.shape
    last = np.where(np.diff(tied, append=-1) != 1, tied, tied[-1])  # of a run, where it ends
    backwards = last[::-1]
    np.minimum.accumulate(backwards, out=backwards)
    rows = tied // classes
    starts = rows * classes
    last -= starts - 1  # in place, as there may be as many ties as scores
    mass.reshape(-1)[places.reshape(-1)[tied] + starts] = known.mass.numpy()[last]
    tied -= starts
    more = known.terms[last]
    more -= known.terms[tied]
    sums: Array = known.sum + np.bincount(rows, more, minlength=count)
    return sums[:, None]


@functools.lru_cache(maxsize=8)
def _rising(classes: int) -> Rising:
    """Return what samples of so many classes have in common."""
    mass = 1 / np.arange(classes, 0, -1)
    terms = mass * np.log(mass)
    in_order, places = torch.from_numpy(mass.astype(np.float32)), torch.from_numpy(np.arange(classes))
    return Rising(in_order, places, terms, float(terms.sum()))


def _votes(features: Tensor, count: int) -> Tensor:
    """Return how many positions have each class as their likeliest."""
    if features.ndim < 3 or features.shape[1] != count:
        expected = f"class scores at each position, of shape (N, {count}, positions…), for votes='dense'"
        remedy = "Apply the last layer to every position of the last feature map, before pooling."
        raise _checks.fail("ZipfSmoothing", "features", expected, f"shape {tuple(features.shape)}", remedy)
    likeliest = features.flatten(2).argmax(dim=1, keepdim=True)
    classes = torch.arange(count, device=features.device).reshape(-1, 1)
    return (likeliest == classes).sum(dim=-1)

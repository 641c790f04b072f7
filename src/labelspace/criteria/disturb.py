"""DisturbLabel: now and then a sample is trained with a label drawn at random."""

from collections.abc import Mapping
from typing import TypeVar, Unpack, final

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.criteria import targets
from labelspace.criteria.base import Common, Criterion, Example, Labels, Term, Tuned
from labelspace.sources.matrices import even
from labelspace.space import LabelSpace

Number = TypeVar("Number", int, Tensor)
WORD = 0xFFFFFFFF


@final
class DisturbLabel(Criterion):
    """Cross-entropy with a label that is, with probability α, drawn uniformly from all K classes: ``−log p_y'``.

    The draw may hit the true class. In ``eval()`` nothing is disturbed. The expected label is that of uniform
    smoothing, ``(1−α)·δ_y + α/K``.

    A draw is a hash of the seed and of the sample's place in the stream of training samples (the buffer ``position``
    counts them, ignored ones too). So there is no random state: draws are the same for any split into batches, for
    any number of ranks that share a batch evenly, compiled or not, and after a checkpoint. Of a soft label the whole
    row becomes the drawn one-hot. A class weight is that of the true class, not of the drawn one.

    Paper says: this, with new draws in every iteration. Code does: none known to us. We do: the same.

    Args:
        labels: a number of classes, their names, or a LabelSpace, of which the names alone are used.
        rate: α in [0, 1], the probability of drawing a label.
        seed: another seed gives other draws.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, K)`` or ``(N, K, d…)``; y class indices ``(N, d…)`` or probabilities like output.

    Example:
        >>> criterion = DisturbLabel(3, rate=0.5, reduction="none")
        >>> output = torch.tensor([[9.0, 0.0, 0.0]]).repeat(6, 1).requires_grad_()
        >>> criterion(output, torch.zeros(6).long()).detach().round()
        tensor([9., 0., 0., 9., 0., 0.])
        >>> criterion.position
        tensor(6)

    Reference:
        Xie et al. 2016, "DisturbLabel: regularizing CNN on the loss layer", section 3.
    """

    name = "disturb"
    tuned = Tuned("rate", "α", (0.02, 0.05, 0.1, 0.2, 0.3))
    scope = "sample"
    random = True
    class_axes = {"output": (1,)}
    rate: Tensor
    position: Tensor

    def __init__(
        self,
        labels: Labels,
        *,
        rate: float = 0.1,
        seed: int = 0,
        **common: Unpack[Common],
    ) -> None:
        """Start at the beginning of the stream."""
        super().__init__(
            labels,
            **common,
            commit_every=1,
            sums={"samples": ()},
        )
        self.option("rate", rate, low=0, high=1)
        self.seed = _checks.whole(type(self).__name__, "seed", seed)
        self.register_buffer("position", torch.zeros((), dtype=torch.int64))

    def terms(self, output: Tensor, y: Tensor) -> list[Term]:
        """Return ``−log p`` at the label or at the drawn one."""
        label = self._disturbed(y) if self.training else y
        return [Term(-targets.pick(torch.log_softmax(output, dim=-1), label))]

    def observe(self, output: Tensor, y: Tensor) -> dict[str, Tensor]:
        """Return the number of samples, ignored ones too; exact up to 2²⁴ a step."""
        return {"samples": output.new_full((), output.shape[0])}

    def commit(self, gathered: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the place of the next sample in the stream."""
        return {"position": self.position + gathered["samples"].long()}

    def _disturbed(self, y: Tensor) -> Tensor:
        count = len(self.names)
        whether, which = _draws(self.positions(y.shape[0], self.position), self.seed)
        drawn = (which * count) >> 32
        chance = whether.to(self.rate.dtype) / 2**32 < self.rate
        label = torch.where(chance & (targets.hard(y) >= 0), drawn, -1)
        if targets.is_soft(y):
            return torch.where((label >= 0).unsqueeze(-1), targets.membership(label, count, y.dtype), y)
        return torch.where(label >= 0, label, y)

    def label_space(self) -> LabelSpace:
        """Return the uniform relations that the draws have on average."""
        source = {"builder": "disturb", "rate": float(self.rate)}
        return even(self.names, source, own=1 / len(self.names))

    def target_matrix(self) -> Tensor:
        """Return ``(1−α)·I + α/K``, the mean of the labels that are drawn."""
        count = len(self.names)
        return self.smoothed_identity(self.rate, torch.full((count, count), 1 / count, dtype=torch.float64))

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes and eight samples, some of which are disturbed."""
        generator = torch.Generator().manual_seed(0)
        output = torch.randn(8, 4, generator=generator)
        return Example(cls(["a", "b", "c", "d"], rate=0.5), output, torch.tensor([0, 1, 2, 3, 1, 2, 0, 3]), {})


def _draws(position: Tensor, seed: int) -> tuple[Tensor, Tensor]:
    """Return two independent draws of 32 bits per position: whether to disturb, and which class."""
    place = _mixed(_mixed((position & WORD) ^ 0x9E3779B9) ^ (position >> 32))
    # seed and stream come in once the position is mixed: any earlier they would only put the draws in another order
    return _mixed(place ^ _key(seed, 1)), _mixed(place ^ _key(seed, 2))


def _key(seed: int, stream: int) -> int:
    return _mixed(_mixed(_mixed(seed & WORD) ^ (seed >> 32 & WORD)) ^ stream)


def _mixed(word: Number) -> Number:
    """Return 32 bits in which every bit depends on every bit of the word; a one-to-one map ("lowbias32")."""
    word = word ^ (word >> 16)
    word = (word * 0x7FEB352D) & WORD
    word = word ^ (word >> 15)
    # 0x846CA68B less 2³², the same modulo 2³²: either factor keeps the product inside 64 signed bits
    word = (word * (0x846CA68B - 2**32)) & WORD
    return word ^ (word >> 16)

"""A batch of sentence pairs as networks for sequences take it, and what beam search asks of such a network."""

from typing import NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.criteria.targets import IGNORED

END = 0  # closes every text on both sides; stands in for padding, which nothing reads
State = TypeVar("State")


class Sentences(NamedTuple):
    """Source sentences, and what came before each token of their targets.

    Attributes:
        source: token ids, ``END`` where padded.
        lengths: of the sources, their ``END`` included; on the CPU, since packing reads them there.
        previous: the targets shifted right by one; K, the number of labels, begins each; ``END`` where padded.
        kept: flat positions in ``(B·T)`` of the real targets, row by row.

    Shape:
        source ``(B, S)``, lengths ``(B,)``, previous ``(B, T)``, kept ``(M,)``; all int64.
    """

    source: Tensor
    lengths: Tensor
    previous: Tensor
    kept: Tensor


class Longest(NamedTuple):
    """How many tokens of a source and of a target a network has positions for; None where any number will do."""

    source: int | None = None
    target: int | None = None

    def check(self, owner: str, argument: str, source: int = 0, target: int = 0) -> None:
        """Refuse texts that are longer, before an index of a position that is not there is asked for.

        Args:
            owner: whose argument it is.
            argument: its name.
            source: tokens of the longest source, its end among them.
            target: tokens of the longest target, its end among them.
        """
        for side, length, most in (("source", source, self.source), ("target", target, self.target)):
            if most is not None and length > most:
                settings = (_checks.Setting("longest", most), _checks.Setting("cut", True))
                remedy = ("Cut the texts with ", settings[0], " and ", settings[1], ", or take a network with more.")
                expected = f"such that the network has a position for every token of a {side}"
                raise _checks.fail(owner, argument, expected, f"{length} tokens for {most} positions", remedy)


class Translator(Protocol[State]):
    """A network that writes texts token by token; what a state holds is its own business."""

    begin_token: int
    longest: Longest

    def begin(self, source: Tensor, lengths: Tensor) -> State:
        """Return the state after reading sources ``(B, S)`` of these lengths (on the CPU)."""

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the output ``(R, D)`` after one more token ``(R,)`` of each text, and the state that follows."""

    def chosen(self, state: State, rows: Tensor) -> State:
        """Return these texts of a state, in this order; one may come several times."""


def sentences(x: Tensor, y: Tensor, labels: int) -> tuple[Sentences, Tensor]:
    """Return a batch from padded ids, cut to its longest sentences, and its real targets row by row.

    It is made of tensors on the CPU, so that sizes are known without waiting for a device, and moved afterwards.

    Args:
        x: ids of the sources, padded with −100.
        y: ids of the targets, padded with −100; a row that is nothing else takes part in nothing.
        labels: K; its number stands for "begin" in ``previous``.

    Shape:
        x ``(B, S)``, y ``(B, T)`` → a batch, targets ``(M,)``.

    Example:
        >>> x, y = torch.tensor([[5, 0, -100], [3, 4, 0]]), torch.tensor([[2, 0, -100], [0, -100, -100]])
        >>> batch, targets = sentences(x, y, 7)
        >>> batch.previous.tolist(), batch.kept.tolist(), targets.tolist(), batch.lengths.tolist()
        ([[7, 2], [7, 0]], [0, 1, 2], [2, 0, 0], [2, 3])
    """
    real_x, real_y = _real("x", x), _real("y", y, empty=True)
    if len(x) != len(y):
        raise _checks.fail("sentences", "y", f"of {len(x)} rows, as `x`", len(y))
    lengths, longest = real_x.sum(dim=1), max(int(real_y.sum(dim=1).max()), 1)
    source = x[:, : int(lengths.max())].clamp(min=END)
    shown = real_y[:, :longest]
    targets = y[:, :longest]
    begin = torch.full_like(targets[:, :1], labels)
    # what follows the last real token is never read; END is an id that every table has
    previous = torch.cat([begin, targets[:, :-1].clamp(min=END)], dim=1)
    previous[:, 1:].masked_fill_(~shown[:, 1:], END)
    kept = shown.flatten().nonzero().flatten()
    return Sentences(source, lengths, previous, kept), targets[shown]


def places(row: Tensor) -> Tensor:
    """Return the place of each text among those of its source.

    Args:
        row: the source of each, in any order.

    Example:
        >>> places(torch.tensor([2, 0, 2, 2, 0])).tolist()
        [0, 0, 1, 2, 1]
    """
    order = torch.argsort(row, stable=True)
    together = row[order]
    ranks = torch.arange(len(row), device=row.device) - torch.searchsorted(together, together)
    return torch.empty_like(row).index_copy_(0, order, ranks)


def _real(argument: str, ids: Tensor, empty: bool = False) -> Tensor:
    """Return where ids are no padding; padding must follow a text, which has one token at least unless allowed."""
    if ids.ndim != 2 or not len(ids) or ids.dtype != torch.int64:
        expected = "a table of whole numbers (sentences, tokens)"
        raise _checks.fail("sentences", argument, expected, f"shape {tuple(ids.shape)} of {ids.dtype}")
    real = ids != IGNORED
    if (not empty and not bool(real[:, :1].all())) or bool((real[:, 1:] & ~real[:, :-1]).any()):
        raise _checks.fail("sentences", argument, f"padded with {IGNORED} only after each text, none empty", "other")
    return real

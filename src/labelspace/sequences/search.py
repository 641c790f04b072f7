"""Beam search over many sentences at once.

Letters: B sentences of a batch, R open hypotheses of all of them together, W the beam's width, K classes.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import Tensor

from labelspace import _checks
from labelspace._devices import IN_CACHE
from labelspace.models.sentences import END, Translator, places

OWNER = "translate"
Scores = Callable[[Tensor], Tensor]
State = TypeVar("State")
TIMES, MORE = 2, 10  # the longest target, from the length of its source
PENALTY = 1.0  # by length, where nobody says


@torch.inference_mode()
def translate(
    model: Translator[State],
    scores: Scores,
    source: Tensor,
    lengths: Tensor,
    *,
    beam: int = 10,
    longest: int | None = None,
    length_penalty: float = PENALTY,
    batch: int = 64,
) -> list[list[int]]:
    """Return the likeliest target of each source that a beam search finds, without its ``END``.

    A hypothesis of n tokens, its ``END`` counted, is worth ``log p / ((5 + n)/6)^α`` (Wu et al., 2016), α being
    ``length_penalty``: 0 is the log-probability itself, 1 nearly its mean over tokens. In every step a sentence keeps
    its W likeliest continuations. One that ends leaves the search and takes its place along, so that W − 1 are left.
    A sentence is done when all have ended, or when none that is open could still become worth more than the best that
    ended: log p only falls, so at most ``log p / ((5 + longest)/6)^α``. The last token allowed is ``END`` itself, with
    its own probability. Width 1 is the greedy search.

    Sentences are sorted by length into batches; what has ended is computed no further. The model is put into
    evaluation mode for the time, and results are those of one sentence at a time up to the rounding of sums.

    Args:
        model: what encodes and writes, such as ``models.build("seq2seq-256", …)``.
        scores: from output ``(R, D)`` to scores of classes ``(R, K)``, whose log-softmax is added up:
            ``criterion.scores``.
        source: token ids, padded with anything.
        lengths: of the sources, on the CPU, at least 1.
        beam: width W, at most K.
        longest: most tokens of a target, ``END`` counted; otherwise twice the source's length and 10 more. Never more
            than the model has positions for.
        length_penalty: α, at least 0.
        batch: sentences that are searched at once; of 32, 64 and 128, 64 took least on one CPU core (3,000 classes).

    Shape:
        source ``(N, S)``, lengths ``(N,)``.
    """
    _check(source, lengths, beam, longest, length_penalty, batch)
    if not len(source):
        return []
    model.longest.check(OWNER, "longest", target=longest or 0)
    order = torch.argsort(lengths, descending=True, stable=True)
    limits = limits_of(lengths, longest, model.longest.target)
    found: list[list[int]] = [[] for _ in range(len(source))]
    training = isinstance(model, torch.nn.Module) and model.training
    if isinstance(model, torch.nn.Module):
        model.eval()
    try:
        for rows in torch.split(order, batch):
            cut = source[rows.to(source.device), : int(lengths[rows[0]])]
            texts = _Search(model, scores, cut, lengths[rows], limits[rows], beam, length_penalty).run()
            for row, text in zip(rows.tolist(), texts, strict=True):
                found[row] = text
    finally:
        if isinstance(model, torch.nn.Module):
            model.train(training)
    return found


def limits_of(lengths: Tensor, longest: int | None = None, positions: int | None = None) -> Tensor:
    """Return the most tokens of each target, ``END`` counted: a text that has so many was ended by force.

    Args:
        lengths: of the sources.
        longest: the same for all; otherwise twice the source's length and 10 more.
        positions: that the model has for targets, if they have an end.

    Example:
        >>> limits_of(torch.tensor([3, 9])).tolist(), limits_of(torch.tensor([3, 9]), positions=20).tolist()
        ([16, 28], [16, 20])
    """
    limits = TIMES * lengths + MORE if longest is None else torch.full_like(lengths, longest)
    return limits if positions is None else limits.clamp(max=positions)


@dataclass
class _Open(Generic[State]):
    """Hypotheses that have not ended: those of a sentence together, the likeliest first."""

    sentence: Tensor  # (R,) which of the batch's
    slot: Tensor  # (R,) place among those of its sentence
    total: Tensor  # (R,) log-probability
    tokens: Tensor  # (R, t) written so far
    state: State


class _Search(Generic[State]):
    """The search of one batch."""

    def __init__(
        self,
        model: Translator[State],
        scores: Scores,
        source: Tensor,
        lengths: Tensor,
        limits: Tensor,
        beam: int,
        penalty: float,
    ) -> None:
        self.model, self.scores, self.beam, self.penalty = model, scores, beam, penalty
        device, count = source.device, len(source)
        self.limits = limits.to(device)
        self.bounds = ((5 + self.limits) / 6) ** penalty  # what divides the longest of each sentence
        self.free = torch.full((count,), beam, device=device)  # places that no ended hypothesis has taken
        self.best = [-math.inf] * count
        self.texts: list[list[int]] = [[] for _ in range(count)]
        first = torch.arange(count, device=device)
        zeros = torch.zeros(count, device=device)
        nothing = first.new_zeros((count, 0))
        self.open = _Open(first, torch.zeros_like(first), zeros, nothing, model.begin(source, lengths))

    def run(self) -> list[list[int]]:
        """Return the best hypothesis of each sentence."""
        while len(self.open.sentence):
            self._step()
        return self.texts

    def _step(self) -> None:
        here = self.open
        last = here.tokens[:, -1] if here.tokens.shape[1] else torch.full_like(here.sentence, self.model.begin_token)
        output, state = self.model.step(last, here.state)
        totals, tokens = self._continued(self.scores(output))
        sentence, parent, total, token = self._kept(totals, tokens)
        ended = token == END
        written = torch.cat([here.tokens[parent], token.unsqueeze(1)], dim=1)
        self._end(sentence[ended], total[ended], written[ended])
        goes_on = ~ended & self._hopeful(sentence, total, ended)[sentence]
        sentence, parent, total, written = (part[goes_on] for part in (sentence, parent, total, written))
        state = self.model.chosen(state, parent) if len(parent) else state
        self.open = _Open(sentence, places(sentence), total, written, state)

    def _hopeful(self, sentence: Tensor, total: Tensor, ended: Tensor) -> Tensor:
        """Return for each sentence whether a hypothesis that goes on may become worth more than the best that ended."""
        best = torch.tensor(self.best, dtype=total.dtype, device=total.device)
        # at most: as likely as now at the longest length
        likely = ~ended & (total / self.bounds[sentence] > best[sentence])
        return torch.zeros_like(self.free, dtype=torch.bool).index_fill(0, sentence[likely], True)

    def _continued(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Return for each open hypothesis the log-probabilities and tokens of its W likeliest continuations."""
        here, width = self.open, self.beam
        if here.tokens.shape[1] == 0:
            self._check_width(scores.shape[1])
        top, tokens, ending = _likeliest(scores, min(width, scores.shape[1]))
        if here.tokens.shape[1] == 0 and not bool(torch.isfinite(top[:, 0]).all()):
            remedy = "Weights that diverged write nothing: look at the training."
            raise _checks.fail(OWNER, "scores", "finite", "others for the first token", remedy)
        full = here.tokens.shape[1] + 1 >= self.limits[here.sentence]
        # the last token allowed: END alone may follow
        top = torch.where(full.unsqueeze(1), -torch.inf, top)
        top[:, 0] = torch.where(full, ending, top[:, 0])
        tokens[:, 0] = torch.where(full, END, tokens[:, 0])
        return here.total.unsqueeze(1) + top, tokens

    def _kept(self, totals: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return sentence, parent, log-probability and token of as many continuations as each sentence has places."""
        here, each = self.open, totals.shape[1]
        present, index = torch.unique_consecutive(here.sentence, return_inverse=True)
        widest = int(here.slot.max()) + 1
        table = totals.new_full((len(present), widest * each), -torch.inf)
        places = (here.slot * each).unsqueeze(1) + torch.arange(each, device=totals.device)
        table[index.unsqueeze(1), places] = totals
        total, place = table.topk(min(self.beam, table.shape[1]), dim=1)
        ranks = torch.arange(total.shape[1], device=totals.device)
        kept = (ranks < self.free[present].unsqueeze(1)) & (total > -torch.inf)
        row = kept.nonzero()[:, 0]
        firsts = torch.searchsorted(here.sentence, present)  # its hypotheses stand together, in the order of slots
        parent = firsts[row] + place[kept] // each
        return present[row], parent, total[kept], tokens[parent, place[kept] % each]

    def _end(self, sentence: Tensor, total: Tensor, written: Tensor) -> None:
        """Take the places of hypotheses that ended, and remember the best of each sentence."""
        self.free -= torch.bincount(sentence, minlength=len(self.free))
        worth = total / ((5 + written.shape[1]) / 6) ** self.penalty
        for row, value, text in zip(sentence.tolist(), worth.tolist(), written.tolist(), strict=True):
            if value > self.best[row]:
                self.best[row], self.texts[row] = value, text[:-1]

    def _check_width(self, classes: int) -> None:
        check_width(self.beam, classes)


def check_width(beam: int, classes: int) -> None:
    """Refuse a beam that is wider than there are first tokens.

    Args:
        beam: its width.
        classes: the tokens of the vocabulary.
    """
    _checks.whole(OWNER, "beam", beam, low=1)
    if beam > classes:
        remedy = "A sentence has no more first tokens than that."
        raise _checks.fail(OWNER, "beam", f"at most {classes}, the tokens of the vocabulary", beam, remedy)


def _likeliest(scores: Tensor, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return of each row the log-probabilities of its likeliest tokens, these tokens, and that of ``END``.

    A few rows at a time stay in the cache of a CPU, and no second array of all classes is made; other devices are fast
    at many rows.
    """
    found = []
    at_once = IN_CACHE // scores.shape[1] if scores.device.type == "cpu" else len(scores)
    for rows in torch.split(scores, max(1, at_once)):
        total = rows.logsumexp(dim=1, keepdim=True)
        top, tokens = rows.topk(width, dim=1)
        found.append((top - total, tokens, rows[:, END] - total.squeeze(1)))
    return (
        torch.cat([top for top, _, _ in found]),
        torch.cat([t for _, t, _ in found]),
        torch.cat([e for *_, e in found]),
    )


def _check(source: Tensor, lengths: Tensor, beam: int, longest: int | None, penalty: float, batch: int) -> None:
    _checks.whole(OWNER, "beam", beam, low=1)
    _checks.whole(OWNER, "batch", batch, low=1)
    _checks.number(OWNER, "length_penalty", penalty, low=0)
    if longest is not None:
        _checks.whole(OWNER, "longest", longest, low=1)
    if source.ndim != 2 or lengths.shape != source.shape[:1]:
        got = f"shapes {tuple(source.shape)} and {tuple(lengths.shape)}"
        raise _checks.fail(OWNER, "lengths", "one number for each row of `source`", got)
    if len(lengths) and (int(lengths.min()) < 1 or int(lengths.max()) > source.shape[1]):
        got = f"{int(lengths.min())} to {int(lengths.max())}"
        raise _checks.fail(OWNER, "lengths", f"from 1 to {source.shape[1]}, the width of `source`", got)

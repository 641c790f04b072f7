"""Pairs of texts on their way through the loop: batches of like length, what is measured on them, translations."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from labelspace import _devices
from labelspace.criteria.targets import IGNORED
from labelspace.data.dataset import Dataset, Split
from labelspace.data.vocabulary import SPECIAL, Vocabulary
from labelspace.learner import Learner
from labelspace.models.sentences import Longest, Sentences, sentences
from labelspace.sequences import quality, search
from labelspace.sequences.searched import FORCED, facts
from labelspace.training.build import Job
from labelspace.training.config import Config
from labelspace.training.feed import Feed, autocast, scores_of, summary

POOL = 100  # batches that are drawn together and cut by length: little padding, and little order among batches


class SentenceFeed:
    """One part of a dataset of pairs of texts, ready to be indexed; the same door as ``Feed``.

    Args:
        split: ids of sources and targets, padded with −100.
        dataset: whose labels are the tokens of the target side.
        config: the device that batches come to.
    """

    def __init__(self, split: Split, dataset: Dataset, config: Config) -> None:
        """Measure how long everything is."""
        self.split, self.y, self.classes = split, split.y, len(dataset.names)
        self.device = _devices.placed(config.device)
        self.lengths = (split.y != IGNORED).sum(dim=1)
        # batches are cut by the target, of which every position costs an output layer
        self.ranks = self.lengths * (split.x.shape[1] + 1) + (split.x != IGNORED).sum(dim=1)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.y)

    def count(self, rows: Tensor) -> int:
        """Return how many labels so many pairs have."""
        return int(self.lengths[rows].sum())

    def epoch(self, size: int, draws: torch.Generator) -> list[Tensor]:
        """Return the batches of an epoch, in a random order; pairs of one batch are of like length."""
        pools = torch.split(torch.randperm(len(self), generator=draws), POOL * size)
        batches = [batch for pool in pools for batch in torch.split(self.by_length(pool), size)]
        return [batches[place] for place in torch.randperm(len(batches), generator=draws).tolist()]

    def by_length(self, rows: Tensor) -> Tensor:
        """Return rows from short to long."""
        return rows[self.ranks[rows].argsort(stable=True)]

    def pair(self, rows: Tensor, y: Tensor) -> tuple[Sentences, Tensor]:
        """Return a batch as the model reads it, and the labels of its real positions, both on the device.

        Args:
            rows: which pairs.
            y: their labels, padded; a pair whose labels are all −100 takes part in nothing.
        """
        batch, packed = sentences(self.split.x[rows], y, self.classes)
        moved = {name: _devices.moved(getattr(batch, name), self.device) for name in ("source", "previous", "kept")}
        return batch._replace(**moved), _devices.moved(packed, self.device)


def feed_of(split: Split, dataset: Dataset, config: Config) -> Feed | SentenceFeed:
    """Return a part of a dataset, ready to be indexed."""
    return (SentenceFeed if dataset.kind == "sequences" else Feed)(split, dataset, config)


class Measured(NamedTuple):
    """What a learner does on a part of the data: accuracy and nll, and what a record keeps of each sample."""

    numbers: dict[str, float]
    kept: dict[str, Tensor]


def measured(learner: Learner, feed: Feed | SentenceFeed, config: Config) -> Measured:
    """Return accuracy and negative log-likelihood, per sample or per token, and what they were computed from."""
    if isinstance(feed, Feed):
        scores = scores_of(learner, feed, config)
        return Measured(summary(scores, feed.y), {"scores": scores, **feed.known()})
    kept = _per_pair(learner, feed, config)
    tokens = int(kept["tokens"].sum())
    if not tokens:
        return Measured({}, kept)
    right, likelihood = float(kept["right"].sum()), float(kept["log_likelihood"].sum())
    return Measured({"accuracy": right / tokens, "nll": -likelihood / tokens}, kept)


@torch.no_grad()
def _per_pair(learner: Learner, feed: SentenceFeed, config: Config) -> dict[str, Tensor]:
    """Return the sum of log p(token), how many tokens are the likeliest, and how many there are, of each pair."""
    likelihood = torch.zeros(len(feed), dtype=torch.float64)
    right, tokens = torch.zeros_like(feed.lengths), feed.lengths.clone()
    learner.eval()
    for rows in torch.split(feed.by_length(torch.arange(len(feed))), config.batch_size):
        x, y = feed.pair(rows, feed.y[rows])
        with autocast(config, feed.device):
            scores = learner(x)
        owner = rows.repeat_interleave(feed.lengths[rows])
        wide = scores if scores.dtype == torch.float64 else scores.float()
        likelihood.index_add_(0, owner, -cross_entropy(wide, y, reduction="none").cpu().double())
        right.index_add_(0, owner, (scores.argmax(dim=1) == y).cpu().to(right.dtype))
    learner.train()
    return {"log_likelihood": likelihood, "right": right, "tokens": tokens}


@torch.no_grad()
def translations(
    learner: Learner, x: Tensor, target: Vocabulary, config: Config, device: torch.device, beam: int | None = None
) -> tuple[list[str], int]:
    """Return what a trained model makes of sources, and how many texts the search ended by force.

    Args:
        learner: of a finished run.
        x: ids of sources, padded with −100.
        target: in whose words to say it.
        config: of the run: the width of the search, and in which precision to compute.
        device: where the learner is.
        beam: another width.
    """
    learner.eval()
    lengths = (x != IGNORED).sum(dim=1)
    with autocast(config, device):
        found = search.translate(
            learner.model,  # type: ignore[arg-type]
            learner.criterion.scores,
            _devices.moved(x.clamp(min=0), device),
            lengths,
            beam=config.beam if beam is None else beam,
        )
    limits = search.limits_of(lengths, positions=_positions(learner)).tolist()
    forced = sum(len(ids) + 1 >= limit for ids, limit in zip(found, limits, strict=True))  # its end counts too
    return [target.decode(ids) for ids in found], forced


def _positions(learner: Learner) -> int | None:
    longest = learner.model.longest
    assert isinstance(longest, Longest)
    return longest.target


def searched(learner: Learner, job: Job) -> dict[str, float]:
    """Return how the texts of a run were looked for; nothing of other kinds of data.

    Args:
        learner: trained.
        job: of the run.
    """
    return facts(job.config.beam, _positions(learner)) if job.dataset.kind == "sequences" else {}


def translated(learner: Learner, split: Split, job: Job) -> tuple[list[str], dict[str, float]]:
    """Return the translations of a part's sources, how near they come to its answers, and how many have no own end.

    Args:
        learner: trained.
        split: sources with their answers.
        job: of the run.
    """
    if not len(split):
        return [], {}
    target = Vocabulary.stored(job.dataset.source["vocabularies"]["target"])
    found, forced = translations(learner, split.x, target, job.config, _devices.placed(job.config.device))
    assert split.answers is not None
    scores = quality.measures_for(target.tokens[len(SPECIAL) :], target.lowercase).values()
    return found, {**{each.name.lower(): each(found, split.answers) for each in scores}, FORCED: float(forced)}

"""The training loop for many members in step: what ``training.loop`` does for one, line by line."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, final

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from labelspace.augment.mixing import mixups
from labelspace.augment.named import Augment, share_of
from labelspace.learner import Learner
from labelspace.records import RunFolder
from labelspace.sweeps.stacked import Stack
from labelspace.training.build import Job, training_labels
from labelspace.training.config import generator
from labelspace.training.feed import Feed, fit_labels, in_batches, to_minimise
from labelspace.training.loop import TrainingError, not_finite
from labelspace.training.optimizer import HEAD, add_penalty, learning_rate, make_optimizer, set_rate

NUMBERS = 2**22  # in a batch of evaluation, which every member gets a copy of


class Member(NamedTuple):
    """One of the runs: what to train, the learner at its start, and where the run is kept, if anywhere."""

    job: Job
    learner: Learner
    folder: RunFolder | None


@final
class Together:
    """Training of all members; their learners are trained in place.

    Args:
        members: jobs that differ in seed, float options, relations of the classes and how much is mixed only.
    """

    def __init__(self, members: Sequence[Member]) -> None:
        """Stack the learners."""
        self.jobs = [member.job for member in members]
        self.config, self.dataset = self.jobs[0].config, self.jobs[0].dataset
        # noise and order depend on nothing but the seed, what is mixed on how much is mixed too
        drawn = {(job.config.seed, job.config.augment): job for job in self.jobs}
        self.seeds = [seed for seed, _ in drawn]
        # a stack is mixed up by mixup alone
        steps = [step for _, augment in drawn for step in Augment.parse(augment, self.dataset.kind).steps]
        self.shares = [share_of(step) for step in steps]
        places = {key: place for place, key in enumerate(drawn)}
        self.draw_of = torch.tensor([places[job.config.seed, job.config.augment] for job in self.jobs])
        self.y = torch.stack([training_labels(job) for job in drawn.values()])
        self.feed = Feed(self.dataset.train, self.dataset, self.config)
        self.validation = Feed(self.dataset.validation, self.dataset, self.config)
        self.learners = [member.learner for member in members]
        self.stack = Stack(self.learners)
        self.optimizer = make_optimizer(self.config, self.stack.parameter_groups(self.config.weight_decay))
        self.history: list[list[dict[str, float]]] = [[] for _ in self.jobs]
        self.failures: dict[int, TrainingError] = {}
        self.best_value = [math.inf] * len(self.jobs)
        self.best_epoch = [-1] * len(self.jobs)
        self.best: dict[int, dict[str, Tensor]] = {}  # what a member's learner held at its best epoch

    def run(self) -> None:
        """Train all members to the end, and go back to the epoch that is to be kept."""
        for epoch in range(self.config.epochs):
            set_rate(self.optimizer, learning_rate(self.config, epoch))
            total = torch.zeros(len(self.jobs), dtype=torch.float64)
            for step, rows in enumerate(self._batches(epoch)):
                total += self._step((epoch, step), rows) * rows.shape[1]
            self._end_epoch(epoch, total / len(self.feed))
            if len(self.failures) == len(self.jobs):
                return
        for number, state in self.best.items():
            self.learners[number].load_state_dict(state)

    def _batches(self, epoch: int) -> Iterator[Tensor]:
        """Yield the rows of each batch for every draw, ``(draws, B)``."""
        streams = [generator(seed, "order", epoch) for seed in self.seeds]
        order = torch.stack([torch.randperm(len(self.feed), generator=stream) for stream in streams])
        yield from in_batches(order, self.config.batch_size)

    def _step(self, place: tuple[int, int], rows: Tensor) -> Tensor:
        """Take one step and return the members' losses."""
        if self.config.augment:
            x, y = self._mixed(place, rows)
            losses = self.stack.backward(x.index_select(0, self.draw_of), y.index_select(0, self.draw_of))
        else:
            x, y = self._samples(rows), self.y.gather(1, rows)
            losses = self.stack.backward(x.index_select(0, self.draw_of), y.index_select(0, self.draw_of))
        self._note_failures(place[0], "loss", losses)
        add_penalty(self.stack.parameters[f"model.{HEAD}"], self.config.head_l2)
        self.optimizer.step()
        return losses

    def _mixed(self, place: tuple[int, int], rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the samples and mixed labels of every draw, ``(draws, B, F)`` and ``(draws, B, K)``."""
        streams = [generator(seed, "augmentation", *place) for seed in self.seeds]
        y = self.y.gather(1, rows)
        x, soft = mixups(self._samples(rows), y, len(self.dataset.names), self.shares, streams)
        return x, soft / soft.sum(dim=-1, keepdim=True)

    def _samples(self, rows: Tensor) -> Tensor:
        flat, ready = rows.reshape(-1), self.feed.ready
        # index_select is several times faster than indexing
        x = self.feed.take(flat) if ready is None else ready.index_select(0, flat)
        return x.reshape(*rows.shape, -1)

    def _note_failures(self, epoch: int, what: str, losses: Tensor) -> None:
        """Keep a member's first failure; it trains on, on numbers that nobody will read."""
        if bool(losses.isfinite().all()):
            return
        for member in (~losses.isfinite()).nonzero().flatten().tolist():
            text = not_finite(self.config, epoch, what, losses[member].item())
            self.failures.setdefault(member, TrainingError(text))

    def _end_epoch(self, epoch: int, losses: Tensor) -> None:
        if self.stack.running.sums:
            self.stack.running.end_epoch()
        for learner, draw in zip(self.learners, self.draw_of.tolist(), strict=True):
            fit_labels(learner, self.feed, self.y[draw])
        self.stack.running.collect()
        scores, found = self.scores(self.validation)
        if len(self.validation):
            self._note_failures(epoch, "validation loss", torch.tensor([summary["nll"] for summary in found]))
        for lines, loss, summary in zip(self.history, losses.tolist(), found, strict=True):
            line = {"epoch": epoch, "learning_rate": learning_rate(self.config, epoch), "train_loss": loss}
            lines.append({**line, **{f"validation_{name}": value for name, value in summary.items()}})
        self._keep_if_better(epoch, found, scores)

    def _keep_if_better(self, epoch: int, found: list[dict[str, float]], scores: Tensor) -> None:
        """Remember the weights of every member's first epoch that is better than all before it."""
        if self.config.best_by == "last":
            self.best_epoch = [epoch] * len(self.jobs)
            return
        values = to_minimise(found, self.config.best_by, scores, self.validation.y)
        for number, value in enumerate(values):
            if value < self.best_value[number]:
                self.best_value[number], self.best_epoch[number] = value, epoch
                state = self.learners[number].state_dict()
                self.best[number] = {name: value.detach().clone() for name, value in state.items()}

    def scores(self, feed: Feed) -> tuple[Tensor, list[dict[str, float]]]:
        """Return all members' scores ``(M, N, K)`` of a part of the data, and their accuracy and likelihood."""
        if not len(feed):
            return torch.zeros(len(self.jobs), 0, len(self.dataset.names)), [{} for _ in self.jobs]
        features = math.prod(self.dataset.input_shape)
        scores = self.stack.scores(x for x, _ in feed.batches(1 + NUMBERS // (features * len(self.jobs))))
        return scores, _summaries(scores, feed.y)


def _summaries(scores: Tensor, y: Tensor) -> list[dict[str, float]]:
    """Return ``feed.summary`` of every member."""
    accuracy = (scores.argmax(dim=2) == y).double().mean(dim=1)
    # classes in the middle, as cross_entropy wants them here, also halve its time
    losses = cross_entropy(scores.mT.double(), y.expand(len(scores), -1), reduction="none").mean(dim=1)
    return [{"accuracy": a, "nll": b} for a, b in zip(accuracy.tolist(), losses.tolist(), strict=True)]

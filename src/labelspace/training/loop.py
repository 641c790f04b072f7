"""The training loop, to be read from top to bottom."""

import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from labelspace import _checks, _devices, _distributed
from labelspace.augment.named import Augment
from labelspace.criteria.targets import IGNORED
from labelspace.learner import Learner
from labelspace.models import fit_inputs
from labelspace.training import checkpoint, chunks
from labelspace.training.build import Job, Outline, make_learner, training_labels
from labelspace.training.config import Config, generator, stream_seed
from labelspace.training.feed import Feed, autocast, fit_labels, to_minimise
from labelspace.training.optimizer import add_penalty, learning_rate, make_optimizer, set_rate
from labelspace.training.sentences import Measured, SentenceFeed, feed_of, measured

Numbers = dict[str, float | str]  # of an event, by their names
Report = Callable[[str, Numbers], None]  # takes the event's name too


class TrainingError(_checks.WorkError):
    """Training that cannot go on, for example because the loss is not a number."""


class Loop:
    """One run: training, evaluation on validation data after every epoch, checkpoints on the way.

    Args:
        job: what to train.
        folder: where checkpoints go; None for none.
        seconds: write a checkpoint when so many seconds have passed since the last; a run is the same for any value.
        report: called with an event's name and its numbers, for progress bars and trackers.
        teacher: a model whose outputs are passed to methods that need them.
    """

    def __init__(
        self,
        job: Job,
        folder: Path | None = None,
        *,
        seconds: float = 30.0,
        report: Report | None = None,
        teacher: nn.Module | None = None,
    ) -> None:
        """Build everything and go back to the last checkpoint, if there is one."""
        self.job, self.config = job, job.config
        self.folder, self.seconds = folder, seconds
        self.report = report or (lambda event, numbers: None)
        self.feed = feed_of(job.dataset.train, job.dataset, job.config)
        self.validation = feed_of(job.dataset.validation, job.dataset, job.config)
        # looked at for the record only: nothing may be chosen by it
        self.test = feed_of(job.dataset.test, job.dataset, job.config) if "test-curve" in job.config.record else None
        self.y = training_labels(job)
        self.weights = job.weights
        self.augment = Augment.parse(self.config.augment, job.dataset.kind)
        self.device = self.feed.device
        # built on the CPU, so that the start is the same on every device
        self.learner = make_learner(job.config, Outline.of(job.dataset), job.space, job.options).to(self.device)
        if isinstance(self.feed, Feed):
            fit_inputs(self.learner.model, len(self.feed), self.feed.take)
        if "teacher" in self.learner.criterion.needs and teacher is None:
            remedy = "Train a teacher first and pass its run folder."
            raise _checks.fail("train", "teacher", f"given for {job.config.method}", None, remedy)
        self.teacher = None if teacher is None else teacher.to(self.device)
        self.optimizer = make_optimizer(self.config, self.learner.parameter_groups(self.config.weight_decay))
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=self.config.precision == "float16")
        self.progress = checkpoint.Progress()
        self.judged: Measured | None = None  # validation data at the epoch that is kept, unless a resume came after it
        self._restore()
        # of the losses of this epoch; on the device, where reading it would make every step wait
        self.total = torch.tensor(self.progress.loss_sum, dtype=_devices.wide(self.device), device=self.device)
        self.call = DistributedDataParallel(self.learner) if _distributed.world_size() > 1 else self.learner

    def run(self) -> Learner:
        """Train to the end and return the learner, at the epoch that the configuration wants to keep."""
        state, last_saved = self.progress, time.monotonic()
        self.learner.train()
        while state.epoch < self.config.epochs and not self._stopped():
            set_rate(self.optimizer, learning_rate(self.config, state.epoch))
            for step, rows in self._batches(state.epoch):
                began = time.perf_counter()
                self._step(step, rows)
                state.step, state.seconds = step + 1, state.seconds + time.perf_counter() - began
                last_saved = self._save_if_due(last_saved, distributed=False)
            self._end_epoch()
            last_saved = self._save_if_due(last_saved, distributed=True)
        if state.best is not None:
            self.learner.load_state_dict(state.best)
        return self.learner

    def _batches(self, epoch: int) -> Iterator[tuple[int, Tensor]]:
        """Yield the batches of an epoch that are still to do."""
        batches = self.feed.epoch(self.config.batch_size, generator(self.config.seed, "order", epoch))
        for step in range(self.progress.step, len(batches)):
            yield step, batches[step]

    def _step(self, step: int, rows: Tensor) -> None:
        """Take one step on a batch, and add its loss to the epoch's."""
        samples = self.feed.count(rows)
        # the model's own draws (dropout) too are a function of the place, so nothing has to be remembered
        place = (self.progress.epoch, step)
        _devices.seed(self.device, stream_seed(self.config.seed, "model", *place, _distributed.rank()))
        x, y, extras = self._batch(place, rows)
        if self.teacher is not None:
            with torch.no_grad():
                extras["teacher"] = self.teacher(x)
        # before the loss, which may bring gradients of its own: those of the last step would lie beside them
        self.optimizer.zero_grad()
        loss = self._loss(x, y, extras)
        mean = _mean_over_ranks(loss, self.total.dtype)
        if self.device.type == "cpu":
            self._check(float(mean))
        self.total = self.total + mean * samples
        self.scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        self.scaler.unscale_(self.optimizer)
        if self.config.head_l2:
            add_penalty(self.learner.model.head_weight(), self.config.head_l2)  # type: ignore[operator]
        if self.config.clip is not None:
            nn.utils.clip_grad_norm_(self.learner.parameters(), self.config.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def _batch(self, place: tuple[int, int], rows: Tensor) -> tuple[object, Tensor, dict[str, Tensor]]:
        """Return this rank's part of a batch: samples, labels, and what else methods may need."""
        if isinstance(self.feed, SentenceFeed):
            # divided before it is cut to the longest: every rank cuts its own part
            return *self.feed.pair(self._share(rows), self._share(self.y[rows], padding=IGNORED)), {}
        x, y = self.feed.pair(rows, self.y[rows])
        if self.augment:
            draws = generator(self.config.seed, "augmentation", *place)
            x, y = self.augment(x, y, len(self.job.dataset.names), draws)
        x, y, rows = self._share(x), self._share(y, padding=IGNORED), self._share(rows)
        extras = {"index": _devices.moved(rows, self.device)}
        if self.weights is not None:
            if y.is_floating_point():
                raise _checks.fail("train", "weights", "of samples as they are", "samples that are mixed")
            extras["sample_weight"] = _devices.moved(self.weights[rows], self.device)
        return x, y, extras

    def _check(self, value: float) -> None:
        """Stop at a loss that is not a number; the weights before this step are still good."""
        if math.isfinite(value):
            return
        if self.folder is not None and self._finite():
            self._save()
        raise self._not_finite(value, "loss")

    def _settle(self) -> None:
        """Wait for the device and note the losses so far; stop where one of them was not a number."""
        self.progress.loss_sum = float(self.total)
        if not math.isfinite(self.progress.loss_sum):
            raise self._not_finite(self.progress.loss_sum, "loss")

    def _loss(self, x: object, y: Tensor, extras: dict[str, Tensor]) -> Tensor:
        try:
            with autocast(self.config, self.device):
                if chunks.serve(self.learner, self.config, len(y)):
                    return chunks.loss(self.learner, x, y, extras)
                loss: Tensor = self.call(x, y, **extras)
                return loss
        except ValueError as error:
            if "more than 1 value per channel" not in str(error):
                raise
            got = f"{len(y)} (the model normalises over the batch)"
            raise _checks.fail("train", "batch_size", "at least 2 for this model", got) from error

    def _share(self, tensor: Tensor, padding: int | None = None) -> Tensor:
        """Return this rank's part of a batch; the last ranks repeat a sample and ignore it where parts are unequal."""
        world = _distributed.world_size()
        if world == 1:
            return tensor
        size = -(-len(tensor) // world)
        start = _distributed.rank() * size
        mine = tensor[start : start + size]
        missing = size - len(mine)
        if missing == 0:
            return mine
        filler = tensor[:1].expand(missing, *tensor.shape[1:])
        if padding is not None:
            filler = torch.zeros_like(filler) if filler.is_floating_point() else torch.full_like(filler, padding)
        return torch.cat([mine, filler])

    def _end_epoch(self) -> None:
        state, waiting = self.progress, time.perf_counter()
        self._settle()
        began = time.perf_counter()
        state.seconds += began - waiting
        self.learner.end_epoch()
        fit_labels(self.learner, self.feed, self.y)
        judged = measured(self.learner, self.validation, self.config)
        validation = judged.numbers
        if validation and not math.isfinite(validation["nll"]):
            raise self._not_finite(validation["nll"], "validation loss")
        line: dict[str, float] = {
            "epoch": state.epoch,
            "learning_rate": learning_rate(self.config, state.epoch),
            "train_loss": state.loss_sum / self.feed.count(torch.arange(len(self.feed))),
            **{f"validation_{name}": value for name, value in validation.items()},
        }
        seconds = {"train_seconds": state.seconds, "evaluation_seconds": time.perf_counter() - began}
        self._keep_if_better(judged)
        if self.test is not None:
            tested = measured(self.learner, self.test, self.config).numbers
            line |= {f"test_{name}": value for name, value in tested.items()}
            state.times.append({"epoch": state.epoch, **seconds})
        state.history.append(line)
        state.epoch, state.step, state.loss_sum, state.seconds = state.epoch + 1, 0, 0.0, 0.0
        self.total = torch.zeros_like(self.total)
        # seconds have a place of their own: an epoch's line holds only what the configuration determines
        self.report("epoch", {**line, "epochs": self.config.epochs, "seconds": sum(seconds.values())})

    def _keep_if_better(self, validation: Measured) -> None:
        """Remember the weights of the first epoch that is better than all before it."""
        state = self.progress
        if self.config.best_by == "last":
            state.best_epoch, self.judged = state.epoch, validation
            return
        scores = validation.kept.get("scores", torch.empty(0))  # pairs of texts have none
        (value,) = to_minimise([validation.numbers], self.config.best_by, scores[None], self.validation.y)
        if value < state.best_value:
            state.best_value, state.best_epoch, self.judged = value, state.epoch, validation
            state.best = {name: value.detach().clone() for name, value in self.learner.state_dict().items()}

    def _stopped(self) -> bool:
        patience = self.config.patience
        return patience is not None and self.progress.epoch - 1 - self.progress.best_epoch >= patience

    def _save_if_due(self, last_saved: float, distributed: bool) -> float:
        """Save when it is time, and return when it was last done.

        Ranks together save between epochs only: moving their pending statistics to rank 0 within an epoch would add
        them up in another order, and numbers must not depend on the clock.
        """
        if self.folder is None or distributed != (_distributed.world_size() > 1):
            return last_saved
        if not _agreed(time.monotonic() - last_saved >= self.seconds):
            return last_saved
        self._save()
        return time.monotonic()

    def _save(self) -> None:
        assert self.folder is not None
        self._settle()
        self.learner.criterion.gather()
        if _distributed.rank() != 0:
            return
        state: checkpoint.State = {
            "learner": self.learner.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "progress": dict(vars(self.progress)),
        }
        checkpoint.save(self.folder, state)
        self.report("saved", {"epoch": self.progress.epoch, "step": self.progress.step})

    def _finite(self) -> bool:
        """Whether everything a checkpoint would hold can be used: a bad batch may have entered running statistics."""
        state = self.learner.state_dict().values()
        return all(bool(torch.isfinite(value).all()) for value in state if value.is_floating_point())

    def _restore(self) -> None:
        state = None if self.folder is None else checkpoint.load(self.folder, self._check_state)
        if state is None:
            return
        self.learner.load_state_dict(state["learner"])
        self.optimizer.load_state_dict(state["optimizer"])
        if state.get("scaler"):
            self.scaler.load_state_dict(state["scaler"])
        self.progress = checkpoint.Progress(**state["progress"])
        self.report("resumed", {"epoch": self.progress.epoch, "step": self.progress.step})

    def _check_state(self, state: object) -> None:
        steps = len(self.feed.epoch(self.config.batch_size, generator(self.config.seed, "order", 0)))
        checkpoint.check_state(state, self.learner.state_dict(), self.optimizer, self.config.epochs, steps)

    def _not_finite(self, value: float, what: str) -> TrainingError:
        there = self.folder is not None and (self.folder / checkpoint.CURRENT).is_file()
        kept = f" The last good checkpoint is kept in {self.folder}." if there else ""
        return TrainingError(not_finite(self.config, self.progress.epoch, what, value) + kept)


def not_finite(config: Config, epoch: int, what: str, value: float) -> str:
    """Return what to say of a loss that is not a number."""
    where = f"method {config.method!r}, epoch {epoch}, learning rate {learning_rate(config, epoch):g}"
    remedy = "Lower learning_rate, set clip, or check the data for extreme values"
    return f"The {what} became {value} ({where}). {remedy}."


def _agreed(due: bool) -> bool:
    """Return rank 0's answer: clocks differ, and saving is something all ranks do together."""
    if _distributed.world_size() == 1:
        return due
    return bool(_distributed.sum_over_ranks(torch.tensor(float(due and _distributed.rank() == 0))) > 0)


def _mean_over_ranks(loss: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the loss of the whole batch: ranks hold shares that were scaled up by their number."""
    return _distributed.sum_over_ranks(loss).to(dtype) / _distributed.world_size()

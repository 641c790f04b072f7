"""What takes the place of the loop for estimators: one fit, on the samples that networks would be trained on."""

import time

import torch
from torch import Tensor

from labelspace import models
from labelspace.learner import Learner
from labelspace.training.build import Job, Outline, make_learner, training_labels
from labelspace.training.checkpoint import Progress
from labelspace.training.config import stream_seed
from labelspace.training.feed import Feed
from labelspace.training.sentences import measured


def fitted(job: Job) -> tuple[Learner, Progress]:
    """Fit the estimator of a job; return it as a learner, and what there is to say of the one pass that it took.

    Nothing is kept on the way: a fit that was killed starts again.

    Args:
        job: what to fit.
    """
    learner = make_learner(job.config, Outline.of(job.dataset), job.space, job.options)
    model = learner.model
    assert isinstance(model, models.Fitted)
    feed = Feed(job.dataset.train, job.dataset, job.config)
    rows, y = torch.arange(len(feed)), training_labels(job)
    rows, y, weight = _entries(learner, rows, y, job.weights)
    spent = model.fit(feed.take(rows), y, stream_seed(job.config.seed, "model"), weight)
    began = time.perf_counter()
    numbers = measured(learner, Feed(job.dataset.validation, job.dataset, job.config), job.config).numbers
    line = {"epoch": 0.0, **{f"validation_{name}": value for name, value in numbers.items()}}
    seconds = {"train_seconds": spent, "evaluation_seconds": time.perf_counter() - began}
    return learner, Progress(epoch=1, best_epoch=0, history=[line], times=[{"epoch": 0.0, **seconds}])


def _entries(learner: Learner, rows: Tensor, y: Tensor, own: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return which samples enter the fit, as what class, and with what weight.

    With one-hot labels every sample enters once. With others it enters once for every class of its row of targets,
    with that share as its weight: the loss of an estimator that takes weights is then the one with soft targets.
    """
    criterion = learner.criterion
    weight = None if criterion.weight is None else criterion.weight.double()[y]
    if own is not None:
        weight = own.double() if weight is None else weight * own
    targets = None if criterion.name == "onehot" else criterion.target_matrix()
    if targets is None:
        return rows, y, weight
    shares = targets[y] if weight is None else targets[y] * weight[:, None]
    places, classes = torch.nonzero(shares, as_tuple=True)
    return rows[places], classes, shares[places, classes]

"""Scores of a part of the data, and the two numbers that every epoch reports."""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from labelspace import _devices, _distributed
from labelspace.learner import Learner
from labelspace.training.config import Config
from labelspace.training.feed import Feed

BATCH = 1024
HALF = {"bfloat16": torch.bfloat16, "float16": torch.float16}


@torch.no_grad()
def scores_of(learner: Learner, feed: Feed, config: Config) -> Tensor:
    """Return ``(N, K)`` scores in float32 or better, on the CPU."""
    if not len(feed):
        return torch.zeros(0, len(learner.criterion.names))
    learner.eval()
    with autocast(config, feed.device):
        found = [learner(x).cpu() for x, _ in feed.batches(BATCH)]
    learner.train()
    return torch.cat(found)


def autocast(config: Config, device: torch.device) -> torch.autocast:
    """Return the context in which a run's model computes; a CPU takes float32 for a run that was trained in float16."""
    enabled = config.precision in HALF and not (config.precision == "float16" and device.type == "cpu")
    return torch.autocast(device.type, dtype=HALF.get(config.precision, torch.bfloat16), enabled=enabled)


@torch.no_grad()
def fit_labels(learner: Learner, feed: Feed, y: Tensor) -> None:
    """Let a method that wants it see all training outputs, with the labels it trains on, before it is judged."""
    if not learner.criterion.full_pass:
        return
    learner.eval()
    # every rank brings its own share; the criterion adds them up
    shares = torch.split(torch.arange(_distributed.rank(), len(feed), _distributed.world_size()), BATCH)
    learner.criterion.fit_labels(
        (output_of(learner.model, feed.take(rows)), _devices.moved(y[rows], feed.device)) for rows in shares
    )
    learner.train()


def output_of(model: nn.Module, x: Tensor) -> Tensor:
    """Return a model's output without its features."""
    result = model(x)
    output = result[0] if isinstance(result, tuple) else result
    assert isinstance(output, Tensor)
    return output


def summary(scores: Tensor, y: Tensor) -> dict[str, float]:
    """Return accuracy and negative log-likelihood of softmax(scores); nothing where there are no samples."""
    if not len(y):
        return {}
    return {
        "accuracy": (scores.argmax(dim=1) == y).double().mean().item(),
        "nll": cross_entropy(scores.double(), y).item(),
    }


def to_minimise(summary: dict[str, float], best_by: str) -> float:
    """Return the number by which an epoch is better than another: the smaller the better.

    Example:
        >>> to_minimise({"accuracy": 0.75, "nll": 1.5}, "error")
        0.25
    """
    return 1 - summary["accuracy"] if best_by == "error" else summary["nll"]

"""The configurations that the kill tests train: every kind of state at once, and pairs of texts."""

from typing import Any

from labelspace.training.config import Config
from small_corpus import SMALL

EXTRA = {"lwr": {"every": 2}, "lwal": {"repel": 0.1}, "ols": {}, "lls": {}, "labelemb": {}}
# what differs between them: every way to choose an epoch, to let the rate fall and to record
OTHER: dict[str, dict[str, Any]] = {
    "ols": {"augment": ("rotate:15", "resized-crop:0.5", "mixup:0.4"), "record": ("test-curve",)},
    "lls": {"best_by": "error", "schedule": "exponential", "gamma": 0.8, "record": ("test-curve",)},
    "labelemb": {"patience": None, "best_by": "error", "momentum": 0.0},
    "lwal": {"patience": None, "best_by": "nll", "schedule": "step", "milestones": (2, 4)},
    "lwr": {"augment": ("rotate",)},
}


def configuration(method: str, corpus: str | None = None) -> Config:
    """Return a short run with augmentation, a schedule, and a choice of the epoch to keep; or one on pairs of texts."""
    if corpus is not None:
        texts = {**SMALL, "epochs": 6, "best_by": "nll", "schedule": "linear", "clip": 1.0, "seed": 3}
        return Config(data=corpus, method=method, method_options={"rank": 3}, **texts)
    usual: dict[str, Any] = {
        "data": "digits",
        "limit": 300,
        "method": method,
        "method_options": EXTRA[method],
        "model": "mlp-16",
        "epochs": 6,
        "batch_size": 64,
        "optimizer": "sgd",
        "learning_rate": 0.1,
        "schedule": "linear",
        "clip": 1.0,
        "patience": 5,
        "augment": ("mixup:0.4",),
        "label_noise": "symmetric:0.1",
        "seed": 3,
    }
    return Config(**{**usual, **OTHER[method]})

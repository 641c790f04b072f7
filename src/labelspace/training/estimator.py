"""What a configuration means for an estimator, which is fitted once where a network takes steps."""

from labelspace import _checks
from labelspace.criteria import criterion_class, methods
from labelspace.training.config import Config

# what only training by steps heeds
OF_STEPS = (
    "batch_size", "optimizer", "learning_rate", "momentum", "weight_decay", "head_l2", "schedule", "milestones",
    "gamma", "warmup_epochs", "clip", "precision", "channels_last", "patience", "best_by", "record", "device",
)  # fmt: skip


def configured(config: Config, kind: str) -> Config:
    """Return the configuration of a fit: what it does not heed is as usual, so that equal fits have equal keys.

    Args:
        config: of an estimator.
        kind: of the data.

    Example:
        >>> configured(Config(model="sklearn:SVC", epochs=30, learning_rate=0.1), "table").epochs
        1
    """
    if kind == "sequences":
        remedy = "Choose a name like seq2seq-256."
        raise _checks.fail("train", "model", "one that reads and writes texts", repr(config.model), remedy)
    if config.augment:
        remedy = "It sees every sample once, as it is."
        raise _checks.fail("train", "augment", "left out for an estimator", list(config.augment), remedy)
    if config.world > 1:
        raise _checks.fail("train", "model", "a network, for several ranks", repr(config.model))
    usual = {name: Config.model_fields[name].default for name in OF_STEPS}
    return config.model_copy(update={**usual, "epochs": 1})


def check_method(config: Config) -> None:
    """Refuse a method that is more than targets: an estimator has a loss of its own, and takes only weights."""
    if not has_fixed_targets(config.method):
        known = ", ".join(name for name in methods() if has_fixed_targets(name))
        expected = f"one whose targets are fixed, for an estimator: {known}"
        raise _checks.fail("train", "method", expected, repr(config.method))


def has_fixed_targets(method: str) -> bool:
    """Return whether a method is plain cross-entropy with targets that training does not change.

    Example:
        >>> [name for name in ("onehot", "uniform", "lls", "focal") if has_fixed_targets(name)]
        ['onehot', 'uniform']
    """
    kind = criterion_class(method)
    return method == "onehot" or (kind.invertible and not kind.label_parameters and not kind.random)

"""The configuration that the kill tests train: every kind of state at once."""

from labelspace.engine.config import Config

EXTRA = {"lwr": {"every": 2}, "lwal": {"repel": 0.1}, "ols": {}, "lls": {}, "labelemb": {}}


def configuration(method: str) -> Config:
    """Return a short run with momentum, a schedule, mixup where it is allowed, and early stopping."""
    return Config(
        data="digits",
        limit=300,
        method=method,
        method_options=EXTRA[method],
        model="mlp-16",
        epochs=6,
        batch_size=64,
        optimiser="sgd",
        learning_rate=0.1,
        schedule="linear",
        clip=1.0,
        patience=5,
        augment=() if method == "lwr" else ("mixup:0.4",),
        label_noise="symmetric:0.1",
        seed=3,
    )

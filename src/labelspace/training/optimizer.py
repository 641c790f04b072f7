"""The optimizer and its learning rate: a pure function of the epoch, so that a resumed run needs no scheduler state."""

import torch
from torch import Tensor

from labelspace.training.config import Config

HEAD = "head.weight"  # of every network: the weights of its last linear layer


def make_optimizer(config: Config, groups: list[dict[str, object]]) -> torch.optim.Optimizer:
    """Return the optimizer over parameter groups that carry their own weight decay."""
    # a fused one looks on the device itself whether scaled gradients overflowed: the others would wait for the answer
    fused = True if config.precision == "float16" else None
    foreach = None if fused else True
    if config.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=config.learning_rate, momentum=config.momentum, foreach=foreach, fused=fused)
    kind = torch.optim.AdamW if config.optimizer == "adamw" else torch.optim.Adam
    return kind(groups, lr=config.learning_rate, foreach=foreach, fused=fused)


def learning_rate(config: Config, epoch: int) -> float:
    """Return the rate of an epoch.

    ``linear`` falls in equal steps and would reach 0 after the last epoch; ``step`` multiplies by gamma at each
    milestone, ``exponential`` after every epoch; warm-up rises linearly over the first epochs.

    Example:
        >>> config = Config(schedule="linear", epochs=4, learning_rate=0.1)
        >>> [round(learning_rate(config, epoch), 3) for epoch in range(4)]
        [0.1, 0.075, 0.05, 0.025]
    """
    rate = config.learning_rate
    if config.schedule == "linear":
        rate *= 1 - epoch / config.epochs
    if config.schedule == "step":
        rate *= config.gamma ** sum(epoch >= milestone for milestone in config.milestones)
    if config.schedule == "exponential":
        rate *= config.gamma**epoch
    if epoch < config.warmup_epochs:
        rate *= (epoch + 1) / config.warmup_epochs
    return rate


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of every group."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def add_penalty(weight: Tensor, strength: float) -> None:
    """Add the gradient ``2λw`` of the penalty ``λ·Σw²`` to a weight's gradient; λ = 0 leaves it alone.

    As a part of the loss, so Adam divides it by the size of gradients and clipping sees it; weight decay is ``½λ·Σw²``
    (decoupled in adamw). Added here it is the same for one network, for many in a stack, and on several ranks. The loss
    that a run records is the method's own, without it: otherwise no two settings could be compared.

    Example:
        >>> weight = torch.tensor([1.0, -3.0], requires_grad=True)
        >>> weight.sum().backward()
        >>> add_penalty(weight, 0.1)
        >>> weight.grad
        tensor([1.2000, 0.4000])
    """
    if strength == 0:
        return
    assert weight.grad is not None
    # not in place: a gradient that is the same in every step may be kept as a constant
    weight.grad = weight.grad.add(weight.detach(), alpha=2 * strength)

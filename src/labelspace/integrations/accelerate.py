"""Accelerate: a ``Learner`` is prepared, accumulated and saved as any model; one line makes its checkpoints whole.

learner, optimizer, loader = accelerator.prepare(learner, optimizer, loader)
keep_statistics(accelerator)
with accelerator.accumulate(learner):
    accelerator.backward(learner(x, y))
accelerator.unwrap_model(learner).end_epoch()
"""

from collections.abc import MutableMapping, Sequence
from typing import Any

from torch import Tensor, nn

from labelspace import _checks
from labelspace.integrations._found import put_statistics, say_nothing_of_ranks


def keep_statistics(accelerator: Any) -> Any:
    """Let ``accelerator.save_state`` write what the running methods of all ranks have counted.

    On one process it does so anyway. Accelerate divides the loss by ``gradient_accumulation_steps``, so that
    accumulated batches are one large batch where all are of the same size and none has ignored labels.

    Args:
        accelerator: that has prepared a ``Learner``.

    Returns:
        A handle whose ``remove()`` undoes it.

    Example:
        >>> keep_statistics("an accelerator")
        Traceback (most recent call last):
        labelspace._checks.InputTypeError: `accelerator` of keep_statistics must be an Accelerator. Got str.
    """
    if not hasattr(accelerator, "register_save_state_pre_hook"):
        raise _checks.fail_type("keep_statistics", "accelerator", "an Accelerator", type(accelerator).__name__)

    def gathered(models: Sequence[nn.Module], weights: Sequence[MutableMapping[str, Tensor]], folder: str) -> None:
        for model, state in zip(models, weights, strict=True):
            put_statistics(model, state)

    for model in accelerator._models:
        say_nothing_of_ranks(model)
    return accelerator.register_save_state_pre_hook(gathered)

"""What a criterion notices of the loop that trains it, and says once: that nothing it learns ever arrives.

Two things go wrong without a trace: ``end_epoch()`` that is never called, and label parameters that no optimizer has.
Both look like the first steps of a sound loop, so that only time tells. Nothing here looks at values before it is all
but sure, and nothing is left on the way of a step once a loop has shown that it is sound.
"""

import inspect
import warnings
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

ROUNDS = 4  # times that training was left for evaluation: epochs of any length are shorter
STEPS = 100_000  # of one epoch, which nobody has
PASSES = 4  # times that as many samples were seen as there are
BACKWARDS = 1000  # gradients that nobody accumulates before a step
FEWEST = 20  # gradients that a step must have followed once training was left so often


class Loop:
    """What a criterion has seen of its loop: steps and samples since its start, rounds of training, ends of epochs."""

    training = True  # or judging, as when somebody looks for inputs that deceive a model

    def __init__(self) -> None:
        """Start with nothing seen."""
        self.steps = self.samples = self.rounds = 0
        self.steps_before = self.taught = 0  # steps before this round, and rounds that had any
        self.ends = False  # whether somebody ends epochs, or has promised to
        self.told = False

    def left(self, criterion: nn.Module) -> None:
        """Note that training is left for evaluation."""
        self.rounds += 1
        if self.steps > self.steps_before and not self.ends:
            self.steps_before = self.steps
            self.taught += 1
            if self.taught >= ROUNDS:
                self.tell(criterion)

    def observed(self, criterion: nn.Module, samples: int, known: int) -> None:
        """Note a step whose statistics wait for the end of the epoch.

        Args:
            criterion: that observed them.
            samples: of the step.
            known: how many there are to be seen; 0 where nobody knows.
        """
        self.steps += 1
        self.samples += samples
        if not self.ends and (self.steps == STEPS or 0 < PASSES * known < self.samples):
            self.tell(criterion)

    def tell(self, criterion: nn.Module) -> None:
        """Say that epochs end without anybody saying so."""
        if self.told or torch._C._functorch.peek_interpreter_stack() is not None:
            return
        self.told = True
        other = (
            ", or build it with commit_every=…"
            if "commit_every" in inspect.signature(type(criterion)).parameters
            else ""
        )
        warnings.warn(
            f"{type(criterion).__name__} has observed {self.steps:,} steps and end_epoch() was never called: its "
            f"labels are those it started with. Call criterion.end_epoch() after every epoch{other}.",
            stacklevel=3,
        )


class Still:
    """Watches label parameters until a step has moved them: those that no optimizer has never do.

    It is called with every gradient, and takes itself away with the second in a sound loop.

    Args:
        criterion: whose parameters they are.
        loop: what it has seen of its loop.
    """

    def __init__(self, criterion: nn.Module, loop: Loop) -> None:
        """Start watching."""
        self.owner, self.loop = type(criterion).__name__, loop
        self.names = {id(one): name for name, one in criterion.named_parameters() if one.requires_grad}
        self.first: tuple[int, Tensor, Tensor] | None = None  # version, and an entry whose gradient is not small
        self.backwards = self.rounds = self.watched = 0
        self.handles: list[RemovableHandle] = [
            one.register_post_accumulate_grad_hook(self)  # type: ignore[no-untyped-call]
            for one in criterion.parameters()
            if one.requires_grad
        ]

    def __call__(self, parameter: Any) -> None:
        """Look at one of them after a backward pass."""
        if not self.loop.training:
            return None
        if self.first is None:
            return self._begin(parameter)
        if id(parameter) != self.watched:
            return None
        version, place, value = self.first
        self.backwards += 1
        left = self.loop.rounds - self.rounds >= ROUNDS and self.backwards >= FEWEST
        if parameter._version == version and self.backwards < BACKWARDS and not left:
            return None
        # an optimizer that writes to .data leaves the version: one entry, looked at once, settles it
        if parameter._version == version and bool(torch.take(parameter.detach(), place) == value):
            self._tell(parameter)
        return self.stop()

    def _begin(self, parameter: Any) -> None:
        gradient = parameter.grad
        if gradient is None or gradient.layout != torch.strided or type(gradient.detach()) is not Tensor:
            return self.stop()  # sharded or sparse: not what this can tell
        place = _of_large(gradient.detach())  # stays where it is: no device is waited for
        self.first = (parameter._version, place, torch.take(parameter.detach(), place))
        self.watched, self.rounds = id(parameter), self.loop.rounds
        return None

    def _tell(self, parameter: Any) -> None:
        name = self.names.get(id(parameter), "its labels")
        warnings.warn(
            f"{name} of {self.owner} got {self.backwards + 1:,} gradients and never moved: no optimizer has it. Build "
            "the optimizer from Learner(model, criterion).parameter_groups(), or add criterion.parameters() to it.",
            stacklevel=2,
        )

    def stop(self) -> None:
        """Leave the parameters alone."""
        for handle in self.handles:
            handle.remove()
        self.handles = []


def _of_large(gradient: Any) -> Any:
    """Return where an entry lies that is not small, without as many numbers again."""
    if gradient.ndim < 2:
        return gradient.abs().argmax()
    rows = gradient.flatten(1)
    row = torch.linalg.vector_norm(rows, dim=1).argmax()
    return row * rows.shape[1] + rows.index_select(0, row.reshape(1)).abs().argmax()

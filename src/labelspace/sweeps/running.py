"""What a running method has seen and made of it, of all members of a stack: one tensor for each name.

A criterion that keeps statistics observes every batch and commits now and then. Both are pure functions of what it
holds, so ``vmap`` lifts them too; only at the end of an epoch does every member's criterion see to itself.
"""

from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from labelspace.criteria.base import Criterion
from labelspace.criteria.soundness import Rows
from labelspace.learner import Learner

PREFIX = "criterion."
COUNTER = f"{PREFIX}steps_observed"  # of methods that commit every so many steps


@final
class Running:
    """Statistics and what follows from them, stacked.

    Args:
        learners: the members; of a method without statistics there is nothing to keep.
    """

    def __init__(self, learners: Sequence[Learner]) -> None:
        """Stack what the criteria hold."""
        self.learners, criterion = learners, learners[0].criterion
        self.every = criterion.commit_every
        self.observing, self.committing = _Observing(criterion), _Committing(criterion)
        kept = criterion.state_dict() if criterion.statistics else {}
        self.names = [name for name, _ in criterion.named_buffers() if name in kept]
        self.steps = 0
        self.collect()

    def collect(self) -> None:
        """Take over what the members' criteria hold now."""
        criteria = [learner.criterion for learner in self.learners]
        self.state = {
            f"{PREFIX}{name}": torch.stack([each.get_buffer(name) for each in criteria]) for name in self.names
        }
        sums = criteria[0].statistics.sums
        self.sums = {name: torch.stack([each.statistics.sums[name] for each in criteria]) for name in sums}

    def hand_out(self) -> None:
        """Let every member's criterion hold its own part."""
        for number, learner in enumerate(self.learners):
            criterion = learner.criterion
            for name in self.names:
                setattr(criterion, name, self.state[f"{PREFIX}{name}"][number])
            criterion.statistics.sums = {name: total[number] for name, total in self.sums.items()}

    def end_epoch(self) -> None:
        """Let every member's criterion end its epoch."""
        self.hand_out()
        for learner in self.learners:
            learner.end_epoch()
        self.collect()

    def observed(self, state: dict[str, Tensor], sums: list[Tensor], output: Tensor, y: Tensor) -> list[Tensor]:
        """Return the sums with a batch of every member added; pure."""

        def member(state: dict[str, Tensor], sums: list[Tensor], output: Tensor, y: Tensor) -> list[Tensor]:
            named = dict(zip(self.sums, sums, strict=True))
            found: dict[str, Tensor] = functional_call(self.observing, state, (named, output, y))
            return list(found.values())

        found: list[Tensor] = vmap(member)(state, sums, output, y)
        return found

    def committed(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        """Return the new state of all members, from the options, the state and the sums; pure."""

        def member(state: dict[str, Tensor], sums: dict[str, Tensor]) -> tuple[Tensor, ...]:
            found: dict[str, Tensor] = functional_call(self.committing, state, (sums,))
            new = {f"{PREFIX}{name}": value.to(state[f"{PREFIX}{name}"].dtype) for name, value in found.items()}
            return tuple(new.get(name, state[name]) for name in self.state)

        held, sums = tensors[: -len(self.sums)], tensors[-len(self.sums) :]
        named = dict(zip(self.held, held, strict=True))
        found: tuple[Tensor, ...] = vmap(member)(named, dict(zip(self.sums, sums, strict=True)))
        return found

    held: tuple[str, ...] = ()  # the names of the options and of the state, in the order of ``committed``

    def is_due(self) -> bool:
        """Count a step and return whether it ends with a commit; all members are in step."""
        self.steps += 1
        if COUNTER in self.state:
            self.state[COUNTER] = self.state[COUNTER] + 1
        return self.every is not None and self.steps % self.every == 0


class _Observing(nn.Module):
    def __init__(self, criterion: Criterion) -> None:
        super().__init__()
        self.criterion = criterion

    def forward(self, sums: dict[str, Tensor], output: Tensor, y: Tensor) -> dict[str, Tensor]:
        statistics = self.criterion.statistics
        before, statistics.sums = statistics.sums, dict(sums)
        try:
            rows = self.criterion.sound(Rows(output, y, None, {}))
            statistics.add(self.criterion.observe(rows.output, rows.y), None)
            return statistics.sums
        finally:
            statistics.sums = before


class _Committing(nn.Module):
    def __init__(self, criterion: Criterion) -> None:
        super().__init__()
        self.criterion = criterion

    def forward(self, sums: dict[str, Tensor]) -> dict[str, Tensor]:
        return self.criterion.commit(sums)

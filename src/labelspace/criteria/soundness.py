"""Samples whose numbers are not finite: they leave no trace in what a running method remembers.

Training in half precision meets them now and then. ``GradScaler`` looks at the gradients and skips the step; what the
labels learn from is not undone, so such samples must not come that far.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace._devices import may_look_at


class Rows(NamedTuple):
    """What a method observes: flat rows, labels, which of them count, and extras."""

    output: Tensor  # (n, D)
    y: Tensor  # (n,) int64, or (n, K) probabilities
    valid: Tensor | None  # (n,) bool; None where all count
    extras: Mapping[str, Tensor]


@torch.no_grad()
def only_sound(rows: Rows, logits: bool) -> Rows:
    """Return the rows with those that are not sound as if they were ignored ones: zeros, and no label.

    Where values can be looked at this costs one sum of what is finite; elsewhere everything goes through a mask.

    Args:
        rows: of a batch.
        logits: whether −inf in an output says that a class is ruled out, which is sound as long as one is left. Outputs
            that are points must have a finite length, or sums of them would not.
    """
    others = [value for value in rows.extras.values() if value.is_floating_point()]
    others += [rows.y] if rows.y.is_floating_point() else []
    looking = may_look_at(rows.output)
    # a sum that overflows makes no mistake here, it is looked at more closely
    if looking and math.isfinite(_total(rows.output, logits)) and all(math.isfinite(_total(each)) for each in others):
        return rows
    largest = rows.output.amax(dim=1) if logits else rows.output.square().sum(dim=1)
    sound = torch.isfinite(largest)  # a NaN anywhere is the largest
    for value in others:
        sound = sound & torch.isfinite(value.flatten(1)).all(dim=1)
    if looking and bool(sound.all()):
        return rows
    extras = {name: _kept(sound, value) if value.is_floating_point() else value for name, value in rows.extras.items()}
    labels = _kept(sound, rows.y) if rows.y.is_floating_point() else torch.where(sound, rows.y, -1)
    valid = sound if rows.valid is None else rows.valid & sound
    return Rows(_kept(sound, rows.output), labels, valid, extras)


def _total(value: Tensor, plain: bool = True) -> float:
    if plain:
        return value.sum().item()
    flat = value.reshape(-1)
    return torch.dot(flat, flat).item()


def _kept(sound: Tensor, value: Tensor) -> Tensor:
    return torch.where(sound.reshape(-1, *[1] * (value.ndim - 1)), value, 0)

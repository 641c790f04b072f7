"""Samples that do not count alike: ``Σ w·loss / Σ w`` over a batch."""

from typing import final

import torch
from torch import Tensor

from labelspace import _checks, _distributed
from labelspace.learner import Learner


@final
class SampleWeights:
    """The weights of all training samples, and the loss of a batch with them.

    Weights are in the loss alone: what a method gathers from outputs (running statistics, class means) counts samples
    alike.

    Args:
        weights: of each sample, ``(N,)``, 0 or more.

    Example:
        >>> from labelspace import OneHot
        >>> learner = Learner(torch.nn.Identity(), OneHot(2))
        >>> scores, y = torch.tensor([[0.0, 0.0], [2.0, 0.0]]), torch.tensor([0, 1])
        >>> SampleWeights(torch.tensor([3.0, 0.0])).loss(learner, scores, y, {}, torch.arange(2))  # log 2
        tensor(0.6931)
    """

    def __init__(self, weights: Tensor) -> None:
        """Keep them on the CPU, as labels are."""
        self.weights = weights
        self.looked_at = False

    def loss(self, learner: Learner, x: object, y: Tensor, extras: dict[str, Tensor], rows: Tensor) -> Tensor:
        """Return the weighted mean of a batch's losses.

        Args:
            learner: model and criterion.
            x: the batch, as the model reads it.
            y: class indices.
            extras: what methods may need.
            rows: which samples these are.
        """
        if not self.looked_at:
            self._check(learner, x, y, extras)
        weights = self.weights[rows].to(y.device)
        losses = _with_reduction(learner, "none", x, y, extras)
        weights = weights.to(losses.dtype)
        return (losses * weights).sum() / weights.sum()

    @torch.no_grad()
    def _check(self, learner: Learner, x: object, y: Tensor, extras: dict[str, Tensor]) -> None:
        """Refuse what a weighted mean of losses would be something else for: nothing but a first batch can tell."""
        criterion = learner.criterion
        if _distributed.world_size() > 1:
            raise _checks.fail("train", "weights", "left out for several ranks", "weights of samples")
        if criterion.weight is not None or y.is_floating_point():
            got = "weights of classes too" if criterion.weight is not None else "samples that are mixed"
            raise _checks.fail("train", "weights", "the only weights, of samples as they are", got)
        learner.eval()  # nothing is observed
        mean, each = (_with_reduction(learner, kind, x, y, extras) for kind in ("mean", "none"))
        learner.train()
        if not torch.allclose(mean, each.mean(), rtol=1e-3, atol=1e-6):
            got = f"{criterion.name} with terms that are no means over samples"
            raise _checks.fail("train", "weights", "left out for such a method", got, "Choose other options of it.")
        self.looked_at = True


def _with_reduction(learner: Learner, kind: str, x: object, y: Tensor, extras: dict[str, Tensor]) -> Tensor:
    criterion = learner.criterion
    before = criterion.reduction
    criterion.reduction = kind
    try:
        found: Tensor = learner(x, y, **extras)
    finally:
        criterion.reduction = before
    return found

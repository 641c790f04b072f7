"""torchmetrics: what mistakes cost, and at which level of a taxonomy they happen, summed over batches and ranks.

metric = MeanCost(prices)               # or MeanCost(decision), of a model's scores
metric.update(scores, y)
metric.compute()
"""

from typing import Any

import torch
from torch import Tensor

from labelspace import _inputs, _packages
from labelspace._inputs import Numbers
from labelspace.decisions.decision import Decision
from labelspace.metrics.accuracy import level_groups
from labelspace.space import LabelSpace

Metric: Any = _packages.optional("labelspace.integrations.torchmetrics", "torchmetrics", "torchmetrics").Metric


class MeanCost(Metric):
    """The mean price over all samples, right ones included, as ``metrics.expected_cost``.

    Args:
        cost: prices ``C[i, j]`` of calling a true ``i`` a ``j``: a cost space, one from a taxonomy or an order, or a
            matrix. Or a ``Decision``, which turns scores into classes or actions first, and has prices for them.
        others: of ``torchmetrics.Metric``.

    Shape:
        ``update(predictions, y)`` with ``(N,)`` class indices, or actions; or ``(N, K)`` scores, of which the largest
        predicts or the decision decides; and ``y (N,)``.

    Example:
        >>> metric = MeanCost([[0, 1], [5, 0]])
        >>> metric.update(torch.tensor([0, 0]), torch.tensor([0, 1]))
        >>> metric.update(torch.tensor([[0.2, 0.8], [0.1, 0.9]]), torch.tensor([1, 0]))
        >>> metric.compute()
        tensor(1.5000)
    """

    is_differentiable = False
    higher_is_better = False
    full_state_update = False
    counts: Tensor

    def __init__(self, cost: LabelSpace | Numbers | Decision, **others: Any) -> None:
        """Count nothing yet."""
        super().__init__(**others)
        self.decision = cost if isinstance(cost, Decision) else None
        self.prices = _paid(cost) if isinstance(cost, Decision) else _inputs.prices(type(self).__name__, cost)
        # whole numbers add up exactly on every device; there are as many of them as prices
        self.add_state("counts", torch.zeros(self.prices.shape, dtype=torch.int64), dist_reduce_fx="sum")

    def update(self, predictions: Tensor, y: Tensor) -> None:
        """Count one batch."""
        classes, actions = self.prices.shape
        done, labels = _done(type(self).__name__, self.decision, predictions, y, classes, actions)
        found = torch.bincount(labels * actions + done, minlength=classes * actions)
        self.counts = self.counts + found.reshape(classes, actions).to(self.counts.device)

    def compute(self) -> Tensor:
        """Return the mean price."""
        counts = self.counts.cpu()
        return ((counts * self.prices).sum() / counts.sum()).float()


class MistakeSeverity(MeanCost):
    """The mean price of the mistakes made, 0 where there are none, as ``metrics.severity``: look at ``MeanCost`` too.

    Args:
        cost: as in ``MeanCost``, without decisions.
        others: of ``torchmetrics.Metric``.

    Example:
        >>> metric = MistakeSeverity([[0, 1], [5, 0]])
        >>> metric.update(torch.tensor([0, 0, 1]), torch.tensor([0, 1, 0]))
        >>> metric.compute()
        tensor(3.)
    """

    def __init__(self, cost: LabelSpace | Numbers, **others: Any) -> None:
        """Count nothing yet."""
        super().__init__(_inputs.prices(type(self).__name__, cost), **others)

    def compute(self) -> Tensor:
        """Return the mean price of what is not on the diagonal."""
        wrong = self.counts.cpu().fill_diagonal_(0)
        return ((wrong * self.prices).sum() / wrong.sum().clamp_min(1)).float()


class LevelAccuracy(Metric):
    """The share of samples that are right at each level of a taxonomy, coarsest first, as ``metrics.level_accuracy``.

    Args:
        space: built by ``labelspace.tree``, ``groups`` or ``wordnet``, or a subset of one.
        others: of ``torchmetrics.Metric``.

    Shape:
        ``update(predictions, y)`` as in ``MeanCost``; ``compute()`` is ``(levels,)``.

    Example:
        >>> from labelspace import tree
        >>> metric = LevelAccuracy(tree({"pet": ["cat", "dog"], "vehicle": ["car", "bus"]}))
        >>> metric.update(torch.tensor([0, 0, 3, 0]), torch.tensor([0, 1, 2, 3]))
        >>> metric.compute()
        tensor([0.7500, 0.2500])
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    right: Tensor
    samples: Tensor

    def __init__(self, space: LabelSpace, **others: Any) -> None:
        """Count nothing yet."""
        super().__init__(**others)
        levels = level_groups(space)
        numbers = [{node: place for place, node in enumerate(dict.fromkeys(level))} for level in levels]
        self.nodes = torch.tensor(
            [[known[node] for node in level] for known, level in zip(numbers, levels, strict=True)]
        )
        self.add_state("right", torch.zeros(len(levels), dtype=torch.int64), dist_reduce_fx="sum")
        self.add_state("samples", torch.zeros((), dtype=torch.int64), dist_reduce_fx="sum")

    def update(self, predictions: Tensor, y: Tensor) -> None:
        """Count one batch."""
        classes = self.nodes.shape[1]
        done, labels = _done(type(self).__name__, None, predictions, y, classes, classes)
        same = self.nodes[:, done] == self.nodes[:, labels]
        self.right = self.right + same.sum(dim=1).to(self.right.device)
        self.samples = self.samples + len(done)

    def compute(self) -> Tensor:
        """Return the share of each level."""
        return (self.right.cpu().double() / self.samples.cpu()).float()


def _paid(decision: Decision) -> Tensor:
    """Return what a decision's actions cost, ``(K, A)``, the last column what leaving a sample to somebody costs."""
    if decision.abstain_cost is None:
        return decision.prices
    column = torch.full((len(decision.prices), 1), decision.abstain_cost, dtype=torch.float64)
    return torch.cat([decision.prices, column], dim=1)


def _done(
    owner: str, decision: Decision | None, predictions: Tensor, y: Tensor, classes: int, actions: int
) -> tuple[Tensor, Tensor]:
    """Return what was done about each sample and its class, on the CPU, where the prices are."""
    if decision is not None and predictions.ndim == 2:
        done = decision.decide(predictions.detach().cpu()).actions
        return done, _inputs.class_indices(owner, "y", y, samples=len(done), classes=classes)
    done, columns = _inputs.predictions(owner, "predictions", predictions)
    _inputs.same_classes(owner, "cost", classes, columns)
    _inputs.class_indices(owner, "predictions", done, classes=actions)
    return done, _inputs.class_indices(owner, "y", y, samples=len(done), classes=classes)

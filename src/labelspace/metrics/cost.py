"""What mistakes cost, for any prices: over all samples, per confusion, and of the mistakes alone.

Letters: N samples, K classes, y the true class indices, C the prices: ``C[i, j]`` is paid for calling a true ``i`` a
``j``. They come as a cost space, as a space from a taxonomy or an order (a mistake costs the steps between the two
classes), or as a matrix, non-negative with a zero diagonal. Predictions are ``(N,)`` class indices, or ``(N, K)``
scores.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, overload

import torch
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.metrics.accuracy import best_guesses, confusion_counts
from labelspace.space import LabelSpace

Cost = LabelSpace | Numbers


@overload
def expected_cost(
    predictions: Numbers,
    y: Numbers,
    cost: Cost,
    *,
    abstain_cost: float | None = None,
    per_sample: Literal[False] = False,
) -> float: ...
@overload
def expected_cost(
    predictions: Numbers, y: Numbers, cost: Cost, *, abstain_cost: float | None = None, per_sample: Literal[True]
) -> Tensor: ...
def expected_cost(
    predictions: Numbers, y: Numbers, cost: Cost, *, abstain_cost: float | None = None, per_sample: bool = False
) -> float | Tensor:
    """Return the mean price over all samples, right ones included: ``1/N Σ_n C[y_n, prediction_n]``.

    This is the number to compare models by where mistakes differ in price.

    Args:
        predictions: class indices, or scores; with ``abstain_cost`` also −1, no decision.
        y: true class indices.
        cost: the prices.
        abstain_cost: the price of a −1, as ``decisions.abstain`` returns it.
        per_sample: return the price of each sample instead of their mean.

    Shape:
        ``predictions (N,)`` or ``(N, K)``, ``y (N,)``, ``cost (K, K)``; per sample ``(N,)``.

    Example:
        >>> expected_cost([0, 0, 1, 1], [0, 1, 1, 0], [[0, 1], [5, 0]])
        1.5
    """
    prices = _inputs.prices("expected_cost", cost)
    if abstain_cost is None:
        predicted, labels, _ = _inputs.pair("expected_cost", predictions, y, len(prices), source="cost")
        paid = prices[labels, predicted]
    else:
        price = _checks.number("expected_cost", "abstain_cost", abstain_cost, low=0)
        predicted, columns = _inputs.predictions("expected_cost", "predictions", predictions, lowest=-1)
        _inputs.same_classes("expected_cost", "cost", len(prices), columns)
        silent = predicted == -1
        answered, labels, _ = _inputs.pair("expected_cost", predicted.clamp_min(0), y, len(prices), source="cost")
        paid = torch.where(silent, price, prices[labels, answered])
    return paid if per_sample else paid.mean().item()


@overload
def top_cost(scores: Numbers, y: Numbers, cost: Cost, k: int, *, per_sample: Literal[False] = False) -> float: ...
@overload
def top_cost(scores: Numbers, y: Numbers, cost: Cost, k: int, *, per_sample: Literal[True]) -> Tensor: ...
def top_cost(scores: Numbers, y: Numbers, cost: Cost, k: int, *, per_sample: bool = False) -> float | Tensor:
    """Return the mean price of the ``k`` best guesses, over all samples: ``1/(N·k) Σ_n Σ_{j in top k} C[y_n, j]``.

    A right guess is free and the other k − 1 are not, so it falls when the guesses of a sample are alike.

    Args:
        scores: larger is likelier; equals count in the order of the indices.
        y: true class indices.
        cost: the prices.
        k: how many guesses, from 1 to K.
        per_sample: return the mean price of each sample's guesses instead of the mean over samples.

    Shape:
        ``scores (N, K)``, ``y (N,)``, ``cost (K, K)``; per sample ``(N,)``.

    Example:
        >>> top_cost([[0.7, 0.2, 0.1]], [0], [[0, 1, 4], [1, 0, 1], [4, 1, 0]], k=2)
        0.5
    """
    numbers = _inputs.scores("top_cost", "scores", scores)
    samples, classes = numbers.shape
    prices = _inputs.prices("top_cost", cost)
    _inputs.same_classes("top_cost", "cost", len(prices), classes)
    labels = _inputs.class_indices("top_cost", "y", y, samples=samples, classes=classes)
    if _checks.whole("top_cost", "k", k, low=1) > classes:
        raise _checks.fail("top_cost", "k", f"at most {classes}, the number of classes", k)
    paid = prices[labels[:, None], best_guesses(numbers, k)].mean(dim=1)
    return paid if per_sample else paid.mean().item()


class CostlyConfusion(NamedTuple):
    """A true class called another, how often, what that cost altogether, and its share of the cost of everything."""

    true: str
    predicted: str
    samples: int
    cost: float
    share: float


def costliest_confusions(
    predictions: Numbers, y: Numbers, cost: Cost, names: Sequence[str] | None = None, k: int = 10
) -> list[CostlyConfusion]:
    """Return the confusions that cost most, dearest first; none where nothing cost anything.

    Args:
        predictions: class indices, or scores.
        y: true class indices.
        cost: the prices.
        names: class names; by default those of the space, else numbers.
        k: how many to return at most.

    Shape:
        ``predictions (N,)`` or ``(N, K)``, ``y (N,)``, ``cost (K, K)``.

    Example:
        >>> worst = costliest_confusions([0, 0, 1, 1], [0, 1, 1, 0], [[0, 1], [4, 0]], ["healthy", "ill"], k=1)
        >>> worst[0]
        CostlyConfusion(true='ill', predicted='healthy', samples=1, cost=4.0, share=0.8)
    """
    _checks.whole("costliest_confusions", "k", k, low=1)
    prices = _inputs.prices("costliest_confusions", cost)
    known = names if names is not None else cost.names if isinstance(cost, LabelSpace) else len(prices)
    labels = _inputs.class_names("costliest_confusions", "names", known, len(prices))
    predicted, true, number = _inputs.pair("costliest_confusions", predictions, y, len(prices), source="cost")
    return dearest(confusion_counts(predicted, true, number), prices, labels, labels, k)


def dearest(
    counts: Tensor,
    prices: Tensor,
    names: Sequence[str],
    actions: Sequence[str],
    k: int,
    stakes: Tensor | None = None,
) -> list[CostlyConfusion]:
    """Return what cost most of what was done about which classes, dearest first; shares are of all that was paid.

    Args:
        counts: how often each action was done about each class, ``(K, A)``.
        prices: ``(K, A)``; gains are no costs.
        names: of the classes.
        actions: of the columns.
        k: how many to return at most.
        stakes: the sums of what the prices of these samples are multiplied by, ``(K, A)``; the counts if left out.

    Example:
        >>> dearest(torch.tensor([[5, 1], [1, 3]]), torch.tensor([[-1.0, 2.0], [4.0, 0.0]]), ["a", "b"], ["x", "y"], 1)
        [CostlyConfusion(true='b', predicted='x', samples=1, cost=4.0, share=0.6666666666666666)]
    """
    paid = (counts if stakes is None else stakes) * prices
    order = paid.flatten().argsort(descending=True, stable=True)[:k].tolist()
    places = [divmod(place, prices.shape[1]) for place in order]
    found = [(i, j, paid[i, j].item()) for i, j in places if paid[i, j] > 0]
    total = paid.clamp_min(0).sum().item()
    return [CostlyConfusion(names[i], actions[j], int(counts[i, j]), part, part / total) for i, j, part in found]


def severity(predictions: Numbers, y: Numbers, cost: Cost) -> float:
    """Return the mean price of the mistakes made; 0 where there are none.

    It can be gamed: a model that adds many cheap mistakes to few dear ones improves it while everybody pays more.
    Report it only beside ``expected_cost``, the cost over all samples, and accuracy.

    Args:
        predictions: class indices, or scores.
        y: true class indices.
        cost: the prices.

    Shape:
        ``predictions (N,)`` or ``(N, K)``, ``y (N,)``, ``cost (K, K)``.

    Example:
        >>> prices = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
        >>> severity([0, 0, 0], [0, 0, 2], prices), expected_cost([0, 0, 0], [0, 0, 2], prices)
        (4.0, 1.3333333333333333)
        >>> severity([1, 1, 0], [0, 0, 2], prices), expected_cost([1, 1, 0], [0, 0, 2], prices)  # "better", and dearer
        (2.0, 2.0)
    """
    prices = _inputs.prices("severity", cost)
    predicted, labels, _ = _inputs.pair("severity", predictions, y, len(prices), source="cost")
    wrong = predicted != labels
    return prices[labels, predicted][wrong].mean().item() if bool(wrong.any()) else 0.0


@overload
def value_mse(
    predictions: Numbers, y: Numbers, values: Numbers | None = None, *, per_sample: Literal[False] = False
) -> float: ...
@overload
def value_mse(
    predictions: Numbers, y: Numbers, values: Numbers | None = None, *, per_sample: Literal[True]
) -> Tensor: ...
def value_mse(
    predictions: Numbers, y: Numbers, values: Numbers | None = None, *, per_sample: bool = False
) -> float | Tensor:
    """Return the mean squared error of a number that each class stands for: ``1/N Σ_n (v[prediction_n] − v[y_n])²``.

    Args:
        predictions: class indices, or scores.
        y: true class indices.
        values: v, the number of each class; by default its index, as with digits.
        per_sample: return the squared error of each sample instead of their mean.

    Shape:
        ``predictions (N,)`` or ``(N, K)``, ``y (N,)``, ``values (K,)``; per sample ``(N,)``.

    Example:
        >>> value_mse([0, 1, 3], [0, 2, 1])
        1.6666666666666667
    """
    numbers = None if values is None else _inputs.vector("value_mse", "values", values)
    known = None if numbers is None else len(numbers)
    predicted, labels, number = _inputs.pair("value_mse", predictions, y, known, source="values")
    v = torch.arange(number, dtype=torch.float64) if numbers is None else numbers
    errors = (v[predicted] - v[labels]).square()
    return errors if per_sample else errors.mean().item()

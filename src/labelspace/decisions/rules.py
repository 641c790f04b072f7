"""From probabilities to decisions: the cheapest class, abstention, and the table of the rules of a Decision.

Letters: N samples, K classes, C the prices (``C[j, k]`` is paid for calling a true ``j`` a ``k``), p the probabilities.
Where what is decided is an action, there are A of them, and prices are ``(K, A)``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.decisions.calibration import like
from labelspace.space import LabelSpace

# prices closer than this share of the dearest one are equal: sums in another order differ by about 1e-16
TIE = 1e-12


def expected_cost_of(probabilities: Numbers, cost: LabelSpace | Numbers) -> Tensor:
    """Return what each decision is expected to cost: ``E[n, k] = Σ_j p[n, j] · C[j, k]``.

    Args:
        probabilities: rows that sum to 1.
        cost: a cost space, a space from a taxonomy or an order (steps between classes), or non-negative prices with a
            zero diagonal.

    Shape:
        ``probabilities (N, K)``, ``cost (K, K)``; the result is ``(N, K)``, float64 if the probabilities are.

    Example:
        >>> expected_cost_of([[0.8, 0.2]], [[0, 1], [5, 0]])  # 0.2·5 for the first class, 0.8·1 for the second
        tensor([[1.0000, 0.8000]], dtype=torch.float64)
    """
    given = _inputs.tensor("expected_cost_of", "probabilities", probabilities)
    return like(_expected("expected_cost_of", given, cost)[1], given)


def min_cost(probabilities: Numbers, cost: LabelSpace | Numbers) -> Tensor:
    """Return the class with the least expected cost, ``argmin_k Σ_j p_j C_jk``.

    Equal costs go to the likelier class, then to the lower index. With 0/1 costs this is the argmax.

    Args:
        probabilities: rows that sum to 1; they should be calibrated (see ``Temperature``).
        cost: as in ``expected_cost_of``.

    Shape:
        ``probabilities (N, K)``, ``cost (K, K)``; the result is ``(N,)`` class indices.

    Example:
        >>> min_cost([[0.8, 0.2], [0.9, 0.1]], [[0, 1], [5, 0]])
        tensor([1, 0])
    """
    given = _inputs.tensor("min_cost", "probabilities", probabilities)
    return _cheapest("min_cost", given, cost)[0].to(given.device)


def abstain(probabilities: Numbers, cost: LabelSpace | Numbers, abstain_cost: float) -> Tensor:
    """Return the cheapest class, or −1 where not deciding costs less than any class is expected to.

    Args:
        probabilities: rows that sum to 1.
        cost: as in ``expected_cost_of``.
        abstain_cost: the price of leaving a sample to somebody else, in the same unit; where it equals the price
            of the cheapest class, the class is chosen.

    Shape:
        ``probabilities (N, K)``, ``cost (K, K)``; the result is ``(N,)``, class indices or −1.

    Example:
        >>> abstain([[0.8, 0.2], [0.9, 0.1]], [[0, 1], [5, 0]], abstain_cost=0.6)  # they cost 0.8 and 0.5
        tensor([-1,  0])
    """
    price = _checks.number("abstain", "abstain_cost", abstain_cost, low=0)
    given = _inputs.tensor("abstain", "probabilities", probabilities)
    chosen, expected = _cheapest("abstain", given, cost)
    least = expected.gather(1, chosen[:, None]).squeeze(1)
    return torch.where(costs_less(price, least, given.dtype), -1, chosen).to(given.device)


def costs_less(price: float, least: Tensor, dtype: torch.dtype) -> Tensor:
    """Return where a price is below an expected cost by more than rounding.

    Args:
        price: of not deciding.
        least: what the cheapest decision is expected to cost, ``(N,)``.
        dtype: of the probabilities: equal prices differ more where they were single precision.
    """
    rounding = 1e-12 if dtype == torch.float64 else 1e-6
    return price < least - rounding * (1 + least.abs())


def _expected(owner: str, probabilities: Numbers, cost: LabelSpace | Numbers) -> tuple[Tensor, Tensor, Tensor]:
    rows = _inputs.probabilities(owner, "probabilities", probabilities)
    prices = _inputs.prices(owner, cost, classes=rows.shape[1])
    return rows, rows @ prices, prices


def _cheapest(owner: str, probabilities: Numbers, cost: LabelSpace | Numbers) -> tuple[Tensor, Tensor]:
    rows, expected, prices = _expected(owner, probabilities, cost)
    return cheapest(rows, expected, prices), expected


def cheapest(probabilities: Tensor, expected: Tensor, prices: Tensor) -> Tensor:
    """Return the column of least expected cost, ``(N,)``.

    Of equals it is the one that is more probably the best there is: of as many columns as classes the likelier class,
    else the one that is the cheapest for the likelier classes. Then it is the first.

    Args:
        probabilities: ``(N, K)``.
        expected: ``(N, A)``.
        prices: ``(K, A)``.
    """
    least = expected.amin(dim=1, keepdim=True)
    tied = expected <= least + TIE * prices.abs().max()
    likely = probabilities
    if prices.shape[0] != prices.shape[1]:
        likely = probabilities @ (prices == prices.amin(dim=1, keepdim=True)).to(probabilities.dtype)
    # argmax returns the first of equals, the lower index
    return torch.where(tied, likely, -1.0).argmax(dim=1)


@dataclass(frozen=True)
class Rule:
    """How classes, or actions, are chosen: all that ``Decision``, the model card and the ONNX graph know of a rule.

    Args:
        words: what it calls, in a sentence of the model card.
        title: of its line in the card's table.
        needs_prices: whether it reads prices; to one that does not, every mistake costs 1.
        choose: ``choose(scores, probabilities, prices)`` returns ``(N,)`` class indices. Scores ``(N, K)`` are as the
            model gave them, probabilities ``(N, K)`` and prices ``(K, K)`` in float64; prices are None unless needed.
            Where they are prices of actions, ``(K, A)``, it returns the places of those.
            It becomes part of ONNX graphs, so it has to keep to tensor operations: no branches on values, no numpy.
    """

    words: str
    title: str
    needs_prices: bool
    choose: Callable[[Tensor, Tensor, Tensor | None], Tensor]


def _likeliest(scores: Tensor, _probabilities: Tensor, _prices: Tensor | None) -> Tensor:
    # of the scores: probabilities of classes that are nearly certain may round to the same number
    return scores.argmax(dim=1)


def _least_cost(_scores: Tensor, probabilities: Tensor, prices: Tensor | None) -> Tensor:
    assert prices is not None
    return cheapest(probabilities, probabilities @ prices, prices)


RULES = {
    "argmax": Rule("the likeliest class", "likeliest class", False, _likeliest),
    "min_cost": Rule("the class with the least expected cost", "least expected cost", True, _least_cost),
}

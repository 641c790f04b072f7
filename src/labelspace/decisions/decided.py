"""What was decided about samples, and what that costs where their classes are known."""

from typing import NamedTuple

from torch import Tensor


class Decided(NamedTuple):
    """What was decided about N samples.

    Args:
        classes: the class that each is called, also where it should rather be left to somebody; −1 where what is done
            about it is no class.
        probability: of that class; NaN where there is none.
        abstained: where not deciding costs less than anything else is expected to.
        actions: what is done, as places in ``Decision.action_names``; those of classes, where there is nothing else.
    """

    classes: Tensor
    probability: Tensor
    abstained: Tensor
    actions: Tensor


class Judged(NamedTuple):
    """What was decided about N samples whose classes are known, and what that costs.

    Args:
        classes: the class that each is called, as in ``Decided``.
        probabilities: after temperature, ``(N, K)``.
        abstained: where not deciding costs less than anything else is expected to.
        costs: what each decision costs, in float64.
        expected: what it was expected to cost.
        actions: what is done, as in ``Decided``.
    """

    classes: Tensor
    probabilities: Tensor
    abstained: Tensor
    costs: Tensor
    expected: Tensor
    actions: Tensor

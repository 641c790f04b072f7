"""Classes in an order: the closer two ranks, the more mass they share."""

from collections.abc import Sequence

import torch

from labelspace import _checks
from labelspace.space import LabelSpace, kept_mass


def ordinal(classes: int | Sequence[str], power: float = 1.0) -> LabelSpace:
    """Return relations for ordered classes, ``A_ij ∝ 1/|i−j|^power`` with a zero diagonal.

    ``.hops`` of the result holds ``|i−j|``, so that distances are those of the ranks, also after a subset.

    Args:
        classes: a number of classes, or their names in order.
        power: how fast mass falls with distance; 1 is the paper's, 0 is uniform.

    Example:
        >>> ordinal(["low", "mid", "high"]).matrix
        tensor([[0.0000, 0.6667, 0.3333],
                [0.5000, 0.0000, 0.5000],
                [0.3333, 0.6667, 0.0000]])

    Reference:
        "Embedding semantic relationships in hidden representations via label smoothing",
        eq. (2)–(3). # differs from eq. (3): the printed sum from j=1 runs over all j≠i.
    """
    names = _checks.class_names("ordinal", classes)
    exponent = _checks.number("ordinal", "power", power, low=0)
    ranks = torch.arange(len(names))
    steps = (ranks[:, None] - ranks[None, :]).abs()
    weights = steps.double().fill_diagonal_(1).pow(-exponent).fill_diagonal_(0)
    # the order is kept, since a subset may put the classes in another one
    source = {"builder": "ordinal", "power": exponent, "order": list(names)}
    return LabelSpace(names, kept_mass(weights), "relations", source, steps)

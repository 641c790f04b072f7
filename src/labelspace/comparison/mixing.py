"""How much samples are mixed up: the one number that is tuned for one-hot labels, and that every method starts from.

The reference has as many trials as any method: without them a method would be compared with something nobody tried to
make good.
"""

from collections.abc import Sequence

from labelspace.augment.named import Augment
from labelspace.criteria.base import Tuned
from labelspace.data.source import Kind

MIXUP = Tuned("mixup", "mixup", (0.0, 0.1, 0.2, 0.4, 1.0))
KINDS = ("images", "table", "features")  # of data whose samples are numbers; token ids cannot be blended


def mixable(kind: Kind, augment: Sequence[str]) -> bool:
    """Return whether mixup can be tried: data of numbers, which nobody asked to be mixed already.

    Args:
        kind: of the data.
        augment: what is done to batches.

    Example:
        >>> mixable("table", []), mixable("text", []), mixable("images", ["flip", "cutmix"])
        (True, False, False)
    """
    return kind in KINDS and not Augment.parse(augment, kind).mixes


def mixed(augment: Sequence[str], share: float) -> list[str]:
    """Return what is done to batches with mixup at the end of it; a share of 0 is none.

    Args:
        augment: what is done to them without.
        share: α of mixup.

    Example:
        >>> mixed(["flip"], 0.2), mixed([], 0.0)
        (['flip', 'mixup:0.2'], [])
    """
    return [*augment, *([f"{MIXUP.option}:{share:g}"] if share else [])]

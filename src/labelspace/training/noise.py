"""Wrong labels on purpose, in the training part only: how does a method bear them?

The number of wrong labels is exact rather than drawn: of a class with n labels, ``rate·n`` rounded to the nearest
whole number (halves up) change, chosen at random. So every class has the stated rate, and two seeds differ in which
samples are wrong but not in how many. For one generator seed the changes at a lower rate are among those at a higher
one (and pairs of classes are the same), which makes a curve over rates smooth. Ignored samples (−100) stay as they are.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.augment import draws
from labelspace.criteria.targets import IGNORED


def pairwise(y: Tensor, classes: int, rate: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Pair classes at random and give labels of one the name of the other, in both directions.

    With an odd number of classes one, drawn at random, has no partner and keeps its labels.

    Args:
        y: class indices; −100 is ignored.
        classes: K.
        rate: share of each paired class that gets its partner's label, in [0, 1].
        generator: where pairs and samples come from.

    Shape:
        ``(N,)`` → new labels ``(N,)``, and ``(N,)`` bool: which of them changed.

    Example:
        >>> wrong, changed = pairwise(torch.tensor([0, 0, 1, 1]), 2, 0.5, torch.Generator().manual_seed(0))
        >>> wrong.bincount(), changed.sum()
        (tensor([2, 2]), tensor(2))
    """
    rate = _checked("pairwise", y, classes, rate, generator)
    order = draws.permutation(classes, generator, y.device)
    half = classes // 2
    partner = torch.arange(classes, device=y.device)
    partner[order[:half]] = order[half : 2 * half]
    partner[order[half : 2 * half]] = order[:half]
    changed = _chosen(y, classes, rate, generator)
    wrong = torch.where(changed, partner[y.long().clamp(min=0)].to(y.dtype), y)
    return wrong, wrong != y


def symmetric(y: Tensor, classes: int, rate: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Replace labels by another class, each of the K − 1 others equally likely.

    Some authors draw from all K classes, which leaves ``rate/K`` of the labels right by luck; here ``rate`` is the
    share that is really wrong.

    Args:
        y: class indices; −100 is ignored.
        classes: K.
        rate: share of each class that gets a wrong label, in [0, 1].
        generator: where samples and new labels come from.

    Shape:
        ``(N,)`` → new labels ``(N,)``, and ``(N,)`` bool: which of them changed.

    Example:
        >>> wrong, changed = symmetric(torch.tensor([0, 0, 0, 0]), 3, 0.25, torch.Generator().manual_seed(0))
        >>> (wrong != 0).sum(), changed.sum()
        (tensor(1), tensor(1))
    """
    rate = _checked("symmetric", y, classes, rate, generator)
    changed = _chosen(y, classes, rate, generator)
    step = 1 + draws.integers(classes - 1, len(y), generator, y.device)
    return torch.where(changed, ((y.long() + step) % classes).to(y.dtype), y), changed


NOISES: dict[str, Callable[[Tensor, int, float, torch.Generator], tuple[Tensor, Tensor]]] = {
    "pairwise": pairwise,
    "symmetric": symmetric,
}


@dataclass(frozen=True)
class LabelNoise:
    """Label noise by name and rate: call it as ``noise(y, classes, generator)``.

    Args:
        name: ``"pairwise"`` or ``"symmetric"``.
        rate: share of labels that become wrong, in [0, 1].
    """

    name: str
    rate: float

    def __post_init__(self) -> None:
        """Check both."""
        _checks.choice("LabelNoise", "name", self.name, NOISES)
        object.__setattr__(self, "rate", _checks.number("LabelNoise", "rate", self.rate, low=0, high=1))

    @property
    def spec(self) -> str:
        """The text ``label_noise`` reads; equal noise has equal text."""
        return f"{self.name}:{self.rate!r}"

    def __call__(self, y: Tensor, classes: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return new labels and a mask of the changed ones."""
        return NOISES[self.name](y, classes, self.rate, generator)


def label_noise(spec: str) -> LabelNoise:
    """Read label noise from text: its name, a colon and the rate.

    Args:
        spec: for example ``"pairwise:0.2"`` or ``"symmetric:0.4"``.

    Example:
        >>> label_noise("pairwise:0.2")
        LabelNoise(name='pairwise', rate=0.2)
    """
    if not isinstance(spec, str):
        raise _checks.fail_type("label_noise", "spec", "text such as 'pairwise:0.2'", repr(spec))
    name, _, rate = spec.strip().partition(":")
    _checks.choice("label_noise", "name", name, NOISES)
    owner = f"label_noise {spec!r}"
    try:
        number = float(rate)
    except ValueError as error:
        remedy = f"Write it as {name + ':0.2'!r}."
        raise _checks.fail(owner, "rate", "a number in [0, 1]", repr(rate), remedy) from error
    return LabelNoise(name, _checks.number(owner, "rate", number, low=0, high=1))


def _checked(owner: str, y: Tensor, classes: int, rate: float, generator: torch.Generator) -> float:
    count = _checks.whole(owner, "classes", classes, low=2)
    if not isinstance(y, Tensor) or y.is_floating_point() or y.is_complex() or y.dtype == torch.bool:
        got = getattr(y, "dtype", type(y).__name__)
        raise _checks.fail_type(owner, "y", "a tensor of class indices", got, "Add noise before mixing labels.")
    if y.ndim != 1:
        raise _checks.fail(owner, "y", "class indices of shape (N,)", f"shape {tuple(y.shape)}")
    wrong = y[(y != IGNORED) & ((y < 0) | (y >= count))]
    if len(wrong):
        expected = f"class indices from 0 to {count - 1} (or {IGNORED} for ignored)"
        raise _checks.fail(owner, "y", expected, int(wrong[0]), "Map the labels to 0…K−1 first.")
    draws.generator_of(owner, generator)
    return _checks.number(owner, "rate", rate, low=0, high=1)


def _chosen(y: Tensor, classes: int, rate: float, generator: torch.Generator) -> Tensor:
    """Return a mask with the rounded share of every class, chosen at random."""
    labels = torch.where(y == IGNORED, classes, y.long())
    shuffled = draws.permutation(len(y), generator, y.device)
    order = shuffled[labels[shuffled].argsort(stable=True)]
    counts = labels.bincount(minlength=classes + 1)
    # the place of a sample among those of its class, in random order
    place = torch.arange(len(y), device=y.device) - (counts.cumsum(0) - counts)[labels[order]]
    # rounded at the ninth digit first: 0.7·15 is 10.499999999999998 in binary, and a user expects 11
    exact = [math.floor(round(rate * count, 9) + 0.5) for count in counts.tolist()]
    wanted = torch.tensor([*exact[:classes], 0], device=y.device)
    chosen = torch.zeros(len(y), dtype=torch.bool, device=y.device)
    chosen[order] = place < wanted[labels[order]]
    return chosen

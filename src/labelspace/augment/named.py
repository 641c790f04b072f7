"""Augmentation by name: texts such as ``"crop:4"`` become one function of a batch and a generator."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, get_args

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.augment.mixing import cutmix, mixup
from labelspace.augment.randaugment import randaugment
from labelspace.augment.transforms import FILLS, crop, cutout, flip, resized_crop, rotate
from labelspace.data.source import Kind

Value = int | float | str | None
KINDS: tuple[Kind, ...] = get_args(Kind)
TOKENS = ("text", "sequences")


class Option(NamedTuple):
    """One option of an augmentation."""

    name: str
    default: Value  # None: the function chooses by the size of the images
    number: type[int] | type[float] | None  # None: a word
    check: Callable[[str, str, Any], Value]


class Entry(NamedTuple):
    """An augmentation: its function, its options in the order of the text, and whether it mixes labels."""

    function: Callable[..., Any]
    options: tuple[Option, ...]
    mixes: bool = False


def _one_of(owner: str, argument: str, value: str, options: Sequence[str]) -> str:
    return str(_checks.choice(owner, argument, value, options))


LAMBDAS = ("batch", "sample")
_ALPHA = partial(_checks.number, low=0, open_low=True)
_PER = Option("per", "batch", None, partial(_one_of, options=LAMBDAS))
ENTRIES: dict[str, Entry] = {
    "crop": Entry(
        crop,
        (
            Option("padding", None, int, _checks.whole),
            Option("fill", "zero", None, partial(_one_of, options=FILLS)),
        ),
    ),
    "flip": Entry(flip, (Option("probability", 0.5, float, partial(_checks.number, low=0, high=1)),)),
    "rotate": Entry(rotate, (Option("degrees", 20.0, float, partial(_checks.number, low=0, high=180)),)),
    "resized-crop": Entry(
        resized_crop,
        (
            Option("smallest", 0.08, float, partial(_checks.number, low=0, high=1, open_low=True)),
            Option("ratio", None, float, partial(_checks.number, low=1)),
        ),
    ),
    "cutout": Entry(cutout, (Option("size", None, int, partial(_checks.whole, low=1)),)),
    "randaugment": Entry(
        randaugment,
        (
            Option("operations", 2, int, partial(_checks.whole, low=1)),
            Option("magnitude", 9.0, float, partial(_checks.number, low=0, high=10)),
        ),
    ),
    "mixup": Entry(mixup, (Option("alpha", 0.2, float, _ALPHA), _PER), mixes=True),
    "cutmix": Entry(cutmix, (Option("alpha", 1.0, float, _ALPHA), _PER), mixes=True),
}


@dataclass(frozen=True)
class Augmentation:
    """One augmentation with its options; call it as ``step(x, y, classes, generator)``.

    Args:
        name: of the augmentation.
        values: of all its options, in their order.
    """

    name: str
    values: tuple[Value, ...]

    @property
    def options(self) -> dict[str, Value]:
        """The values by name."""
        return {option.name: value for option, value in zip(ENTRIES[self.name].options, self.values, strict=True)}

    @property
    def mixes(self) -> bool:
        """Whether labels come back as probabilities."""
        return ENTRIES[self.name].mixes

    @property
    def spec(self) -> str:
        """The shortest text with this meaning; equal augmentations have equal text."""
        defaults = [option.default for option in ENTRIES[self.name].options]
        values = list(self.values)
        while values and values[-1] == defaults[len(values) - 1]:
            values.pop()
        return ":".join([self.name, *("" if value is None else f"{value}" for value in values)])

    def __call__(self, x: Tensor, y: Tensor, classes: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return the batch after this step."""
        function = ENTRIES[self.name].function
        if not self.mixes:
            return function(x, generator, **self.options), y
        alpha, per_sample = share_of(self)
        mixed: tuple[Tensor, Tensor] = function(x, y, classes, alpha, generator, per_sample=per_sample)
        return mixed


def share_of(step: Augmentation) -> tuple[float, bool]:
    """Return α of a step that mixes, and whether λ is drawn for each sample.

    Example:
        >>> share_of(augmentation("mixup:0.4:sample"))
        (0.4, True)
    """
    alpha, per = step.values
    assert isinstance(alpha, float)
    return alpha, per == "sample"


def names() -> tuple[str, ...]:
    """Return every augmentation with its options and their defaults; options left out keep theirs.

    Example:
        >>> names()[0], names()[5]
        ('crop:padding:fill=zero', 'randaugment:operations=2:magnitude=9.0')
    """
    described = []
    for name, entry in ENTRIES.items():
        options = (f"{one.name}" if one.default is None else f"{one.name}={one.default}" for one in entry.options)
        described.append(":".join([name, *options]))
    return tuple(described)


def augmentation(spec: str) -> Augmentation:
    """Read one augmentation: its name, then the values of its options in their order, separated by colons.

    Args:
        spec: for example ``"crop"``, ``"crop:4:reflect"``, ``"flip"``, ``"cutout:8"``, ``"randaugment:2:9"``,
            ``"rotate:20"``, ``"resized-crop:0.25"``, ``"mixup:0.2"``, ``"cutmix:1.0:sample"``. An empty value keeps the
            default: ``"crop::reflect"``.

    Example:
        >>> augmentation("randaugment:3").options
        {'operations': 3, 'magnitude': 9.0}
    """
    if not isinstance(spec, str):
        raise _checks.fail_type("augmentation", "spec", "text such as 'crop:4'", repr(spec))
    name, *values = (part.strip() for part in spec.split(":"))
    entry = ENTRIES[_checks.choice("augmentation", "name", name, ENTRIES)]
    owner = f"augmentation {spec!r}"
    if len(values) > len(entry.options):
        known = ", ".join(option.name for option in entry.options)
        raise _checks.fail(owner, "spec", f"{name!r} with at most {len(entry.options)} values ({known})", len(values))
    values += [""] * (len(entry.options) - len(values))
    pairs = zip(entry.options, values, strict=True)
    return Augmentation(name, tuple(_value(owner, option, text) for option, text in pairs))


def _value(owner: str, option: Option, text: str) -> Value:
    if text == "":
        return option.default
    if option.number is None:
        return option.check(owner, option.name, text)
    try:
        value = option.number(text)
    except ValueError as error:
        expected = "a whole number" if option.number is int else "a number"
        raise _checks.fail(owner, option.name, expected, repr(text)) from error
    return option.check(owner, option.name, value)


@dataclass(frozen=True)
class Augment:
    """Augmentations applied in order; the same generator state gives the same bits.

    Give it the whole batch, also in distributed training, and slice afterwards: the result then does not depend on
    the number of ranks.

    Args:
        steps: the augmentations; one that mixes labels is the last. None changes nothing.
        kind: of the data: ``"images"``, ``"table"``, ``"text"`` or ``"features"``. Tables and features can be mixed
            up only, token ids not at all.

    Example:
        >>> augment = Augment.parse(["crop:1", "flip", "mixup:0.2"])
        >>> x, y = augment(torch.zeros(4, 1, 8, 8), torch.tensor([0, 1, 2, 0]), 3, torch.Generator().manual_seed(0))
        >>> x.shape, y.shape, augment.mixes
        (torch.Size([4, 1, 8, 8]), torch.Size([4, 3]), True)
    """

    steps: tuple[Augmentation, ...] = ()
    kind: Kind = "images"

    def __post_init__(self) -> None:
        """Check that the steps go together and with the kind of data."""
        _checks.choice("Augment", "kind", self.kind, KINDS)
        for step in self.steps:
            _check_kind(step, self.kind)
        for step, following in pairwise(self.steps):
            if step.mixes:
                got = f"{following.name!r} after {step.name!r}"
                remedy = f"Put {step.name!r} at the end, and mix only once."
                raise _checks.fail("Augment", "specs", "a list in which only the last one mixes labels", got, remedy)

    @classmethod
    def parse(cls, specs: Sequence[str], kind: Kind = "images") -> "Augment":
        """Read a list of texts, each as ``augmentation`` reads it.

        Args:
            specs: for example ``["crop", "flip", "cutmix:1.0"]``.
            kind: of the data.

        Example:
            >>> Augment.parse(["mixup:0.20"], "table").specs
            ('mixup',)
        """
        if isinstance(specs, str) or not isinstance(specs, Sequence):
            remedy = "Write ['crop', 'flip'], not one text."
            raise _checks.fail_type("Augment", "specs", "a list of texts", repr(specs), remedy)
        return cls(tuple(augmentation(spec) for spec in specs), kind)

    @property
    def specs(self) -> tuple[str, ...]:
        """The shortest texts with this meaning, for the key of a run."""
        return tuple(step.spec for step in self.steps)

    def __bool__(self) -> bool:
        """Return whether there is anything to do."""
        return bool(self.steps)

    @property
    def mixes(self) -> bool:
        """Whether labels come back as probabilities, which a few methods cannot use."""
        return any(step.mixes for step in self.steps)

    def __call__(self, x: Tensor, y: Tensor, classes: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return the augmented batch and its labels, ``(N, K)`` probabilities where they were mixed."""
        for step in self.steps:
            x, y = step(x, y, classes, generator)
        return x, y


def _check_kind(step: Augmentation, kind: str) -> None:
    if kind == "images" or (step.name == "mixup" and kind not in TOKENS):
        return
    allowed = "empty: token ids cannot be blended" if kind in TOKENS else "['mixup'] or empty"
    remedy = f"Leave out {step.name!r}."
    raise _checks.fail("Augment", "specs", f"{allowed} for data of kind {kind!r}", repr(step.spec), remedy)

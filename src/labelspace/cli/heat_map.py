"""A label space as shades, one square per pair of classes: small enough for a terminal."""

import torch
from torch import Tensor

from labelspace.space import LabelSpace

SHADES = "·░▒▓█"
MEANING = {"relations": "more mass", "vectors": "more alike", "cost": "dearer"}
LONGEST_NAME = 24


def heat_map(space: LabelSpace) -> list[str]:
    r"""Return one line per class, rows and columns in the order of the classes; columns have their numbers.

    Example:
        >>> from labelspace import groups
        >>> print("\n".join(heat_map(groups([["cat", "dog"], ["car", "bus"]]))))
               0 1 2 3
        0 cat    ██· ·
        1 dog  ██  · ·
        2 car  · ·   ██
        3 bus  · · ██
        darker: more mass
    """
    values = _values(space)
    numbers = [str(index) for index in range(len(space))]
    labels = [_label(number, name, len(numbers[-1])) for number, name in zip(numbers, space.names, strict=True)]
    width = max(len(label) for label in labels)
    lines = [" " * width + "  " + "".join(f"{number:<2}" for number in numbers)]
    for row, label in enumerate(labels):
        cells = ["  " if row == column else _cell(float(values[row, column])) for column in range(len(space))]
        lines.append(f"{label:<{width}}  {''.join(cells)}")
    return [line.rstrip() for line in [*lines, f"darker: {MEANING[space.kind]}"]]


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    r"""Return a name in one short line.

    Example:
        >>> shortened("a rather long name\nof a class", 12)
        'a rather lo…'
    """
    line = " ".join(name.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _label(number: str, name: str, width: int) -> str:
    # digits are their own numbers
    return number.rjust(width) if number == name else f"{number:>{width}} {shortened(name)}"


def _values(space: LabelSpace) -> Tensor:
    """Return what is shown, from 0 to 1 over the pairs of different classes: entries, or how near vectors are."""
    table = space.matrix.double()
    if space.metric is not None:
        between = space.distances().double()
        table = -between if space.metric == "euclidean" else 1 - between
    others = table[~torch.eye(len(table), dtype=torch.bool)]
    if not len(others):
        return table
    low, high = float(others.min()), float(others.max())
    # what is never far from equal is shown by its differences
    low = low if low < 0 or low > high / 4 else 0.0
    return ((table - low) / (high - low)).clamp(0, 1) if high > low else torch.ones_like(table)


def _cell(value: float) -> str:
    # the faintest shade is for next to nothing; the others share the rest
    shade = 0 if value < 0.02 else min(1 + int(value * 4), 4)
    return "· " if shade == 0 else SHADES[shade] * 2

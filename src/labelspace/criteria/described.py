"""A criterion in one line: its classes and its options."""

from collections.abc import Sequence
from typing import Any

from labelspace import _checks

SHOWN = 3  # names of classes


def described(criterion: Any) -> str:
    """Return classes, the options that were given and the strength, as ``repr`` shows them.

    Args:
        criterion: of any method.
    """
    names, strength = criterion.names, criterion.tuned
    options = dict(criterion.given)
    if strength is not None:
        options.setdefault(strength.option, criterion.float_options.get(strength.option))
    parts = [f"{len(names)} classes" if _numbered(names) else f"{len(names)} classes {_checks.listed(names, SHOWN)}"]
    parts += [f"{name}={value!r}" for name, value in options.items() if value is not None]
    if criterion.weight is not None:
        parts.append("weight=…")
    if not criterion.argmax_predicts:
        parts.append("predicts by the nearest label")
    return ", ".join(parts)


def _numbered(names: Sequence[str]) -> bool:
    return tuple(names) == tuple(map(str, range(len(names))))

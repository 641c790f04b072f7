"""What people say of parts of a dataset: ``first 5000`` samples, ``50%`` of them, some classes by name."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral

from labelspace import _checks
from labelspace._cells import names_in
from labelspace.data.files import OWNER

NONE = "none"
END = re.compile(r"(first|last)\s+(\d+|\d+(?:\.\d+)?\s*%)")
SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")
HELD = "a share in (0, 1), 'first 5000', 'last 10%' (of the training samples), or 'none'"


@dataclass(frozen=True)
class End:
    """So many at one end, or such a share of them.

    Example:
        >>> End.read("first 10%").places(50), End.read("last 2").places(50)
        (range(0, 5), range(48, 50))
    """

    first: bool
    count: int | None
    share: float | None = None

    @classmethod
    def read(cls, text: str) -> "End | None":
        """Return what ``first 5000`` or ``last 10%`` says, None for any other text."""
        found = END.fullmatch(text.strip().lower())
        if found is None:
            return None
        if found[2].endswith("%"):
            return cls(found[1] == "first", None, float(found[2][:-1]) / 100)
        return cls(found[1] == "first", int(found[2]))

    def __str__(self) -> str:
        """Return it as it is written."""
        amount = f"{self.count}" if self.share is None else f"{100 * self.share:g}%"
        return f"{'first' if self.first else 'last'} {amount}"

    def places(self, total: int) -> range:
        """Return the places that it means among ``total``."""
        count = round((self.share or 0) * total) if self.count is None else self.count
        return range(min(count, total)) if self.first else range(max(total - count, 0), total)


def validation(value: object) -> float | End | str | None:
    """Return how the validation part is chosen: a share, an end, ``"none"``, or None where nobody said.

    Example:
        >>> validation("0.1"), validation("None"), validation(None)
        (0.1, 'none', None)
    """
    if value is None:
        return None
    text = str(value).strip().lower()
    if text == NONE:
        return NONE
    end = End.read(text)
    if end is not None:
        return end
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 < share < 1:
        raise _checks.fail(OWNER, "validation", HELD, repr(value))
    return share


def plain(options: Mapping[str, object], names: Sequence[str] | None = None) -> dict[str, object]:
    """Return options of data as they are written down, in one way, so that equal runs have equal keys.

    Args:
        options: of ``labelspace.data.load``.
        names: the classes that came out, if that is known.

    Example:
        >>> plain({"validation": "First  5000", "classes": "cat, dog", "label": "kind"})
        {'validation': 'first 5000', 'classes': ['cat', 'dog'], 'label': 'kind'}
    """
    found = dict(options)
    if found.get("validation") is not None:
        held = validation(found["validation"])
        found["validation"] = str(held) if isinstance(held, End) else held
    if found.get("classes") is not None:
        given = found["classes"]
        typed = names_in(OWNER, "classes", given) if isinstance(given, str) and End.read(given) is None else given
        found["classes"] = typed if names is None else list(names)
    return found


def classes(value: object, names: Sequence[str]) -> tuple[str, ...]:
    """Return the classes that are meant, in the order given.

    Args:
        value: names; or one text: ``cat,dog`` (quotation marks keep a comma), ``first 5``, ``last 50%``.
        names: all classes.

    Example:
        >>> classes("dog, cat", ["cat", "dog", "eel"]), classes("first 2", ["cat", "dog", "eel"])
        (('dog', 'cat'), ('cat', 'dog'))
    """
    wanted = _listed(value, names)
    _checks.known_names(OWNER, "classes", wanted, names)
    twice = next((name for name in wanted if wanted.count(name) > 1), None) if len(set(wanted)) < len(wanted) else None
    if twice is not None:
        raise _checks.fail(OWNER, "classes", "different classes", f"{twice!r} more than once", "Name it once.")
    if len(wanted) < 2:
        got = f"only {wanted[0]!r}" if wanted else "none"
        raise _checks.fail(OWNER, "classes", "at least two classes", got, "There is nothing to tell apart.")
    return tuple(wanted)


def cap(value: object) -> int | str | None:
    """Return a cap on samples as it is written down: a number, or a share such as ``50%``.

    Example:
        >>> cap("300"), cap("50 %")
        (300, '50%')
    """
    if value is None:
        return None
    if isinstance(value, str):
        share = SHARE.fullmatch(value.strip())
        if share is not None and 0 < float(share[1]) <= 100:
            return f"{share[1]}%"
        value = int(value) if value.strip().isdecimal() else 0
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError("a whole number of at least 1, or a share such as '50%'")
    return int(value)


def count(value: int | str, total: int) -> int | str | None:
    """Return how many of ``total`` a share such as ``50%`` is; numbers come back as they are.

    Example:
        >>> count("50%", 801), count(300, 801)
        (400, 300)
    """
    if not isinstance(value, str):
        return value
    try:
        found = cap(value)
    except ValueError as error:
        raise _checks.fail("Dataset.limit", "count", str(error), repr(value)) from error
    return round(float(found[:-1]) / 100 * total) if isinstance(found, str) else found


def _listed(value: object, names: Sequence[str]) -> list[str]:
    if isinstance(value, str):
        end = None if value in names else End.read(value)
        if end is not None:
            return [names[place] for place in end.places(len(names))]
        return names_in(OWNER, "classes", value)
    if not isinstance(value, Sequence):
        raise _checks.fail_type(OWNER, "classes", "a list of names", repr(value))
    # numbers are the names of digits
    return [str(name) for name in value]

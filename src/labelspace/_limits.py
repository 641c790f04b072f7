"""How much one input may fill: caps that keep a file from filling the memory, and the one variable that sets them."""

import os
import re
from pathlib import Path

from labelspace import _checks

VARIABLE = "LABELSPACE_MAX_UNPACKED"
TABLE = 4 << 30
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
REMEDY = f"If you trust it, raise the cap, for example with {VARIABLE}=16G in front of the command."


def cap(usual: int) -> int:
    """Return how many bytes (of a text, characters) may be filled: the variable's number where it is set.

    Args:
        usual: what holds where nobody said anything.

    Example:
        >>> cap(4096)
        4096
    """
    said = chosen()
    return usual if said is None else said


def chosen() -> int | None:
    """Return the number in ``$LABELSPACE_MAX_UNPACKED``: bytes, or with a letter such as ``500M`` or ``16G``."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return None
    found = re.fullmatch(r"([0-9]{1,15})\s*([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    if found is None or int(found[1]) == 0:
        raise _checks.fail("labelspace", VARIABLE, "a number of bytes such as 500M or 16G", repr(text))
    return int(found[1]) * UNITS[found[2].upper()]


def check_regular(owner: str, argument: str, path: Path) -> None:
    """Refuse devices and pipes: they have no end, or wait for one. What is not there is left to whoever opens it."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a device or a pipe"
        raise _checks.fail(owner, argument, "a file", f"{path}, which is {kind}")


def check_table(owner: str, argument: str, classes: int) -> None:
    """Refuse so many classes that a number for every two of them takes more than 4 GiB, or what the variable says."""
    if 8 * classes**2 > cap(TABLE):
        got = f"{classes:,}, for which that takes {8 * classes**2 / 2**30:,.0f} GiB"
        raise _checks.fail(owner, argument, "so few classes that a number for every two of them fits", got, REMEDY)

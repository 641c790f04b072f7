"""The same content, or the same group, on both sides of a split."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labelspace.data.dataset import Split


def between(parts: Mapping[str, Split]) -> dict[str, dict[str, int]]:
    """Return how many rows and groups of a held-out part are in an earlier part too; empty if none.

    The validation part is compared with training, the test part with both: a choice made on test samples is a leak
    as well.

    Args:
        parts: the parts by name, in the order train, validation, test.

    Example:
        >>> from labelspace import data
        >>> between(data.load("digits").parts)
        {}
    """
    leaks: dict[str, dict[str, int]] = {}
    earlier: list[Split] = []
    for name, part in parts.items():
        counts = {"rows": _shared_rows(earlier, part), "groups": _shared_groups(earlier, part)}
        found = {what: count for what, count in counts.items() if count}
        if found:
            leaks[name] = {**found, "of": len(part)}
        earlier.append(part)
    return leaks


def repeated(part: Split) -> int:
    """Return how many rows of a part repeat an earlier row of it."""
    return 0 if part.digests is None else len(part.digests) - len(np.unique(part.digests))


def sentences(leaks: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return one sentence per leak, with its counts."""
    said = []
    for name, counts in leaks.items():
        others = "a training sample" if name == "validation" else "a training or validation sample"
        if counts.get("rows"):
            said.append(
                f"{counts['rows']} of the {counts['of']} {name} samples have the same content as {others}: "
                f"results on the {name} part will look better than they are."
            )
        if counts.get("groups"):
            said.append(f"{counts['groups']} groups of the {name} part are in an earlier part too.")
    return said


def _shared_rows(earlier: Sequence[Split], part: Split) -> int:
    known = [other.digests for other in earlier if other.digests is not None]
    return int(np.isin(part.digests, np.concatenate(known)).sum()) if known and part.digests is not None else 0


def _shared_groups(earlier: Sequence[Split], part: Split) -> int:
    known = [other.groups.numpy() for other in earlier if other.groups is not None]
    return len(np.intersect1d(part.groups.numpy(), np.concatenate(known))) if known and part.groups is not None else 0

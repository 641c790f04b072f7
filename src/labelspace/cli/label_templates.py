"""Files to fill in: prices of mistakes, and a taxonomy, for the classes of some data."""

import csv
import io
from collections.abc import Sequence


def cost_template(names: Sequence[str], long: bool = False) -> str:
    r"""Return a table in which every mistake costs 1.

    Args:
        names: the classes.
        long: one line for all mistakes, to which others are added, instead of a matrix.

    Example:
        >>> print(cost_template(["well", "ill"]), end="")
        true\predicted,well,ill
        well,0,1
        ill,1,0
    """
    rows: list[list[object]] = [["true", "predicted", "cost"], ["*", "*", 1]]
    if not long:
        rows = [["true\\predicted", *names], *([true, *(int(true != other) for other in names)] for true in names)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def space_template(names: Sequence[str]) -> str:
    """Return lines in which every class is in the same group.

    Example:
        >>> print(space_template(["cat", "dog"]), end="")
        # Replace GROUP by the group of each class; groups may lie in groups: Apparel > Shoes > Boots
        GROUP > cat
        GROUP > dog
    """
    about = "# Replace GROUP by the group of each class; groups may lie in groups: Apparel > Shoes > Boots"
    return "\n".join([about, *(f"GROUP > {name}" for name in names), ""])

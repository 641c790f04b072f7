"""Files to fill in: prices of mistakes, and a taxonomy, for the classes of some data."""

import csv
import io
from collections.abc import Sequence

from labelspace._cells import guarded


def cost_template(names: Sequence[str], long: bool = False) -> str:
    r"""Return a table in which every mistake costs 1; in a spreadsheet too, a class called =1+1 stays what it is.

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
        heads = [guarded(name) for name in names]
        prices = ([head, *(int(place != other) for other in range(len(heads)))] for place, head in enumerate(heads))
        rows = [["true\\predicted", *heads], *prices]
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
